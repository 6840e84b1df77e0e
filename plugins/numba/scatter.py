"""Launcher of transposed products, which the threads add into y and into buffers (see `scatter_kernels`)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .launch import Run, Spread, into, scalar_type, split
from .operands import readable
from .scatter_kernels import combine, prepare
from .scatter_pieces import pieces_of


class Scatter(NamedTuple):
    """A transposed product: ``kernel(*arrays, cuts, starts, shifts, x, y, sums, k, alpha, beta, lo, hi)``.

    The kernel runs pieces lo to hi (see `scatter_pieces`), where piece t holds the rows ``cuts[t]`` to ``cuts[t + 1]``.
    One that has a buffer, rows ``starts[t]`` to ``starts[t + 1]`` of ``sums``, adds into that, any other into y: column
    j is row ``j + shifts[t]`` of the target.
    """

    kernel: Callable[..., Any]
    arrays: tuple
    window: Callable[[int, int], tuple[int, int]]
    weights: np.ndarray
    align: int


def scatter_run(plan: Scatter, size: int, dtype: np.dtype, result: np.dtype, nbytes: int, *, matrix: bool) -> Run:
    """``run`` of op(A) @ x where op(A) has ``size`` rows; with ``matrix``, x has a second dimension."""
    rows = len(plan.weights) - 1
    # One range per thread: every further one is another buffer to fill and add up.
    ranges = split(rows, nbytes, plan.weights, plan.align, per_thread=1)
    arrays = tuple(readable(a) if isinstance(a, np.ndarray) else a for a in plan.arrays)
    pieces = pieces_of(plan.window, ranges, plan.align, plan.weights)
    in_order = [p for some in pieces for p in some]
    cuts = np.array([p.begin for p in in_order] + [rows], np.int64)
    firsts = np.array([p.first for p in in_order], np.int64)
    lasts = np.array([p.last for p in in_order], np.int64)
    starts = np.concatenate([[0], np.cumsum(lasts - firsts)])
    shifts = np.where(lasts > firsts, starts[:-1] - firsts, 0)
    numbers = list(pairwise([0, *np.cumsum([len(some) for some in pieces]).tolist()]))
    add = Spread(plan.kernel, (*arrays, cuts, starts, shifts), numbers)
    parts = split(size, nbytes)
    begin, gather = Spread(prepare, (), parts), Spread(combine, (starts, firsts, lasts), parts)
    scalar = scalar_type(result)

    def multiply(x: Any, y: Any, alpha: Any, beta: Any) -> None:
        k = x.shape[1] if matrix else 1
        x, y, sums = x.reshape(-1), y.reshape(-1), np.empty(int(starts[-1]) * k, result)
        if len(cuts) > 2:
            begin(y, k, beta)
        add(x, y, sums, k, alpha, beta)
        if len(sums):
            gather(sums, y, k)

    def run(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        x = readable(x)
        if y is None:
            y = np.empty((size, x.shape[1]) if matrix else size, result)
            multiply(x, y, scalar(alpha), scalar(0))
            return y
        return into(multiply, x, y, scalar(alpha), scalar(beta))

    return run
