"""Launcher of transposed products by private buffers (see `scatter_kernels`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .launch import Run, Spread, into, scalar_type, split
from .operands import readable
from .scatter_kernels import combine


class Scatter(NamedTuple):
    """A transposed product: ``kernel(*arrays, cuts, starts, shifts, x, y, sums, k, alpha, beta, lo, hi)``.

    The kernel runs ranges lo to hi, where range t holds the rows ``cuts[t]`` to ``cuts[t + 1]``. The first adds into y,
    any other one into its buffer, ``sums`` from row ``starts[t]`` on: column j is row ``j + shifts[t]`` of the target.
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
    # The first range adds into y itself, the others into buffers as wide as the columns they touch.
    windows = np.array([(0, 0), *(plan.window(lo, hi) for lo, hi in ranges[1:])], np.int64)
    firsts, lasts = np.ascontiguousarray(windows[:, 0]), np.ascontiguousarray(windows[:, 1])
    starts = np.concatenate([[0], np.cumsum(lasts - firsts)])
    cuts, shifts = np.array([lo for lo, _ in ranges] + [rows], np.int64), starts[:-1] - firsts
    numbers = [(t, t + 1) for t in range(len(ranges))]
    add = Spread(plan.kernel, (*arrays, cuts, starts, shifts), numbers)
    gather = Spread(combine, (starts, firsts, lasts), split(size, nbytes))
    scalar = scalar_type(result)

    def multiply(x: Any, y: Any, alpha: Any, beta: Any) -> None:
        k = x.shape[1] if matrix else 1
        x, y, sums = x.reshape(-1), y.reshape(-1), np.empty(int(starts[-1]) * k, result)
        add(x, y, sums, k, alpha, beta)
        if len(ranges) > 1:
            gather(sums, y, k)

    def run(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        x = readable(x)
        if y is None:
            y = np.empty((size, x.shape[1]) if matrix else size, result)
            multiply(x, y, scalar(alpha), scalar(0))
            return y
        return into(multiply, x, y, scalar(alpha), scalar(beta))

    return run
