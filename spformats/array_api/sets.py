"""Unique elements, the zeros that are not stored included."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spformats.array_api.densify import densified, permit
from spformats.array_api.elementwise_unary import over_stored
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.formats.device import at_home


class UniqueCounts(NamedTuple):
    """Elements, and how often each occurs."""

    values: Any
    counts: Any


@structural
def _counted(x: Any) -> tuple[Any, Any]:
    xp = x._library
    data = x.to_csr().data
    unstored = x.size - data.shape[0]
    values, counts = xp.unique(data, return_counts=True, equal_nan=False)
    if unstored:
        found = xp.flatnonzero(values == 0)
        if found.shape[0]:
            counts[found] += unstored
        else:
            at = int(xp.searchsorted(values, xp.zeros((), dtype=values.dtype)))
            values = xp.concatenate([values[:at], xp.zeros(1, dtype=values.dtype), values[at:]])
            counts = xp.concatenate([counts[:at], xp.asarray([unstored]), counts[at:]])
    return values, counts.astype(np.int64)


@at_home
def unique_values(x: Array, /) -> Array:
    """The different elements, a dense vector; every NaN is different.

    Parameters
    ----------
    x : array, shape (n, m)

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.unique_values(A)
    array([-1.,  0.,  2.])
    """
    return _counted(x)[0] if is_sparse(x) else storage(x).unique_values(x)


@at_home
def unique_counts(x: Array, /) -> Any:
    """The different elements and how often each occurs.

    Parameters
    ----------
    x : array, shape (n, m)

    Returns
    -------
    UniqueCounts
        ``values, counts``, dense vectors.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.unique_counts(A).counts
    array([4, 2, 3])
    """
    return UniqueCounts(*_counted(x)) if is_sparse(x) else storage(x).unique_counts(x)


@at_home
def unique_inverse(x: Array, /) -> Any:
    """The different elements, and for every element which it is: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)

    Returns
    -------
    named tuple
        ``values, inverse_indices``.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.unique_inverse(sf.eye(2)).inverse_indices
    array([[1, 0],
           [0, 1]])
    """
    return storage(x).unique_inverse(densified(x, "unique_inverse", "every element has a number"))


@at_home
def unique_all(x: Array, /) -> Any:
    """`unique_counts` and `unique_inverse` together: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)

    Returns
    -------
    named tuple
        ``values, indices, inverse_indices, counts``.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.unique_all(sf.eye(2)).counts
    array([2, 2])
    """
    return storage(x).unique_all(densified(x, "unique_all", "every element has a number"))


@at_home
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Whether each element of x1 is one of x2's; sparse where a zero is not among those asked for.

    Parameters
    ----------
    x1 : array
    x2 : array or scalar
    invert : bool

    Returns
    -------
    array
        Of bool.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> import numpy as np
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.isin(A, np.array([2.0])).todense()
    array([[ True, False, False],
           [False,  True, False],
           [False, False,  True]])
    """
    xp = storage(x1, x2)
    if is_sparse(x2):
        x2 = unique_values(x2)
    if not is_sparse(x1):
        return xp.isin(x1, x2, invert=invert)

    def test(values: Any) -> Any:
        return xp.isin(values, x2, invert=invert)

    if bool(test(xp.zeros((1,), dtype=x1.dtype))[0]):
        permit("isin of a sparse array", "0 is among the elements asked for", x1.shape, xp.bool)
        return test(x1.todense())
    return over_stored(x1, test)
