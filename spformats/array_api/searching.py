"""Find entries: ``where``, ``nonzero``, ``argmax``, ``argmin``, ``count_nonzero``, ``searchsorted``."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.array_api.densify import densified, permit
from spformats.array_api.joining import axis_of, broadcast_to
from spformats.array_api.namespaces import Array, is_dense, is_sparse, sparse, storage, structural
from spformats.array_api.patterns import combine
from spformats.array_api.segments import reduce_rows
from spformats.array_api.statistical import by_rows, reduced_axes, shaped, stored_values
from spformats.formats import CSR, _arrays
from spformats.formats.device import at_home


@at_home
def count_nonzero(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Number of elements that are not 0.

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
    >>> sf.count_nonzero(A, axis=0)
    array([2, 3, 2])
    """
    if not is_sparse(x):
        return storage(x).count_nonzero(x, axis=axis, keepdims=keepdims)
    axes = reduced_axes(axis)
    if axes == ():
        return x.astype(storage(x).bool).astype(storage(x).int64)
    return shaped(x, _counted(x, axes), axes, keepdims)


@structural
def _counted(x: Any, axes: tuple[int, ...]) -> Any:
    xp = x._library
    if axes == (0, 1):
        return xp.asarray(xp.count_nonzero(stored_values(x)), dtype=np.int64)
    csr = x.to_csr()
    full = csr.data != 0
    places = csr.indices[full] if axes == (0,) else _arrays.rows_of(csr.indptr)[full]
    return xp.bincount(places, minlength=x.shape[1 - axes[0]]).astype(np.int64)


@structural
def _coordinates(x: Any) -> tuple[Any, Any]:
    csr = x.to_csr()
    full = csr.data != 0
    return _arrays.rows_of(csr.indptr)[full], csr.indices[full].astype(np.int64)


@at_home
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Rows and columns of the elements that are not 0, row after row.

    Parameters
    ----------
    x : array, shape (n, m)

    Returns
    -------
    (rows, columns) : integer arrays

    Examples
    --------
    >>> import spformats as sf
    >>> sf.nonzero(sf.eye(2, k=1))
    (array([0]), array([1]))
    """
    return _coordinates(x) if is_sparse(x) else storage(x).nonzero(x)


@at_home
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Place of the (first) largest element, the zeros that are not stored included.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int, optional
        Where left out, the place counts row after row.
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
    >>> sf.argmax(A, axis=1)
    array([0, 1, 2])
    """
    if not is_sparse(x):
        return storage(x).argmax(x, axis=axis, keepdims=keepdims)
    return _place(x, axis, keepdims, "max")


@at_home
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Place of the (first) smallest element, the zeros that are not stored included.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int, optional
        Where left out, the place counts row after row.
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
    >>> sf.argmin(A, axis=1)
    array([1, 0, 1])
    """
    if not is_sparse(x):
        return storage(x).argmin(x, axis=axis, keepdims=keepdims)
    return _place(x, axis, keepdims, "min")


def _place(x: Any, axis: int | None, keepdims: bool, operation: str) -> Any:
    axes = (0, 1) if axis is None else (axis_of(axis),)
    if not (x.size if axis is None else x.shape[axes[0]]):
        raise ValueError(f"arg{operation} over no entries of an array of shape {x.shape}")
    return shaped(x, _first_extreme(x, axes, operation), axes, keepdims)


@structural
def _first_extreme(x: Any, axes: tuple[int, ...], operation: str) -> Any:
    xp = x._library
    if axes == (0, 1):
        csr = x.to_csr()
        numbers = _arrays.rows_of(csr.indptr) * max(x.shape[1], 1) + csr.indices
        pointers = xp.asarray([0, csr._stored], dtype=np.int64)
        row = CSR._build({"data": csr.data, "indices": numbers, "indptr": pointers}, (1, x.size))
        return _first_in_rows(row, operation)[0]
    return _first_in_rows(by_rows(x, axes), operation)


def _first_in_rows(csr: CSR, operation: str) -> Any:
    """Column of the first extreme element of every row."""
    xp, m = csr._library, csr.shape[1]
    rows = _arrays.rows_of(csr.indptr)
    columns = csr.indices.astype(np.int64)
    lengths = csr.indptr[1:] - csr.indptr[:-1]
    best = reduce_rows(csr, operation, csr.data, 0)
    missing = lengths < m
    zero = xp.zeros((), dtype=csr.dtype)
    best = xp.where(missing, (xp.maximum if operation == "max" else xp.minimum)(best, zero), best)
    of_entry = best[rows]
    is_best = (csr.data == of_entry) | ((csr.data != csr.data) & (of_entry != of_entry))
    # an entry that is not the extreme, and a row that has no gap, point behind the last column
    stored = reduce_rows(csr, "min", xp.where(is_best, columns, m), m)
    place = _arrays.position_in_row(csr.indptr, rows)
    gap = reduce_rows(csr, "min", xp.where(columns != place, place, m), m)
    gap = xp.where(missing, xp.minimum(gap, lengths), m)  # without an earlier gap, the columns behind the stored ones
    gap = xp.where(best == 0, gap, m)
    return xp.minimum(stored, gap)


@at_home
def searchsorted(x1: Array, x2: Array, /, *, side: str = "left", sorter: Any = None) -> Array:
    """Where elements of x2 belong in the sorted vector x1; a sparse x2 is treated as `densify` allows.

    Parameters
    ----------
    x1 : array, one dimension, sorted
    x2 : array
    side : {"left", "right"}
    sorter : integer array, optional
        What sorts x1.

    Returns
    -------
    array
        Dense, of the library that holds the values.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.searchsorted(sf.arange(4), sf.arange(2))
    array([0, 1])
    """
    if is_sparse(x1):
        raise ValueError(f"searchsorted needs a sorted vector x1, got a sparse array of shape {x1.shape}")
    x2 = densified(x2, "searchsorted", "zeros have a place in x1 too")
    return storage(x1).searchsorted(x1, x2, side=side, sorter=sorter)


@at_home
def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """Elements of x1 where the condition holds, else of x2.

    Sparse over the union of the patterns where x2 is sparse or 0 (or the condition is dense and what it picks is 0
    where nothing is stored); dense, as `densify` allows, where x2 is not 0.

    Parameters
    ----------
    condition : array
    x1, x2 : arrays or scalars

    Returns
    -------
    array

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.where(A > 0, A, 0).todense()
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    condition, x1, x2 = map(sparse, (condition, x1, x2))
    operands = (condition, x1, x2)
    for x in operands:
        if not (is_sparse(x) or is_dense(x) or isinstance(x, int | float | complex)):
            raise TypeError(f"where takes arrays and numbers, got {type(x).__name__}")
    if not any(map(is_sparse, operands)):
        return storage(*operands).where(condition, x1, x2)
    xp = storage(*(x for x in operands if is_sparse(x)))
    dtype = _chosen_dtype(xp, x1, x2)
    shape = np.broadcast_shapes(*(tuple(getattr(x, "shape", ())) for x in operands))
    if is_sparse(condition) and (is_sparse(x2) or _is_zero(x2)) and not _has_axes(x1):
        return _sparse_where(xp, condition, x1, x2, shape, dtype)
    if not any(_has_axes(x) and tuple(x.shape) == shape for x in operands):  # else one of that size is there already
        permit("where", "x2 is not 0 where the condition is", shape, dtype)
    dense = [x.todense() if is_sparse(x) else x for x in operands]
    return xp.where(*dense)


def _is_zero(x: Any) -> bool:
    return getattr(x, "ndim", 0) == 0 and not is_sparse(x) and bool(x == 0)


def _has_axes(x: Any) -> bool:
    """Whether this is a dense array that is no scalar."""
    return is_dense(x) and x.ndim > 0


def _chosen_dtype(xp: Any, x1: Any, x2: Any) -> Any:
    def dtype_or_scalar(x: Any) -> Any:
        return x.dtype if hasattr(x, "dtype") else x

    return xp.result_type(dtype_or_scalar(x1), dtype_or_scalar(x2))


def _sparse_where(xp: Any, condition: Any, x1: Any, x2: Any, shape: tuple[int, int], dtype: Any) -> Any:
    """The choice over the union of the patterns; scalars are taken where the condition is stored."""
    arrays = [broadcast_to(x, shape) for x in (condition, x1, x2) if is_sparse(x)]

    def choose(test: Any, *values: Any) -> Any:
        given = iter(values)
        first = next(given) if is_sparse(x1) else xp.asarray(x1, dtype=dtype)
        second = next(given) if is_sparse(x2) else xp.asarray(0, dtype=dtype)
        return xp.where(xp.astype(test, xp.bool), xp.astype(first, dtype), xp.astype(second, dtype))

    return combine(choose, arrays)
