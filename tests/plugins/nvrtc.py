"""NVRTC by ctypes, from the PyPI wheel ``nvidia-cuda-nvrtc``: compiles kernels without a GPU or CuPy."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import re
from pathlib import Path
from typing import Any, NamedTuple


class Report(NamedTuple):
    """What the compiler says of one kernel."""

    registers: int
    stack: int
    spilled: int
    log: str


@functools.cache
def library() -> Any:
    """The library, or None where the wheel is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(root).glob("**/libnvrtc.so.*")) + sorted(Path(root).glob("**/nvrtc64_*.dll")):
            return ctypes.CDLL(str(path))
    return None


def check(code: int, what: str, log: str = "") -> None:
    if code:
        library().nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"{what}: {library().nvrtcGetErrorString(code).decode()}\n{log}")


@functools.cache
def architectures() -> tuple[int, ...]:
    """Compute capabilities (times ten) this NVRTC makes code for."""
    count = ctypes.c_int()
    check(library().nvrtcGetNumSupportedArchs(ctypes.byref(count)), "nvrtcGetNumSupportedArchs")
    out = (ctypes.c_int * count.value)()
    check(library().nvrtcGetSupportedArchs(out), "nvrtcGetSupportedArchs")
    return tuple(out)


def compile_source(text: str, function: str, arch: int) -> Report:
    """Compile to machine code for ``sm_<arch>`` and read the assembler's report on ``function``."""
    lib, program = library(), ctypes.c_void_p()
    check(
        lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None), "nvrtcCreateProgram"
    )
    options = [f"--gpu-architecture=sm_{arch}", "-std=c++17", "--ptxas-options=-v"]
    given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    code = lib.nvrtcCompileProgram(program, len(options), given)
    size = ctypes.c_size_t()
    lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetProgramLog(program, log)
    said = log.value.decode()
    lib.nvrtcDestroyProgram(ctypes.byref(program))
    check(code, f"compiling {function} for sm_{arch}", said)
    part = said.split(f"Function properties for {function}")[-1]
    numbers = {
        what: int(found[1]) if (found := re.search(pattern, part)) else -1
        for what, pattern in (
            ("registers", r"Used (\d+) registers"),
            ("stack", r"(\d+) bytes stack frame"),
            ("spilled", r"(\d+) bytes spill stores"),
        )
    }
    return Report(numbers["registers"], numbers["stack"], numbers["spilled"], said)
