"""Kernels in the one form the thread pool calls: ``void function(address of the arguments, lo, hi)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from .atomics import number_at, read_word, view
from .jit import FASTMATH, on_disk

OPERAND_WORDS = 8  # x and y with sizes, alpha and beta in two words each


class Trampoline:
    """A kernel's address for given types, and the block of memory its arguments lie in.

    The words are those of the fixed arguments, then x, y, alpha and beta, which `pool_kernels.pack` writes.
    """

    def __init__(
        self, kernel: Callable[..., Any], fixed: Sequence[Any], x: np.dtype, y: np.dtype, after_y: int = 0
    ) -> None:
        kinds = tuple(a.dtype.str if isinstance(a, np.ndarray) else "int" for a in fixed)
        self.address = compiled(kernel, kinds, x.str, y.str, after_y).address
        words: list[int] = []
        for a in fixed:
            words += [a.__array_interface__["data"][0], a.size] if isinstance(a, np.ndarray) else [int(a)]
        self.operands = len(words)
        self.words = np.array(words + [0] * OPERAND_WORDS, np.int64)
        self.keep = fixed


@cache
def compiled(kernel: Any, kinds: tuple[str, ...], x: str, y: str, after_y: int) -> Any:
    """Compile the call of ``kernel``; the last ``after_y`` fixed arguments come after y."""
    function = kernel.py_func
    constants = [str(cell.cell_contents) for cell in function.__closure__ or ()]  # tell kernels of one factory apart
    parts = [function.__module__, function.__qualname__, *constants, *kinds, x, y, str(after_y)]
    name = re.sub(r"\W+", "_", "_".join(parts))
    scope = {"__name__": __name__, "kernel": kernel, "view": view, "read_word": read_word, "number_at": number_at}
    lines, names, at = [f"def {name}(words, lo, hi):"], [], 0
    for i, kind in enumerate(kinds):
        names.append(f"a{i}")
        if kind == "int":
            lines.append(f"    a{i} = read_word(words, {at})")
            at += 1
        else:
            scope[f"t{i}"] = np.dtype(kind).type(0)
            lines.append(f"    a{i} = view(read_word(words, {at}), read_word(words, {at + 1}), t{i})")
            at += 2
    scalar = np.complex128 if np.dtype(y).kind == "c" else np.float64
    scope |= {"tx": np.dtype(x).type(0), "ty": np.dtype(y).type(0), "ts": scalar(0)}
    lines += [
        f"    x = view(read_word(words, {at}), read_word(words, {at + 1}), tx)",
        f"    y = view(read_word(words, {at + 2}), read_word(words, {at + 3}), ty)",
        f"    alpha, beta = number_at(words, {at + 4}, ts), number_at(words, {at + 6}, ts)",
    ]
    before = len(names) - after_y
    order = [*names[:before], "x", "y", *names[before:], "alpha", "beta", "lo", "hi"]
    lines.append(f"    kernel({', '.join(order)})")
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    signature = types.void(types.int64, types.int64, types.int64)
    options: dict[str, Any] = {"nopython": True, "boundscheck": False, "error_model": "numpy", "fastmath": FASTMATH}
    return on_disk(lambda cached: numba.cfunc(signature, cache=cached, **options)(scope[name]))
