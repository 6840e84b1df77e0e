"""Reductions: dense arrays of the storage namespace, worked out from the stored entries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spformats.array_api.data_types import native
from spformats.array_api.joining import axis_of
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.array_api.segments import reduce_rows
from spformats.formats import BSR, CDS, CSR, ELL, JAD, PJAD, SparseArray
from spformats.formats.device import at_home


def reduced_axes(axis: Any) -> tuple[int, ...]:
    """The axes a reduction goes over, in rising order."""
    if axis is None:
        return (0, 1)
    axes = tuple(axis_of(a) for a in (axis if isinstance(axis, tuple) else (axis,)))
    if len(set(axes)) != len(axes):
        raise ValueError(f"an axis is named twice in {axis}")
    return tuple(sorted(axes))


def shaped(A: SparseArray, result: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The result with the reduced axes kept at length 1 where asked."""
    if not keepdims:
        return result
    return storage(result).reshape(result, tuple(1 if a in axes else n for a, n in enumerate(A.shape)))


def stored_values(A: Any) -> Any:
    """An array that holds every nonzero of A exactly once, and zeros beside."""
    whole = isinstance(A, CSR | ELL | JAD | PJAD | BSR) or (isinstance(A, CDS) and not A.symmetric)
    return A.data if whole else A.to_csr().data


def by_rows(A: Any, axes: tuple[int, ...]) -> CSR:
    """CSR whose rows are what a reduction over one axis goes along."""
    csr = A.to_csr()
    return csr if axes == (1,) else csr._transposed(False)


def _summed_dtype(A: Any, dtype: Any) -> Any:
    xp = storage(A)
    if dtype is not None:
        return native(dtype, xp)
    if xp.isdtype(A.dtype, ("real floating", "complex floating")):
        return A.dtype
    return xp.uint64 if xp.isdtype(A.dtype, "unsigned integer") else xp.int64


@at_home
def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Sum over axes; along one axis it is a product with a vector of ones, in A's own format.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        All axes where left out.
    dtype : dtype, optional
        By default x's for floating values, 64 bits for integers.
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
    >>> sf.sum(A, axis=1)
    array([1., 0., 1.])
    """
    if not is_sparse(x):
        xp = storage(x)
        return xp.sum(x, axis=axis, dtype=native(dtype, xp), keepdims=keepdims)
    xp, axes = storage(x), reduced_axes(axis)
    wanted = _summed_dtype(x, dtype)
    if axes == ():
        return x if x.dtype == wanted else x.astype(wanted)
    if axes == (0, 1):
        return shaped(x, xp.sum(stored_values(x), dtype=wanted), axes, keepdims)
    A = x if x.dtype == wanted else x.astype(wanted)
    ones = xp.ones((A.shape[axes[0]],), dtype=wanted, device=_device(A))
    return shaped(x, A @ ones if axes == (1,) else A.T @ ones, axes, keepdims)


def _device(A: Any) -> Any:
    return A.device if A._namespace != "numpy" else None


def _extreme(x: Any, axis: Any, keepdims: bool, operation: str) -> Any:
    axes = reduced_axes(axis)
    if axes == ():
        return x
    length = math.prod(x.shape[a] for a in axes)
    if not length:
        raise ValueError(f"{operation} over {length} entries of an array of shape {x.shape}: there is none")
    return shaped(x, _extreme_of(x, axes, operation), axes, keepdims)


@structural
def _extreme_of(x: Any, axes: tuple[int, ...], operation: str) -> Any:
    xp = x._library
    pick = xp.maximum if operation == "max" else xp.minimum
    if axes == (0, 1):
        # an array with an entry in every place may still have padding, which must not be read as a zero
        values = x.to_csr().data if x._stored >= x.size else stored_values(x)
        zero = xp.zeros((), dtype=x.dtype)
        if not values.size:
            return zero
        best = getattr(xp, operation)(values)
        return best if x._stored >= x.size and values.size == x.size else pick(best, zero)
    csr = by_rows(x, axes)
    # a row without entries gets 0, the value of its entries all the same
    best = reduce_rows(csr, operation, csr.data, 0)
    missing = csr.indptr[1:] - csr.indptr[:-1] < csr.shape[1]
    return xp.where(missing, pick(best, xp.zeros((), dtype=x.dtype)), best)


@at_home
def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Largest element over axes, the zeros that are not stored included; NaN where there is one.

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
    >>> sf.max(A)
    np.float64(2.0)
    """
    if not is_sparse(x):
        return storage(x).max(x, axis=axis, keepdims=keepdims)
    return _extreme(x, axis, keepdims, "max")


@at_home
def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Smallest element over axes, the zeros that are not stored included; NaN where there is one.

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
    >>> sf.min(A, axis=0)
    array([-1., -1., -1.])
    """
    if not is_sparse(x):
        return storage(x).min(x, axis=axis, keepdims=keepdims)
    return _extreme(x, axis, keepdims, "min")


@at_home
def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Product over axes: 0 where an entry is not stored, NaN where it meets an infinity or NaN.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        All axes where left out.
    dtype : dtype, optional
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
    >>> sf.prod(A)
    np.float64(0.0)
    """
    if not is_sparse(x):
        xp = storage(x)
        return xp.prod(x, axis=axis, dtype=native(dtype, xp), keepdims=keepdims)
    axes = reduced_axes(axis)
    wanted = _summed_dtype(x, dtype)
    A = x if x.dtype == wanted else x.astype(wanted)
    return A if axes == () else shaped(x, _product(A, axes), axes, keepdims)


@structural
def _product(A: Any, axes: tuple[int, ...]) -> Any:
    xp = A._library
    csr = A.to_csr()
    if axes == (0, 1):
        csr = CSR._made(csr.data, csr.indices, xp.asarray([0, csr._stored], dtype=np.int64), (1, A.size))
        return _row_products(csr, A.size)[0]
    csr = by_rows(A, axes)
    return _row_products(csr, csr.shape[1])


def _row_products(csr: CSR, length: int) -> Any:
    xp = csr._library
    product = reduce_rows(csr, "prod", csr.data, 1)
    missing = csr.indptr[1:] - csr.indptr[:-1] < length
    if csr.dtype.kind not in "fc":
        return xp.where(missing, xp.zeros((), dtype=csr.dtype), product)
    unbounded = reduce_rows(csr, "max", (~xp.isfinite(csr.data)).astype(np.int8), 0) > 0
    at_missing = xp.where(unbounded, xp.asarray(np.nan, dtype=csr.dtype), xp.zeros((), dtype=csr.dtype))
    return xp.where(missing, at_missing, product)
