"""Kernels made from generated source, for code that is written out with a block size known to the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import simd
from .jit import kernel


def define(name: str, lines: Iterable[str], **kernels: Callable[..., Any]) -> Callable[..., Any]:
    """Compile source that defines the function ``name``; it may use NumPy, everything of `simd` and other kernels.

    The source is compiled under this file's name, so numba keeps the machine code on disk like that of any function.
    """
    # Loading a kernel from the disk imports the module it names: this one.
    scope = {"__name__": __name__, "np": np, **{n: getattr(simd, n) for n in simd.OPERATIONS}, **kernels}
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    return kernel(scope[name])
