"""New arrays. Two dimensions give sparse arrays; fewer give dense arrays of the storage namespace.

`asarray` and `eye` live in `spformats.interop.asarray` and `spformats.creation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.array_api.data_types import native, on_numpy
from spformats.array_api.densify import permit
from spformats.array_api.joining import check_shape
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.formats import CSR, _arrays


def _placed(A: Any, device: Any) -> Any:
    return A if device is None else A.to_device(device)


def _lengths(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, int | np.integer) else tuple(int(s) for s in shape)


def _dense(device: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """A dense array made by NumPy on the CPU, by CuPy on a GPU, or by the library that its dtype belongs to."""
    from spformats.interop import devices

    _, foreign = on_numpy(kwargs.get("dtype"))
    if foreign is not None:
        return getattr(foreign, name)(*args, **kwargs)
    with devices.current(device):
        return getattr(devices.namespace_on(device), name)(*args, **kwargs)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros: in two dimensions CSR with nothing stored."""
    lengths = _lengths(shape)
    if len(lengths) < 2:
        return _dense(device, "zeros", lengths, dtype=dtype or np.float64)
    n, m = _arrays.check_shape(check_shape(lengths, "zeros"))
    nothing = np.zeros(0, dtype=_arrays.index_dtype(m))
    dtype, foreign = on_numpy(dtype)
    made = CSR._made(np.zeros(0, dtype=dtype or np.float64), nothing, np.zeros(n + 1, dtype=np.int64), (n, m))
    return _placed(made, device) if foreign is None else made.to_namespace(foreign)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """The same as `zeros`: a sparse array without entries has nothing to leave unset."""
    return zeros(shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value: sparse where the value is 0, else dense, where `spformats.config` allows it."""
    lengths = _lengths(shape)
    if dtype is None:
        dtype = _default_dtype(fill_value)
    if len(lengths) < 2:
        return _dense(device, "full", lengths, fill_value, dtype=dtype)
    check_shape(lengths, "full")
    if fill_value == 0:
        return zeros(lengths, dtype=dtype, device=device)
    permit(f"full of {fill_value}", "no entry is 0", lengths, dtype)
    return _dense(device, "full", lengths, fill_value, dtype=dtype)


def _default_dtype(value: Any) -> Any:
    for kind, dtype in ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")):
        if isinstance(value, kind):
            return np.dtype(dtype)
    return value.dtype


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of ones: dense in two dimensions, where `spformats.config` allows it."""
    return full(shape, 1, dtype=dtype or np.dtype(np.float64), device=device)


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros of the shape, data type and format of x."""
    if not is_sparse(x):
        return storage(x).zeros_like(x, dtype=native(dtype, storage(x)), device=device)
    made = _empty_like(x)
    made = made if dtype is None else made.astype(native(dtype, storage(x)))
    return _placed(made, device)


@structural
def _empty_like(x: Any) -> Any:
    xp, (n, m) = x._xp, x.shape
    nothing = xp.zeros(0, dtype=_arrays.index_dtype(m))
    csr = CSR._made(xp.zeros(0, dtype=x.dtype), nothing, xp.zeros(n + 1, dtype=np.int64), (n, m))
    return csr.asformat(x.format, force=True, **x._layout()) if x.format != "csr" else csr


def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """The same as `zeros_like`."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """One value in the shape of x: sparse, in x's format, where the value is 0, else dense where allowed."""
    if not is_sparse(x):
        return storage(x).full_like(x, fill_value, dtype=native(dtype, storage(x)), device=device)
    if fill_value == 0:
        return zeros_like(x, dtype=dtype, device=device)
    xp = storage(x)
    dtype = x.dtype if dtype is None else native(dtype, xp)
    permit(f"full_like with {fill_value}", "no entry is 0", x.shape, dtype)
    if device is not None:
        return full(x.shape, fill_value, dtype=dtype, device=device)
    return xp.full(x.shape, fill_value, dtype=dtype)


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones in the shape of x: dense, where `spformats.config` allows it."""
    return full_like(x, 1, dtype=dtype, device=device)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The entries on and below diagonal k, in x's format; a dense matrix gives a sparse one."""
    return _triangle(x, k, lower=True)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The entries on and above diagonal k, in x's format; a dense matrix gives a sparse one."""
    return _triangle(x, k, lower=False)


def _triangle(x: Any, k: int, lower: bool) -> Any:
    if is_sparse(x):
        return _half(x, k, lower)
    xp = storage(x)
    if x.ndim != 2:
        return (xp.tril if lower else xp.triu)(x, k=k)
    from spformats.interop.dense import from_dense

    return _half(from_dense(x, keep_dtype=True), k, lower)


@structural
def _half(x: Any, k: int, lower: bool) -> Any:
    csr = x.to_csr()
    xp = csr._xp
    rows = _arrays.rows_of(csr.indptr)
    offset = csr.indices - rows
    keep = offset <= k if lower else offset >= k
    counts = xp.bincount(rows[keep], minlength=x.shape[0])
    made = CSR._made(csr.data[keep], csr.indices[keep], _arrays.pointers(counts), x.shape)
    layout = x._layout()
    if layout.get("symmetric"):
        layout["symmetric"] = False
    return made.asformat(x.format, force=True, **layout)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """A dense array of any library by DLPack: a matrix becomes CSR, fewer dimensions stay dense."""
    if is_sparse(x):
        return x.__dlpack__()
    kind, number = x.__dlpack_device__()
    if device is None:
        device = "cpu" if kind == 1 else f"cuda:{number}"
    dense = _dense(device, "from_dlpack", x, **({} if copy is None else {"copy": copy}))
    if dense.ndim != 2:
        return dense
    from spformats.interop.dense import from_dense

    return from_dense(dense, keep_dtype=True)


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> Array:
    """Evenly spaced values, a dense vector."""
    return _dense(device, "arange", start, stop, step, dtype=dtype)


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """A number of evenly spaced values, a dense vector."""
    return _dense(device, "linspace", start, stop, num, dtype=dtype, endpoint=endpoint)


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinate matrices of vectors: dense arrays of the storage namespace."""
    return tuple(storage(*arrays).meshgrid(*arrays, indexing=indexing))
