"""The one way kernels are compiled here."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import extending

#: Numba's decorator takes a function of the typing context and gives one without it, which its stubs do not say.
intrinsic: Any = extending.intrinsic

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("NUMBA_DISABLE_JIT is set, but these kernels run compiled only; the reference kernels serve")

# No "reassoc": with it LLVM vectorises over nonzeros with gathers, 5-10 times slower on short inner loops.
FASTMATH = {"contract", "nsz", "arcp"}


def _digest() -> str:
    """A number that changes with any source file here.

    Numba looks only at the file of a kernel to tell whether its machine code on disk is still right; what the kernel
    inlines from another file counts too. So the digest is part of every kernel's name.
    """
    checksum = 0
    for path in sorted(Path(__file__).parent.glob("*.py")):
        checksum = zlib.crc32(path.read_bytes(), checksum)
    return f"{checksum:08x}"


DIGEST = _digest()
_warned = False


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a range kernel: serial, without the GIL, kept on disk where numba finds a place for it."""
    function.__qualname__ += f"_{DIGEST}"
    options: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "boundscheck": False, "error_model": "numpy"}
    return on_disk(lambda cache: numba.njit(cache=cache, **options)(function))


def on_disk(compile: Callable[[bool], Any]) -> Any:
    """``compile(True)``, or ``compile(False)`` and one warning where numba has no place for its cache."""
    try:
        return compile(True)
    except RuntimeError as error:  # "cannot cache function ...: no locator available"
        _warn_uncached(error)
        return compile(False)


def _warn_uncached(error: RuntimeError) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels cannot be kept on disk ({error}); every process compiles them again. "
            "Set NUMBA_CACHE_DIR to a writable folder to keep them.",
            RuntimeWarning,
            stacklevel=5,
        )
