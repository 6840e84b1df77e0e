"""Running sums and products, which are dense by nature."""

from __future__ import annotations

from typing import Any

from spformats.array_api.data_types import native
from spformats.array_api.densify import densified
from spformats.array_api.namespaces import Array, storage
from spformats.formats.device import at_home


@at_home
def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Running sums along an axis: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int
    dtype : dtype, optional
    include_initial : bool
        Begin with a 0.

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.cumulative_sum(sf.eye(2), axis=1)
    array([[1., 1.],
           [0., 1.]])
    """
    xp = storage(x)
    dense = densified(x, "cumulative_sum", "every running sum after the first entry of a row is not 0")
    return xp.cumulative_sum(dense, axis=axis, dtype=native(dtype, xp), include_initial=include_initial)


@at_home
def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Running products along an axis: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int
    dtype : dtype, optional
    include_initial : bool
        Begin with a 1.

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.cumulative_prod(sf.eye(2), axis=1)
    array([[1., 0.],
           [0., 0.]])
    """
    xp = storage(x)
    dense = densified(x, "cumulative_prod", "the running products before the first zero of a row are not 0")
    return xp.cumulative_prod(dense, axis=axis, dtype=native(dtype, xp), include_initial=include_initial)
