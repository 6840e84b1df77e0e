"""Move entries about: transposes, reshapes, flips, rolls. Results stay sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.array_api.densify import permit
from spformats.array_api.joining import axis_of
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.array_api.patterns import entry_numbers, from_numbers
from spformats.formats import CSR, _arrays
from spformats.formats.device import at_home


@at_home
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """The array with its axes in another order; the transpose of a sparse array is a view.

    Parameters
    ----------
    x : array, shape (n, m)
    axes : tuple of int

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> sf.permute_dims(sf.zeros((2, 3)), (1, 0)).shape
    (3, 2)
    """
    if not is_sparse(x):
        return storage(x).permute_dims(x, axes)
    order = tuple(axis_of(a) for a in axes)
    if sorted(order) != [0, 1]:
        raise ValueError(f"axes must be a permutation of (0, 1), got {tuple(axes)}")
    return x.T if order == (1, 0) else x


@at_home
def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """The array with axes moved to other places.

    Parameters
    ----------
    x : array, shape (n, m)
    source, destination : int or tuple of int

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> sf.moveaxis(sf.zeros((2, 3)), 0, 1).shape
    (3, 2)
    """
    if not is_sparse(x):
        return storage(x).moveaxis(x, source, destination)
    first = [axis_of(a) for a in (source if isinstance(source, tuple) else (source,))]
    then = [axis_of(a) for a in (destination if isinstance(destination, tuple) else (destination,))]
    if len(first) != len(then) or len(set(first)) != len(first) or len(set(then)) != len(then):
        raise ValueError(f"moveaxis needs as many distinct sources as destinations, got {source} and {destination}")
    return x.T if first and first[0] != then[0] else x


@at_home
def expand_dims(x: Array, /, axis: Any) -> Array:
    """A vector as a sparse row or column; a sparse array has no room for another axis.

    Parameters
    ----------
    x : array, shape (n,)
    axis : int

    Returns
    -------
    array
        Sparse, CSR.

    Raises
    ------
    ValueError
        If x is sparse: it has two dimensions already.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.expand_dims(sf.arange(3), axis=0)
    <CSR 1×3 int64, nnz=2>
    """
    if is_sparse(x):
        raise ValueError(f"expand_dims of a sparse array of shape {x.shape}: a sparse array has exactly two dimensions")
    expanded = storage(x).expand_dims(x, axis=axis)
    return _as_sparse(expanded) if expanded.ndim == 2 and getattr(x, "ndim", 0) < 2 else expanded


def _as_sparse(dense: Array) -> Array:
    from spformats.interop.dense import from_dense

    return from_dense(dense, keep_dtype=True, signed_zeros=True)


@at_home
def squeeze(x: Array, /, axis: Any) -> Array:
    """A single row or column as a dense vector; a single entry as a 0-D array.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int
        Axes of length 1.

    Returns
    -------
    array
        Dense.

    Raises
    ------
    ValueError
        If one of the axes is longer.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.squeeze(sf.eye(1, 3), axis=0)
    array([1., 0., 0.])
    """
    if not is_sparse(x):
        return storage(x).squeeze(x, axis=axis)
    axes = {axis_of(a) for a in (axis if isinstance(axis, tuple) else (axis,))}
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(
                f"cannot squeeze axis {a} of an array of shape {x.shape}: its length is {x.shape[a]}, not 1"
            )
    return storage(x).reshape(x.todense(), tuple(n for a, n in enumerate(x.shape) if a not in axes)) if axes else x


@at_home
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """The entries in another shape, row after row.

    Two dimensions give CSR, also from a vector. A vector from a matrix is dense, and `spformats.config` must allow it
    unless the matrix has a single row or column.

    Parameters
    ----------
    x : array, shape (n, m)
    shape : int or tuple of int
        One length may be -1.
    copy : bool, optional
        False refuses to copy.

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
    >>> sf.reshape(sf.eye(2), (1, 4)).todense()
    array([[1., 0., 0., 1.]])
    """
    lengths = (int(shape),) if isinstance(shape, int | np.integer) else tuple(int(s) for s in shape)
    if not is_sparse(x):
        reshaped = storage(x).reshape(x, lengths, copy=copy)
        return _as_sparse(reshaped) if len(lengths) == 2 and x.ndim < 2 else reshaped
    lengths = _filled_in(lengths, x.shape)
    if len(lengths) < 2:
        if min(x.shape) > 1:
            permit("reshape to a vector", "vectors are dense arrays of the storage namespace", lengths, x.dtype)
        return storage(x).reshape(x.todense(), lengths)
    if len(lengths) > 2:
        raise ValueError(f"reshape to {lengths}: a sparse array has two dimensions")
    if lengths == x.shape:
        return x.copy() if copy else x
    if copy is False:
        raise ValueError(f"reshape from {x.shape} to {lengths} must copy, but copy=False")
    return _reshaped(x, lengths)


def _filled_in(shape: tuple[int, ...], old: tuple[int, int]) -> tuple[int, ...]:
    size, known = old[0] * old[1], 1
    for s in shape:
        known *= 1 if s == -1 else s
    unknown = shape.count(-1)
    if unknown > 1 or any(s < -1 for s in shape):
        raise ValueError(f"shape may hold one -1 and no other negative length, got {shape}")
    if unknown:
        if known == 0 or size % known:
            raise ValueError(f"cannot reshape an array of shape {old} to {shape}")
        return tuple(size // known if s == -1 else s for s in shape)
    if known != size:
        raise ValueError(f"cannot reshape an array of shape {old} to {shape}: {size} entries are not {known}")
    return shape


@structural
def _reshaped(x: Any, shape: tuple[int, int]) -> CSR:
    csr = x.to_csr()
    return _at(csr, entry_numbers(csr), csr.data, shape)


def _at(csr: CSR, numbers: Any, data: Any, shape: tuple[int, int]) -> CSR:
    """CSR of another shape with entries at these rising numbers."""
    xp, width = csr._library, max(shape[1], 1)
    counts = xp.bincount(numbers // width, minlength=shape[0])
    return CSR._made(data, numbers % width, _arrays.pointers(counts), shape)


@at_home
def flip(x: Array, /, *, axis: Any = None) -> Array:
    """The array with rows, columns or both in reverse order, as CSR.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        Both where left out.

    Returns
    -------
    array
        Sparse, CSR.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.flip(sf.eye(2), axis=0).todense()
    array([[0., 1.],
           [1., 0.]])
    """
    if not is_sparse(x):
        return storage(x).flip(x, axis=axis)
    axes = {0, 1} if axis is None else {axis_of(a) for a in (axis if isinstance(axis, tuple) else (axis,))}
    return _flipped(x, axes)


@structural
def _flipped(x: Any, axes: set[int]) -> CSR:
    csr = x.to_csr()
    xp, (n, m) = csr._library, csr.shape
    rows, cols = _arrays.rows_of(csr.indptr), csr.indices.astype(np.int64)
    return _scattered(csr, n - 1 - rows if 0 in axes else rows, m - 1 - cols if 1 in axes else cols, xp)


def _scattered(csr: CSR, rows: Any, cols: Any, xp: Any) -> CSR:
    """The entries at other places of the same shape."""
    width = max(csr.shape[1], 1)
    numbers = rows * width + cols
    order = xp.argsort(numbers, kind="stable")
    return from_numbers(csr, numbers[order], width, csr.data[order])


@at_home
def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Entries moved along an axis, those pushed over the end coming in at the start (with ``axis=None``, row after
    row).

    Parameters
    ----------
    x : array, shape (n, m)
    shift : int or tuple of int
    axis : int or tuple of int, optional
        Where left out, the entries are rolled row after row.

    Returns
    -------
    array
        Sparse, CSR.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.roll(sf.eye(3), 1, axis=1).todense()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    if not is_sparse(x):
        return storage(x).roll(x, shift, axis=axis)
    shifts = shift if isinstance(shift, tuple) else (shift,)
    if axis is None:
        return _rolled_flat(x, sum(int(s) for s in shifts))
    axes = axis if isinstance(axis, tuple) else (axis,)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll needs one shift for each axis, got {shift} and {axis}")
    total = [0, 0]
    for s, a in zip(shifts, axes, strict=True):
        total[axis_of(a)] += int(s)
    return _rolled(x, total)


@structural
def _rolled(x: Any, shifts: list[int]) -> CSR:
    csr = x.to_csr()
    n, m = (max(length, 1) for length in csr.shape)
    rows = (_arrays.rows_of(csr.indptr) + shifts[0] % n) % n
    cols = (csr.indices.astype(np.int64) + shifts[1] % m) % m
    return _scattered(csr, rows, cols, csr._library)


@structural
def _rolled_flat(x: Any, shift: int) -> CSR:
    csr = x.to_csr()
    size = max(csr.shape[0] * csr.shape[1], 1)
    numbers = (entry_numbers(csr) + shift % size) % size
    width = max(csr.shape[1], 1)
    return _scattered(csr, numbers // width, numbers % width, csr._library)
