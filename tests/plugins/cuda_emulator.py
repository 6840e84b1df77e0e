"""Compile the plugin's kernels for the CPU and run them on NumPy arrays; see ``cuda_emulator.hpp``."""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HEADER = Path(__file__).with_name("cuda_emulator.hpp")
CACHE = Path(tempfile.gettempdir()) / "spformats-cuda-emulator"
COMPILER = shutil.which("g++")

STUB = """
static void* const* spf_args;
static void spf_body() {{ {function}({loads}); }}
extern "C" void spf_run(void* const* args, unsigned gx, unsigned gy, int threads) {{
    spf_args = args;
    gridDim = {{gx, gy, 1}};
    for (unsigned y = 0; y < gy; ++y)
        for (unsigned x = 0; x < gx; ++x) {{
            blockIdx = {{x, y, 0}};
            emulator::run_block(threads, spf_body);
        }}
}}
"""


def parameters(text: str, function: str) -> list[str]:
    """Types of a kernel's parameters, in the preprocessed text."""
    found = re.search(rf"\b{function}\s*\(([^)]*)\)\s*\{{", text)
    assert found, f"no kernel {function!r}"
    return [re.sub(r"\w+$", "", part.strip()).strip() for part in found[1].split(",")]


def compile_source(text: str, function: str) -> Any:
    """What `runtime.compile_source` returns, for the CPU: ``launch(grid, block, args)``."""
    CACHE.mkdir(exist_ok=True)
    text = HEADER.read_text() + text
    key = hashlib.sha256((text + function + STUB).encode()).hexdigest()[:24]
    library = CACHE / f"{key}.so"
    if not library.exists():
        source = CACHE / f"{key}.cpp"
        source.write_text(text)
        flags = ["-std=c++17", "-O1", "-w", "-fPIC"]
        expanded = subprocess.run(
            [COMPILER, *flags, "-E", "-P", str(source)], check=True, capture_output=True, text=True
        ).stdout
        types = parameters(expanded, function)
        loads = ", ".join(f"*({t}*)spf_args[{i}]" for i, t in enumerate(types))
        source.write_text(text + STUB.format(function=function, loads=loads))
        made = subprocess.run(
            [COMPILER, *flags, "-shared", str(source), "-o", f"{library}.part"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr[-4000:]
        Path(f"{library}.part").rename(library)
    run = ctypes.CDLL(str(library)).spf_run

    def launch(grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> None:
        kept = [by_value(a) for a in args]
        pointers = (ctypes.c_void_p * len(kept))(*(k.ctypes.data for k in kept))
        run(pointers, ctypes.c_uint(grid[0]), ctypes.c_uint(grid[1] if len(grid) > 1 else 1), ctypes.c_int(block[0]))

    return launch


def by_value(argument: Any) -> np.ndarray:
    """The bytes a launch passes: an array's address, a scalar's value, a `ByValue` array's contents."""
    if isinstance(argument, ByValue):
        return np.ascontiguousarray(argument.array)  # a struct of integers is their bytes, one after the other
    if isinstance(argument, np.ndarray):
        return np.array([argument.ctypes.data], dtype=np.uint64)
    assert isinstance(argument, np.generic), (
        f"a kernel argument must be a NumPy scalar or an array, got {type(argument)}"
    )
    return np.array([argument])


class ByValue:
    """A host array passed by value (CuPy tells it from a device array by its type)."""

    def __init__(self, array: np.ndarray):
        self.array = array
