"""``all``, ``any``, ``diff``."""

from __future__ import annotations

import builtins
import math
from typing import Any

from spformats.array_api import elementwise_binary
from spformats.array_api.joining import axis_of, concat
from spformats.array_api.namespaces import Array, is_sparse, storage
from spformats.array_api.searching import count_nonzero
from spformats.array_api.statistical import reduced_axes
from spformats.formats.device import at_home


@at_home
def any(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether any element is not 0 (NaN is not).

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        All axes where left out.
    keepdims : bool
        Keep the reduced axes at length 1.

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.any(A)
    np.True_
    """
    if not is_sparse(x):
        return storage(x).any(x, axis=axis, keepdims=keepdims)
    if reduced_axes(axis) == ():
        return x.astype(storage(x).bool)
    return count_nonzero(x, axis=axis, keepdims=keepdims) > 0


@at_home
def all(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether every element is not 0; an entry that is not stored is.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        All axes where left out.
    keepdims : bool
        Keep the reduced axes at length 1.

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.all(A, axis=0)
    array([False,  True, False])
    """
    if not is_sparse(x):
        return storage(x).all(x, axis=axis, keepdims=keepdims)
    axes = reduced_axes(axis)
    if axes == ():
        return x.astype(storage(x).bool)
    return count_nonzero(x, axis=axis, keepdims=keepdims) == math.prod(x.shape[a] for a in axes)


@at_home
def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours along an axis, ``n`` times; a sparse array stays sparse.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int
    n : int
        How many times.
    prepend, append : sparse arrays, optional
        Joined to x at its ends first.

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.diff(A).todense()
    array([[-3.,  1.],
           [ 3., -3.],
           [-1.,  3.]])
    """
    if not is_sparse(x):
        return storage(x).diff(x, axis=axis, n=n, prepend=prepend, append=append)
    number = axis_of(axis)
    if n < 0:
        raise ValueError(f"n must be at least 0, got {n}")
    pieces = [p for p in (prepend, x, append) if p is not None]
    if not builtins.all(is_sparse(p) for p in pieces):
        raise TypeError("prepend and append of a sparse array must be sparse arrays; see spformats.asarray")
    if len(pieces) > 1:
        x = concat(pieces, axis=number)
    boolean = x.dtype == storage(x).bool
    for _ in range(n):
        later = x[1:, :] if number == 0 else x[:, 1:]
        earlier = x[:-1, :] if number == 0 else x[:, :-1]
        x = elementwise_binary.apply("not_equal" if boolean else "subtract", later, earlier)
    return x
