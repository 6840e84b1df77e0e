"""``clip``."""

from __future__ import annotations

from typing import Any

from spformats.array_api import elementwise_binary
from spformats.array_api.densify import permit
from spformats.array_api.elementwise_unary import over_stored
from spformats.array_api.namespaces import Array, is_sparse, storage
from spformats.formats.device import at_home


@at_home
def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Each element, or the nearest bound; the result has the data type of x.

    With scalar bounds around 0 a sparse array keeps its format and its pattern, with others the result is dense. Bounds
    that are arrays work as `maximum` and `minimum` do.

    Parameters
    ----------
    x : array
    min, max : scalars or arrays, optional

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If x is of bool.
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.clip(A, 0).todense()
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    if not (is_sparse(x) or is_sparse(min) or is_sparse(max)):
        return storage(x).clip(x, min, max)
    if x.dtype == storage(x).bool:
        raise TypeError("clip takes numbers, got an array of bool; see spformats.astype")
    if all(
        bound is None or isinstance(bound, int | float) or getattr(bound, "ndim", None) == 0 for bound in (min, max)
    ):
        xp = storage(x)
        if (min is None or min <= 0) and (max is None or max >= 0):
            return over_stored(x, lambda values: xp.clip(values, min, max))
        permit("clip of a sparse array", f"0 lies outside [{min}, {max}]", x.shape, x.dtype)
        return xp.clip(x.todense(), min, max)
    from spformats.array_api.data_types import astype

    dtype = x.dtype
    if min is not None:
        x = elementwise_binary.apply("maximum", x, min)
    if max is not None:
        x = elementwise_binary.apply("minimum", x, max)
    return x if x.dtype == dtype else astype(x, dtype)
