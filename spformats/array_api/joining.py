"""Put arrays together, repeat them, and broadcast them; the results stay sparse."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from spformats.array_api.data_types import result_type
from spformats.array_api.densify import densified
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.formats import CSR, _arrays
from spformats.formats.device import at_home


def axis_of(axis: Any, ndim: int = 2) -> int:
    """An axis as a number from 0, or NumPy's AxisError (an IndexError and a ValueError)."""
    try:
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"an axis must be an integer, got {axis!r}") from None
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(f"axis {axis} is out of range for an array of {ndim} dimensions")
    return number % ndim


def check_shape(shape: Any, what: str) -> tuple[int, int]:
    """A shape of exactly two lengths, or ValueError."""
    shape = (shape,) if isinstance(shape, int | np.integer) else tuple(int(s) for s in shape)
    if len(shape) != 2:
        raise ValueError(f"{what} to shape {shape}: a sparse array has exactly two dimensions")
    return shape


def like(csr: CSR, A: Any) -> Any:
    """A CSR array in A's format where that takes no layout of its own, else as it is."""
    return csr.asformat(A.format) if A.format in ("ell", "jad") else csr


def taken_rows(csr: CSR, rows: Any) -> CSR:
    """The rows of these numbers, in that order and as often as they occur."""
    xp = csr._library
    lengths = (csr.indptr[1:] - csr.indptr[:-1])[rows]
    indptr = _arrays.pointers(lengths)
    owner = _arrays.rows_of(indptr)
    place = csr.indptr[:-1][rows][owner] + _arrays.position_in_row(indptr, owner)
    return CSR._made(csr.data[place], csr.indices[place], indptr, (int(xp.asarray(rows).shape[0]), csr.shape[1]))


def taken(A: Any, numbers: Any, axis: int) -> CSR:
    """Rows (axis 0) or columns (axis 1) of these numbers, as CSR."""
    csr = A.to_csr()
    if axis == 0:
        return taken_rows(csr, numbers)
    return taken_rows(csr._transposed(False), numbers)._transposed(False)


@structural
def _repeat_to(x: Any, shape: tuple[int, int]) -> Any:
    xp = x._library
    for axis in (0, 1):
        if x.shape[axis] != shape[axis]:
            x = taken(x, xp.zeros(shape[axis], dtype=np.int64), axis)
    return x


@at_home
def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """The array repeated along its axes of length 1; a sparse array stays sparse (as CSR where anything is
    repeated).

    Parameters
    ----------
    x : array, shape (n, m)
    shape : tuple of int

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> sf.broadcast_to(sf.eye(1, 2), (2, 2)).todense()
    array([[1., 0.],
           [1., 0.]])
    """
    if not is_sparse(x):
        return storage(x).broadcast_to(x, shape)
    shape = check_shape(shape, "broadcast_to")
    if shape == x.shape:
        return x
    if any(a not in (1, b) for a, b in zip(x.shape, shape, strict=True)):
        raise ValueError(f"an array of shape {x.shape} does not broadcast to {shape}")
    return _repeat_to(x, shape)


@at_home
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Arrays of one shape; sparse ones stay sparse.

    Parameters
    ----------
    *arrays : arrays

    Returns
    -------
    tuple of arrays

    Examples
    --------
    >>> import spformats as sf
    >>> [x.shape for x in sf.broadcast_arrays(sf.eye(1, 3), sf.eye(3))]
    [(3, 3), (3, 3)]
    """
    shape = np.broadcast_shapes(*(tuple(x.shape) for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Parameters
    ----------
    *shapes : tuples of int

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> import spformats as sf
    >>> sf.broadcast_shapes((1, 3), (4, 1))
    (4, 3)
    """
    return np.broadcast_shapes(*shapes)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """Join arrays along an axis; sparse ones give CSR (with ``axis=None``, a dense vector).

    Parameters
    ----------
    arrays : sequence of arrays
    axis : int, optional

    Returns
    -------
    array
        Sparse, CSR.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.concat([sf.eye(2), sf.eye(2)], axis=1).todense()
    array([[1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """
    return _concatenated(list(arrays), axis)


@at_home
def _concatenated(arrays: list[Any], axis: int | None) -> Array:
    if not any(map(is_sparse, arrays)):
        return storage(*arrays).concat(arrays, axis=axis)
    if axis is None:
        xp = storage(*(x for x in arrays if is_sparse(x)))
        flat = [
            xp.reshape(densified(x, "concat with axis=None", "it is a vector of all entries"), (-1,)) for x in arrays
        ]
        return xp.concat(flat)
    if not all(map(is_sparse, arrays)):
        raise TypeError("concat joins sparse arrays with sparse arrays; spformats.asarray makes one of a dense matrix")
    number = axis_of(axis)
    first = arrays[0]
    for x in arrays[1:]:
        if x.shape[1 - number] != first.shape[1 - number]:
            raise ValueError(f"concat along axis {axis}: shapes {first.shape} and {x.shape} do not fit together")
    return _joined(arrays, number, result_type(*(x.dtype for x in arrays)))


@structural
def _joined(arrays: list[Any], axis: int, dtype: Any) -> CSR:
    if axis == 1:
        return _joined([x.T for x in arrays], 0, dtype).to_csr()._transposed(False)
    parts = [x.to_csr() for x in arrays]
    xp = parts[0]._library
    dtype = np.dtype(str(dtype).rpartition(".")[2])
    m = parts[0].shape[1]
    starts = np.cumsum([0] + [p._stored for p in parts]).tolist()
    indptr = xp.concatenate(
        [p.indptr[:-1] + s for p, s in zip(parts, starts, strict=False)] + [xp.asarray(starts[-1:])]
    )
    data = xp.concatenate([p.data.astype(dtype) for p in parts])
    return CSR._made(data, xp.concatenate([p.indices for p in parts]), indptr, (sum(p.shape[0] for p in parts), m))


@at_home
def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    """Join arrays along a new axis: refused for sparse arrays, which would get a third dimension.

    Parameters
    ----------
    arrays : sequence of arrays
    axis : int

    Returns
    -------
    array
        Dense.

    Raises
    ------
    ValueError
        If one is sparse.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.stack([sf.arange(2), sf.arange(2)])
    array([[0, 1],
           [0, 1]])
    """
    arrays = list(arrays)
    if any(map(is_sparse, arrays)):
        raise ValueError(
            f"stack of {len(arrays)} two-dimensional arrays has three dimensions, and a sparse array has two; use "
            "concat"
        )
    return storage(*arrays).stack(arrays, axis=axis)


@at_home
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The rows (or columns) as dense vectors, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int

    Returns
    -------
    tuple of arrays
        Dense.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.unstack(sf.eye(2))
    (array([1., 0.]), array([0., 1.]))
    """
    if not is_sparse(x):
        return storage(x).unstack(x, axis=axis)
    axis_of(axis)
    dense = densified(x, "unstack", "every row becomes a dense vector")
    return tuple(storage(dense).unstack(dense, axis=axis))


@at_home
def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each row (or column) repeated; the result is CSR (with ``axis=None``, a dense vector).

    Parameters
    ----------
    x : array, shape (n, m)
    repeats : int or array of int
    axis : int, optional

    Returns
    -------
    array
        Sparse, CSR.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.repeat(sf.eye(2), 2, axis=0).todense()
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    if not is_sparse(x):
        return storage(x).repeat(x, repeats, axis=axis)
    if axis is None:
        xp = storage(x)
        return xp.repeat(
            xp.reshape(densified(x, "repeat with axis=None", "it is a vector of all entries"), (-1,)), repeats
        )
    return _repeated(x, repeats, axis_of(axis))


@structural
def _repeated(x: Any, repeats: Any, axis: int) -> CSR:
    xp, length = x._library, x.shape[axis]
    counts = xp.broadcast_to(xp.asarray(repeats), (length,))
    return taken(x, _arrays.rows_of(_arrays.pointers(counts)), axis)


@at_home
def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """The array laid out side by side and on top of itself; the result is CSR.

    Parameters
    ----------
    x : array, shape (n, m)
    repetitions : tuple of int

    Returns
    -------
    array
        Sparse, CSR.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.tile(sf.eye(2), (1, 2)).todense()
    array([[1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """
    if not is_sparse(x):
        return storage(x).tile(x, repetitions)
    counts = (1,) * (2 - len(repetitions)) + tuple(repetitions)
    if len(counts) != 2:
        raise ValueError(f"tile by {tuple(repetitions)} has {len(counts)} dimensions, and a sparse array has two")
    return _tiled(x, counts)


@structural
def _tiled(x: Any, counts: tuple[int, int]) -> CSR:
    xp = x._library
    for axis in (0, 1):
        if counts[axis] != 1:
            x = taken(x, xp.tile(xp.arange(x.shape[axis]), counts[axis]), axis)
    return x.to_csr()
