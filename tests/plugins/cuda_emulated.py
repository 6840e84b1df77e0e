"""The CUDA plugin over NumPy arrays: the kernels registered once more, run by the CPU emulator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from spformats import dispatch
from spformats_plugins.cuda import runtime

from . import cuda_emulator

NAME = "cuda-emulated"


@contextlib.contextmanager
def emulated() -> Iterator[None]:
    """Inside, the launchers take NumPy arrays and run on the CPU."""
    replaced = {
        "compile_source": cuda_emulator.compile_source,
        "passes_once": lambda array: array.size % 2 == 1,
        "address": lambda array: array.ctypes.data,
        "is_current": lambda array: True,
        "at_home": lambda array, make: make(),
        "by_value": cuda_emulator.ByValue,
        "ready": ready,
        "device_name": lambda array: "emulator",
    }
    kept = {name: getattr(runtime, name) for name in replaced}
    runtime.kernel.cache_clear()
    try:
        for name, value in replaced.items():
            setattr(runtime, name, value)
        yield
    finally:
        for name, value in kept.items():
            setattr(runtime, name, value)
        runtime.kernel.cache_clear()


def ready(x: np.ndarray) -> np.ndarray:
    return aligned(x) if x.ctypes.data & 15 else np.ascontiguousarray(x)


def aligned(x: np.ndarray) -> np.ndarray:
    """A copy that begins at a multiple of 16 bytes, as device allocations do."""
    room = np.empty(x.nbytes + 16, dtype=np.uint8)
    start = -room.ctypes.data % 16
    out = room[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    out[...] = x
    return out


def register_emulated() -> None:
    """Register every kernel of the plugin for NumPy arrays, to be run when forced by name."""
    for kernel in dispatch.kernels():
        if kernel.namespace == "cupy":
            name = NAME if kernel.name == "cuda" else f"{NAME}-{kernel.name}"
            register = dispatch.register(
                kernel.operation,
                kernel.format,
                "numpy",
                name=name,
                priority=-5,
                prepare=kernel.prepare,
                supports=kernel.supports,
            )
            register(kernel.function)
