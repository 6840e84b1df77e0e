"""Move an array to another device or array library."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import numpy as np

from spformats.formats import SparseArray
from spformats.formats._arrays import read_only


def to_numpy(array: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of any library's array."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "get"):  # CuPy
        return array.get()
    if hasattr(array, "detach"):  # torch
        return array.detach().cpu().numpy()
    return np.asarray(array)


def to_namespace(A: SparseArray, xp: Any) -> SparseArray:
    """The array over another library's arrays; copies unless it is that library's already."""
    if isinstance(xp, str):
        xp = importlib.import_module(xp)
    if not isinstance(getattr(xp, "__name__", None), str):
        raise TypeError(f"an array library is given as its module or that module's name, got {xp!r}")
    name = xp.__name__.removeprefix("array_api_compat.").partition(".")[0]
    if A._namespace == name:
        return A
    if A._source is not None:
        base, taken = A._source
        return to_namespace(base, xp)._transpose_of(taken)
    if name == "numpy":
        return A._map(lambda array: read_only(to_numpy(array)))
    # a copy: our NumPy arrays are read-only, which other libraries have no word for
    return A._map(lambda array: xp.asarray(to_numpy(array).copy(order="K")))


def available() -> tuple[str, ...]:
    """Names of the devices arrays can live on: ``"cpu"``, and a GPU each where CuPy is installed and finds them."""
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
    except Exception:  # not installed, or installed without a driver, which CuPy reports by errors of its own
        count = 0
    return ("cpu", *(f"cuda:{i}" for i in range(count)))


def _library_of(device: Any) -> str | None:
    """The library whose device object this is, where it has such objects and is neither NumPy nor CuPy."""
    module = type(device).__module__.partition(".")[0]
    return module if module in ("torch", "array_api_strict") else None


def namespace_on(device: Any) -> Any:
    """The namespace that makes dense arrays on a device, spelled as the standard spells it; None is the CPU."""
    import array_api_compat.numpy

    if _library_of(device) is not None:
        from spformats.array_api.namespaces import compat

        return compat(_library_of(device))
    name = "cpu" if device is None else str(device)
    if name == "cpu":
        return array_api_compat.numpy
    if not name.lower().removeprefix("<").startswith("cuda"):
        raise ValueError(f"unknown device {device!r}; known: {', '.join(available())}")
    import array_api_compat.cupy

    return array_api_compat.cupy


def current(device: Any) -> contextlib.AbstractContextManager[Any]:
    """Inside, arrays made by `namespace_on` lie on this device."""
    if device is None or str(device) == "cpu" or _library_of(device) is not None:
        return contextlib.nullcontext()
    import cupy

    from spformats.interop import cupyx

    return cupyx._device(cupy, device)


def to_device(A: SparseArray, device: Any, stream: Any = None) -> SparseArray:
    """See `SparseArray.to_device`."""
    if device is None:
        raise TypeError("device must be 'cpu', 'cuda', 'cuda:1', … or what A.device gives, got None")
    if _library_of(device) is not None and device == A.device:
        return A
    name = str(device)
    if name == "cpu":
        return to_namespace(A, np) if A._namespace == "cupy" else A
    if isinstance(device, str) and not name.startswith("cuda"):
        found = ", ".join(available())
        raise ValueError(f"unknown device {device!r}; devices are named 'cpu', 'cuda', 'cuda:1'; found here: {found}")
    if A._namespace not in ("numpy", "cupy"):
        raise ValueError(f"arrays of {A._namespace} move by that library: convert with A.to_namespace(numpy) first")
    from spformats.interop import cupyx

    return cupyx.to_cuda(A, device, stream)
