"""The one way kernels are compiled here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("NUMBA_DISABLE_JIT is set, but these kernels run compiled only; the reference kernels serve")

# No "reassoc": with it LLVM vectorises over nonzeros with gathers, 5-10 times slower on short inner loops.
FASTMATH = {"contract", "nsz", "arcp"}
_warned = False


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a range kernel: serial, without the GIL, kept on disk where numba finds a place for it."""
    options: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "boundscheck": False, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError as error:  # "cannot cache function ...: no locator available"
        _warn_uncached(error)
        return numba.njit(**options)(function)


def _warn_uncached(error: RuntimeError) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels cannot be kept on disk ({error}); every process compiles them again. "
            "Set NUMBA_CACHE_DIR to a writable folder to keep them.",
            RuntimeWarning,
            stacklevel=4,
        )
