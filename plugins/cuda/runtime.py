"""Compile CUDA C++ sources and launch them: the only module of this plugin that calls CuPy.

Sources lie beside this file as ``*.cuh``; a kernel is one of them after ``common.cuh``, with macros above that fix
value types, block sizes and the like. NVRTC compiles it when it is first launched; CuPy keeps the binaries on disk.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spformats.formats._arrays import xp_of

SOURCES = Path(__file__).parent
OPTIONS = ("-std=c++17",)

#: The C++ name of each value and index type.
CTYPES = {"f": "float", "d": "double", "F": "cplx<float>", "D": "cplx<double>"}
INDEX_TYPES = {4: "int", 8: "i64"}

#: ``launch(grid, block, args)``
Launch = Callable[[tuple[int, ...], tuple[int, ...], tuple[Any, ...]], None]


@functools.cache
def read_source(name: str) -> str:
    """Text of one source file."""
    return (SOURCES / name).read_text(encoding="utf-8")


def source(name: str, defines: tuple[tuple[str, Any], ...]) -> str:
    """The whole text of a kernel: its macros, the common part, the file."""
    head = "".join(f"#define {key} {value}\n" for key, value in defines)
    return f"{head}{read_source('common.cuh')}{read_source(name)}"


@functools.lru_cache(maxsize=1024)
def kernel(name: str, function: str, defines: tuple[tuple[str, Any], ...]) -> Launch:
    """The kernel ``function`` of a source file, compiled for each device it is launched on."""
    return compile_source(source(name, defines), function)


def compile_source(text: str, function: str) -> Launch:
    """Compile with NVRTC through CuPy."""
    import cupy

    return cupy.RawModule(code=text, options=OPTIONS, backend="nvrtc").get_function(function)


def bound(kernel: Launch) -> Launch:
    """The kernel as compiled for the current device: CuPy looks that up in every launch else."""
    return getattr(kernel, "kernel", kernel)


#: Macros and their values, in order.
Defines = tuple[tuple[str, Any], ...]


def types(matrix: Any, vector: Any, index: Any = np.int32, conjugate: bool = False, once: bool = True) -> Defines:
    """The macros of ``common.cuh``.

    Parameters
    ----------
    matrix, vector : dtype
        Value types; the result has the type NumPy promotes them to.
    index : dtype
        int32 or int64.
    conjugate : bool
        Use the complex conjugate of the matrix.
    once : bool
        The matrix is larger than the L2 cache, so that reading it must not push the vectors out.
    """
    result = np.result_type(matrix, vector)
    names = {"TA": np.dtype(matrix), "TX": np.dtype(vector), "TY": result}
    return (
        *((key, CTYPES[dtype.char]) for key, dtype in names.items()),
        ("INDEX", INDEX_TYPES[np.dtype(index).itemsize]),
        ("CONJ", int(conjugate and np.dtype(matrix).kind == "c")),
        ("STREAM", int(once)),
    )


@functools.cache
def l2_bytes(device: int) -> int:
    """Size of a device's L2 cache."""
    import cupy

    return int(cupy.cuda.runtime.getDeviceProperties(device)["l2CacheSize"])


def passes_once(array: Any) -> bool:
    """Whether the matrix is too large to stay in the L2 cache from one product to the next."""
    return array.nbytes > 0.6 * l2_bytes(array.device.id)


def by_value(array: np.ndarray[Any, Any]) -> Any:
    """A kernel argument that passes the contents of a host array, as a struct (CuPy takes arrays of size one so)."""
    struct = np.zeros((), dtype=[("values", array.dtype, array.shape)])
    struct["values"] = array
    return struct


def address(array: Any) -> int:
    """Address of an array's first element."""
    return array.data.ptr


def on_device(array: Any) -> Any:
    """Context in which kernels are launched on the array's device."""
    return array.device


def is_current(array: Any) -> bool:
    """Whether the array lies on the current device."""
    import cupy

    return array.device.id == cupy.cuda.runtime.getDevice()


def prepared_at_home(prepare: Callable[..., Any]) -> Callable[..., Any]:
    """``prepare(A, dtype, trans)`` on the device of A, whichever is current: what it makes and keeps belongs there."""

    @functools.wraps(prepare)
    def there(A: Any, dtype: Any, trans: str) -> Any:
        if is_current(A.data):
            return prepare(A, dtype, trans)
        with on_device(A.data):
            return prepare(A, dtype, trans)

    return there


def at_home(array: Any, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """What ``make()`` returns when called on the array's device, made to run on that device wherever it is called."""
    import cupy

    device, current = array.device, cupy.cuda.runtime.getDevice
    number = device.id
    with device:
        run = make()

    def there(*args: Any) -> Any:
        if current() == number:
            return run(*args)
        with device:
            return run(*args)

    return there


def packed(part: Any) -> Any:
    """A part of a matrix without gaps between its values, as the kernels read it; None stays None."""
    if part is None or part.ndim != 1 or part.flags.c_contiguous:
        return part
    return xp_of(part).ascontiguousarray(part)


def ready(x: Any) -> Any:
    """x C-contiguous and aligned to 16 bytes, as the kernels read it; copied only where it is not."""
    if x.flags.c_contiguous and not address(x) & 15:
        return x
    return xp_of(x).array(x, order="C", copy=True)


@functools.cache
def _device_name(device: int) -> str:
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(device)["name"].decode()


def device_name(array: Any) -> str:
    """Name of the GPU an array lies on."""
    return _device_name(array.device.id)


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Median time of a call on the device."""
    import cupy

    for _ in range(3):
        call()
    events = [(cupy.cuda.Event(), cupy.cuda.Event()) for _ in range(repeats)]
    for start, stop in events:
        start.record()
        call()
        stop.record()
    events[-1][1].synchronize()
    return float(np.median([cupy.cuda.get_elapsed_time(start, stop) for start, stop in events])) * 1e-3
