"""Kernels in the one form the thread pool calls: ``void function(address of the arguments, lo, hi)``."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from .atomics import number_at, read_word, view
from .jit import FASTMATH, on_disk

#: Numbers that are no integers take two words, real ones too.
SCALARS = {"float": np.float64(0), "complex": np.complex128(0)}


class Trampoline:
    """A kernel's address for given types of arguments, and the words its arguments lie in.

    Parameters
    ----------
    kernel : compiled function of ``(*fixed, *rest, lo, hi)``
    fixed : sequence of C-contiguous arrays, int, float and complex
    rest : sequence of the same
        Arguments like those that come with each call.
    """

    def __init__(self, kernel: Callable[..., Any], fixed: Sequence[Any], rest: Sequence[Any]) -> None:
        self.address = compiled(kernel, tuple(kind(a) for a in (*fixed, *rest))).address
        head = [word for a in fixed for word in words_of(a)]
        self.place = len(head)
        self.words = np.array(head + [word for a in rest for word in words_of(a)], np.int64)
        self.keep = fixed
        self.seconds = math.inf  # the last run took

    def filled(self, rest: Sequence[Any]) -> np.ndarray:
        """The words of one call."""
        words = self.words.copy()
        words[self.place :] = [word for a in rest for word in words_of(a)]
        return words


class OperandTrampoline(Trampoline):
    """The same for a kernel of ``(*fixed, x, y, *more, alpha, beta, lo, hi)``; `pool` fills the operands in."""

    def __init__(
        self, kernel: Callable[..., Any], fixed: Sequence[Any], x: Any, y: Any, more: Sequence[int], scalar: type
    ) -> None:
        super().__init__(kernel, fixed, (x, y, *more, scalar(1), scalar(0)))
        self.between = len(more)


def kind(argument: Any) -> str:
    """The type of an argument, by name."""
    return argument.dtype.str if isinstance(argument, np.ndarray) else type(argument).__name__


def words_of(argument: Any) -> tuple[int, ...]:
    """The words in which an argument is passed."""
    if isinstance(argument, np.ndarray):
        return argument.__array_interface__["data"][0], argument.size
    if isinstance(argument, int):
        return (argument,)
    number = complex(argument)
    return struct.unpack("qq", struct.pack("dd", number.real, number.imag))


@cache
def compiled(kernel: Any, kinds: tuple[str, ...]) -> Any:
    """Compile the call of ``kernel`` with arguments of these kinds."""
    function = kernel.py_func
    constants = [str(cell.cell_contents) for cell in function.__closure__ or ()]  # tell kernels of one factory apart
    parts = [function.__module__, function.__qualname__, *constants, *kinds]
    name = re.sub(r"\W+", "_", "_".join(parts))
    scope = {"__name__": __name__, "kernel": kernel, "view": view, "read_word": read_word, "number_at": number_at}
    lines, at = [f"def {name}(words, lo, hi):"], 0
    for i, kind in enumerate(kinds):
        if kind == "int":
            lines.append(f"    a{i} = read_word(words, {at})")
            at += 1
            continue
        if kind in SCALARS:
            scope[f"t{i}"] = SCALARS[kind]
            lines.append(f"    a{i} = number_at(words, {at}, t{i})")
        else:
            scope[f"t{i}"] = np.dtype(kind).type(0)
            lines.append(f"    a{i} = view(read_word(words, {at}), read_word(words, {at + 1}), t{i})")
        at += 2
    lines.append(f"    kernel({', '.join(f'a{i}' for i in range(len(kinds)))}, lo, hi)")
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    signature = types.void(types.int64, types.int64, types.int64)
    options: dict[str, Any] = {"nopython": True, "boundscheck": False, "error_model": "numpy", "fastmath": FASTMATH}
    return on_disk(lambda cached: numba.cfunc(signature, cache=cached, **options)(scope[name]))
