"""Mean, variance and standard deviation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spformats.array_api.densify import permit
from spformats.array_api.elementwise_unary import over_stored
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.array_api.segments import reduce_rows
from spformats.array_api.statistical import by_rows, reduced_axes, shaped, sum
from spformats.formats import _arrays
from spformats.formats.device import at_home


@at_home
def mean(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Mean over axes, the zeros that are not stored included.

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
    >>> sf.mean(A, axis=0)
    array([0.33333333, 0.        , 0.33333333])
    """
    if not is_sparse(x):
        return storage(x).mean(x, axis=axis, keepdims=keepdims)
    axes = reduced_axes(axis)
    if not storage(x).isdtype(x.dtype, ("real floating", "complex floating")):
        x = x.astype(storage(x).float64)
    if axes == ():
        return x
    count = math.prod(x.shape[a] for a in axes)
    total = sum(x, axis=axes, keepdims=keepdims)
    return _divided(total, count)


def _divided(total: Any, count: float) -> Any:
    """``total / count``; NaN where there was nothing to count, as in NumPy but without its warning."""
    if count == 0:
        return total * math.nan
    return total / count


@at_home
def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variance over axes, the zeros that are not stored included; the divisor is the number of entries less
    ``correction``.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        All axes where left out.
    correction : float
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
    >>> sf.var(A, axis=0)
    array([1.55555556, 2.        , 1.55555556])
    """
    if not is_sparse(x):
        return storage(x).var(x, axis=axis, correction=correction, keepdims=keepdims)
    axes = reduced_axes(axis)
    if not storage(x).isdtype(x.dtype, ("real floating", "complex floating")):
        x = x.astype(storage(x).float64)
    if axes == ():
        return _of_single_elements(x, correction)
    count = math.prod(x.shape[a] for a in axes)
    divisor = max(count - correction, 0)
    squares = _squared_deviations(x, axes, _divided(sum(x, axis=axes), count))
    if count and not divisor:
        return shaped(x, _infinite(squares), axes, keepdims)
    return shaped(x, _divided(squares, divisor), axes, keepdims)


def _of_single_elements(x: Any, correction: float) -> Any:
    """The variance of each element by itself: 0 (NaN for an infinity or NaN) while a degree of freedom is left."""
    xp = storage(x)
    squares = over_stored(x, lambda values: xp.abs(values * 0))
    if correction < 1:
        return squares
    permit(f"var with axis=() and correction {correction}", "0 / 0 is NaN", x.shape, squares.dtype)
    return xp.full(x.shape, math.nan, dtype=squares.dtype, device=x.device)


def _infinite(squares: Any) -> Any:
    """What a division by zero degrees of freedom gives: inf, and NaN where there was no deviation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return squares / (squares * 0)


@structural
def _squared_deviations(x: Any, axes: tuple[int, ...], average: Any) -> Any:
    """Sum of |x - average|²: stored entries one by one, the others all at once."""
    xp = x._library
    if axes == (0, 1):
        values = x.to_csr().data
        deviation = xp.abs(values - average)
        missing = x.size - values.shape[0]
        return xp.sum(deviation * deviation) + (missing * xp.abs(average) ** 2 if missing else 0)
    csr = by_rows(x, axes)
    deviation = xp.abs(csr.data - average[_arrays.rows_of(csr.indptr)])
    missing = csr.shape[1] - (csr.indptr[1:] - csr.indptr[:-1])
    rest = xp.where(missing > 0, missing * xp.abs(average) ** 2, 0).astype(deviation.dtype)
    return reduce_rows(csr, "sum", deviation * deviation, 0) + rest


@at_home
def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviation over axes: the square root of `var`.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        All axes where left out.
    correction : float
        Taken from the number of entries in the divisor.
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
    >>> sf.std(sf.eye(2))
    np.float64(0.5)
    """
    if not is_sparse(x):
        return storage(x).std(x, axis=axis, correction=correction, keepdims=keepdims)
    variance = var(x, axis=axis, correction=correction, keepdims=keepdims)
    if is_sparse(variance):
        return variance
    return storage(variance).sqrt(variance)
