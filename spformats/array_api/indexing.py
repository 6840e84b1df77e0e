"""``A[…]``, ``take`` and ``take_along_axis``.

Two slices give a sparse array, an integer gives a dense row or column, two integers an element. Boolean indices are
refused.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from spformats.array_api.densify import densified
from spformats.array_api.joining import axis_of, taken
from spformats.array_api.namespaces import Array, is_dense, is_sparse, storage, structural
from spformats.array_api.patterns import entry_numbers
from spformats.formats import CDS, CSR, _arrays
from spformats.formats.device import at_home


@at_home
def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Rows (axis 0) or columns (axis 1) of these numbers, as CSR.

    Parameters
    ----------
    x : array, shape (n, m)
    indices : integer array, one dimension
    axis : int

    Returns
    -------
    array
        Sparse, CSR.

    Raises
    ------
    IndexError
        If an index is out of range.

    Examples
    --------
    >>> import spformats as sf
    >>> import numpy as np
    >>> sf.take(sf.eye(3), np.array([2, 0]), axis=0).todense()
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    if not is_sparse(x):
        return storage(x).take(x, indices, axis=axis)
    if axis is None:
        raise ValueError("take of a two-dimensional array needs an axis")
    number = axis_of(axis)
    return _taken(x, indices, number)


@structural
def _taken(x: Any, indices: Any, axis: int) -> CSR:
    return taken(x, _numbers(x._library, indices, x.shape[axis], axis), axis)


def _numbers(xp: Any, indices: Any, length: int, axis: int) -> Any:
    """Indices counted from the start, in range, as int64 in one dimension."""
    numbers = xp.asarray(indices)
    if numbers.ndim != 1:
        raise IndexError(f"indices along one axis must be 1-D, got shape {tuple(numbers.shape)}")
    return _wrapped(xp, numbers, length, axis)


def _wrapped(xp: Any, numbers: Any, length: int, axis: int) -> Any:
    if numbers.dtype.kind == "b":
        raise IndexError(
            "boolean indices are not supported; use A.multiply(mask), or integer indices from nonzero(mask)"
        )
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise IndexError(f"indices must be integers, got dtype {numbers.dtype}")
    numbers = numbers.astype(np.int64)
    outside = (numbers < -length) | (numbers >= length)
    if bool(outside.any()):
        first = int(numbers[outside][0])
        raise IndexError(f"index {first} is out of range for axis {axis} of length {length}")
    return xp.where(numbers < 0, numbers + length, numbers)


@at_home
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """An element for each index, along an axis: a dense array of the shape of ``indices``.

    Parameters
    ----------
    x : array, shape (n, m)
    indices : integer array, two dimensions
    axis : int

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Raises
    ------
    IndexError
        If an index is out of range.

    Examples
    --------
    >>> import spformats as sf
    >>> import numpy as np
    >>> sf.take_along_axis(sf.eye(3), np.array([[2, 0], [1, 1], [2, 2]]), axis=1)
    array([[0., 1.],
           [1., 1.],
           [1., 1.]])
    """
    if is_sparse(indices):
        indices = indices.todense()  # as large as the result, which is dense
    if not is_sparse(x):
        return storage(x).take_along_axis(x, indices, axis=axis)
    return _along(x, indices, axis_of(axis))


@structural
def _along(x: Any, indices: Any, axis: int) -> Any:
    xp = x._library
    if indices.ndim != 2 or indices.shape[1 - axis] not in (1, x.shape[1 - axis]):
        raise ValueError(
            f"indices of shape {tuple(indices.shape)} do not fit an array of shape {x.shape} along axis {axis}"
        )
    across = xp.arange(x.shape[1 - axis])
    along = _wrapped(xp, indices, x.shape[axis], axis)
    rows, cols = (across[:, None], along) if axis == 1 else (along, across[None, :])
    return elements(x, *xp.broadcast_arrays(rows, cols))


def elements(x: Any, rows: Any, cols: Any) -> Any:
    """The elements at these places (arrays of one shape), a dense array."""
    csr = x.to_csr()
    xp, numbers = csr._library, entry_numbers(csr)
    wanted = (rows * max(csr.shape[1], 1) + cols).reshape(-1)
    out = xp.zeros(wanted.shape[0], dtype=csr.dtype)
    if numbers.shape[0]:
        at = xp.minimum(xp.searchsorted(numbers, wanted), numbers.shape[0] - 1)
        out = xp.where(numbers[at] == wanted, csr.data[at], xp.zeros((), dtype=csr.dtype))
    return out.reshape(rows.shape)


# ---------------------------------------------------------------------- A[...]
@at_home
def getitem(A: Any, key: Any) -> Any:
    """``A[key]``; see the module."""
    rows, cols = _two_keys(key, A.shape)
    if isinstance(rows, int) and isinstance(cols, int):
        return _element(A, rows, cols)
    if isinstance(rows, int):
        return _line(A, rows, cols, 0)
    if isinstance(cols, int):
        return _line(A, cols, rows, 1)
    return _selected(A, rows, cols)


def _two_keys(key: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """An index for the rows and one for the columns: ints in range, slices or integer arrays."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have only one ellipsis (...)")
    if any(k is None for k in keys):
        raise IndexError("newaxis is not supported: a sparse array has exactly two dimensions")
    if dots:
        fill = [slice(None)] * (2 - (len(keys) - 1))
        keys[dots[0] : dots[0] + 1] = fill
    keys += [slice(None)] * (2 - len(keys))
    if len(keys) > 2:
        raise IndexError(f"too many indices: a sparse array has two dimensions, got {len(keys)} indices")
    return _key(keys[0], shape[0], 0), _key(keys[1], shape[1], 1)


def _key(key: Any, length: int, axis: int) -> Any:
    if isinstance(key, slice):
        return key
    if isinstance(key, bool | np.bool_) or "bool" in str(getattr(key, "dtype", "")):
        raise IndexError(
            "boolean indices are not supported; use A.multiply(mask), or the integer arrays of nonzero(mask)"
        )
    if is_sparse(key):
        return densified(key, "an index array", "what it selects is a dense array of its shape")
    if isinstance(key, list) or (is_dense(key) and key.ndim):
        return key
    try:
        number = operator.index(key)
    except TypeError:
        raise IndexError(f"an index must be an integer, a slice or an integer array, got {key!r}") from None
    if not -length <= number < length:
        raise IndexError(f"index {number} is out of range for axis {axis} of length {length}")
    return number % length


@structural
def _element(A: Any, row: int, col: int) -> Any:
    csr = A.to_csr()
    xp = csr._library
    lo, hi = int(csr.indptr[row]), int(csr.indptr[row + 1])
    at = lo + int(xp.searchsorted(csr.indices[lo:hi], xp.asarray(col, dtype=csr.indices.dtype)))
    if at < hi and int(csr.indices[at]) == col:
        return csr.data[at]
    return xp.zeros((), dtype=csr.dtype)[()]


@structural
def _line(A: Any, number: int, rest: Any, axis: int) -> Any:
    """A row (axis 0) or column as a dense vector, indexed by what the other axis got."""
    csr = A.to_csr() if axis == 0 else A.to_csr()._transposed(False)
    lo, hi = int(csr.indptr[number]), int(csr.indptr[number + 1])
    dense = csr._library.zeros(csr.shape[1], dtype=csr.dtype)
    dense[csr.indices[lo:hi]] = csr.data[lo:hi]
    if isinstance(rest, slice):
        return dense[rest]
    return dense[_wrapped(csr._library, csr._library.asarray(rest), csr.shape[1], 1 - axis)]


@structural
def _selected(A: Any, rows: Any, cols: Any) -> Any:
    xp = A._library
    if not isinstance(rows, slice) and not isinstance(cols, slice):
        rows, cols = xp.broadcast_arrays(
            _wrapped(xp, xp.asarray(rows), A.shape[0], 0), _wrapped(xp, xp.asarray(cols), A.shape[1], 1)
        )
        return elements(A, rows, cols)
    if isinstance(rows, slice) and isinstance(cols, slice):
        ranges = rows.indices(A.shape[0]), cols.indices(A.shape[1])
        if ranges == ((0, A.shape[0], 1), (0, A.shape[1], 1)):
            return A
        if isinstance(A, CDS) and ranges[0][2] == ranges[1][2] == 1:
            return _diagonal_window(A, ranges[0][:2], ranges[1][:2])
    for axis, key in enumerate((rows, cols)):
        if not isinstance(key, slice):
            A = taken(A, _numbers(xp, key, A.shape[axis], axis), axis)
        elif key.indices(A.shape[axis]) != (0, A.shape[axis], 1):
            A = _sliced(A, key.indices(A.shape[axis]), axis)
    return A


def _sliced(A: Any, bounds: tuple[int, int, int], axis: int) -> CSR:
    csr = A.to_csr()
    xp, (start, stop, step) = csr._library, bounds
    if axis == 0 and step == 1 and stop > start:
        lo, hi = int(csr.indptr[start]), int(csr.indptr[stop])
        return CSR._made(
            csr.data[lo:hi], csr.indices[lo:hi], csr.indptr[start : stop + 1] - lo, (stop - start, csr.shape[1])
        )
    if axis == 1 and step == 1:
        stop = max(start, stop)
        keep = (csr.indices >= start) & (csr.indices < stop)
        counts = xp.bincount(_arrays.rows_of(csr.indptr)[keep], minlength=csr.shape[0])
        return CSR._made(
            csr.data[keep], csr.indices[keep] - start, _arrays.pointers(counts), (csr.shape[0], stop - start)
        )
    return taken(csr, xp.arange(start, stop, step), axis)


def _diagonal_window(A: CDS, rows: tuple[int, int], cols: tuple[int, int]) -> CDS:
    """A block of consecutive rows and columns of a CDS array: its diagonals, shifted."""
    from spformats.formats.diagonal import diagonal_range

    xp = A._library
    n_new, m_new = max(rows[1] - rows[0], 0), max(cols[1] - cols[0], 0)
    flat, base, offsets = A._diagonals()
    shifted = offsets + (rows[0] - cols[0])
    inside = np.flatnonzero((shifted > -n_new) & (shifted < m_new))
    data = xp.zeros((inside.shape[0], n_new), dtype=A.dtype)
    for k, number in enumerate(inside.tolist()):
        lo, hi = diagonal_range(int(shifted[number]), n_new, m_new)
        start = int(base[number]) + rows[0]
        data[k, lo:hi] = flat[start + lo : start + hi]
    return CDS._build({"data": data, "offsets": shifted[inside].astype(np.int64)}, (n_new, m_new), symmetric=False)
