"""New arrays. Two dimensions give sparse arrays; fewer give dense arrays of the storage namespace.

`asarray` and `eye` live in `spformats.interop.asarray` and `spformats.creation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.array_api.data_types import on_numpy
from spformats.array_api.densify import permit
from spformats.array_api.joining import check_shape
from spformats.array_api.namespaces import Array, is_sparse, storage
from spformats.formats import CSR, _arrays


def placed(A: Any, device: Any) -> Any:
    """A on the device, where one is named."""
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
    """An array of zeros: in two dimensions CSR with nothing stored.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
        float64 where left out; one of another library gives its arrays.
    device : optional

    Returns
    -------
    array
        CSR in two dimensions, else dense.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.zeros((2, 3))
    <CSR 2×3 float64, nnz=0>
    """
    lengths = _lengths(shape)
    if len(lengths) < 2:
        return _dense(device, "zeros", lengths, dtype=dtype or np.float64)
    n, m = _arrays.check_shape(check_shape(lengths, "zeros"))
    nothing = np.zeros(0, dtype=_arrays.index_dtype(m))
    dtype, foreign = on_numpy(dtype)
    made = CSR._made(np.zeros(0, dtype=dtype or np.float64), nothing, np.zeros(n + 1, dtype=np.int64), (n, m))
    return placed(made, device) if foreign is None else made.to_namespace(foreign)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """The same as `zeros`: a sparse array without entries has nothing to leave unset.

    Parameters
    ----------
    shape, dtype, device
        As for `zeros`.

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> sf.empty((2, 3)).nnz
    0
    """
    return zeros(shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value: sparse where the value is 0, else dense, where `spformats.config` allows it.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : scalar
    dtype : dtype, optional
        By default that of the value's kind.
    device : optional

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
    >>> sf.full((2, 2), 0.0)
    <CSR 2×2 float64, nnz=0>
    >>> with sf.config(densify=True):
    ...     sf.full((2, 2), 3.0)
    array([[3., 3.],
           [3., 3.]])
    """
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
    """An array of ones: dense in two dimensions, where `spformats.config` allows it.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
    device : optional

    Returns
    -------
    array
        Dense.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.ones(3)
    array([1., 1., 1.])
    """
    return full(shape, 1, dtype=dtype or np.dtype(np.float64), device=device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """A dense array of any library by DLPack: a matrix becomes CSR, fewer dimensions stay dense.

    Parameters
    ----------
    x : array of any library
    device : optional
        By default where x is.
    copy : bool, optional

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> import numpy as np
    >>> sf.from_dlpack(np.eye(3))
    <CSR 3×3 float64, nnz=3>
    """
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
    """Evenly spaced values, a dense vector.

    Parameters
    ----------
    start, stop, step : scalars
    dtype : dtype, optional
    device : optional

    Returns
    -------
    array, one dimension

    Examples
    --------
    >>> import spformats as sf
    >>> sf.arange(3)
    array([0, 1, 2])
    """
    return _dense(device, "arange", start, stop, step, dtype=dtype)


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """A number of evenly spaced values, a dense vector.

    Parameters
    ----------
    start, stop : scalars
    num : int
    dtype : dtype, optional
    device : optional
    endpoint : bool
        Whether ``stop`` is the last value.

    Returns
    -------
    array, one dimension

    Examples
    --------
    >>> import spformats as sf
    >>> sf.linspace(0, 1, 3)
    array([0. , 0.5, 1. ])
    """
    return _dense(device, "linspace", start, stop, num, dtype=dtype, endpoint=endpoint)


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinate matrices of vectors: dense arrays of the storage namespace.

    Parameters
    ----------
    *arrays : arrays of one dimension
    indexing : {"xy", "ij"}

    Returns
    -------
    tuple of arrays

    Examples
    --------
    >>> import spformats as sf
    >>> x, y = sf.meshgrid(sf.arange(2), sf.arange(3))
    >>> y.shape
    (3, 2)
    """
    return tuple(storage(*arrays).meshgrid(*arrays, indexing=indexing))
