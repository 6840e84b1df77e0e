"""Launcher of transposed products by private buffers (see `scatter_kernels`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import pool
from .launch import Run, into, scalar_type, split
from .operands import readable
from .scatter_kernels import combine, prepare


class Scatter(NamedTuple):
    """A transposed product: ``kernel(*arrays, x, sums, first, k, alpha, lo, hi)`` adds rows lo to hi."""

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
    windows = np.array([plan.window(lo, hi) for lo, hi in ranges[1:]], np.int64).reshape(-1, 2)
    begin, end = np.ascontiguousarray(windows[:, 0]), np.ascontiguousarray(windows[:, 1])
    starts = np.concatenate([[0], np.cumsum(end - begin)])
    first, start = begin.tolist(), starts.tolist()
    number = {lo: i for i, (lo, _) in enumerate(ranges)}
    columns = split(size, nbytes)
    threads = pool.thread_count()
    scalar = scalar_type(result)
    kernel = plan.kernel

    def multiply(x: Any, y: Any, alpha: Any, beta: Any) -> None:
        k = x.shape[1] if matrix else 1
        x, y = x.reshape(-1), y.reshape(-1)
        if len(ranges) < 2:
            prepare(y, beta, 0, size * k)
            for lo, hi in ranges:
                kernel(*arrays, x, y, 0, k, alpha, lo, hi)
            return
        sums = np.zeros(start[-1] * k, result)

        def add(lo: int, hi: int) -> None:
            i = number[lo] - 1
            if i < 0:
                prepare(y, beta, 0, size * k)
                kernel(*arrays, x, y, 0, k, alpha, lo, hi)
            else:
                kernel(*arrays, x, sums[start[i] * k : start[i + 1] * k], first[i], k, alpha, lo, hi)

        def gather(lo: int, hi: int) -> None:
            combine(sums, starts * k, begin * k, end * k, y, lo * k, hi * k)

        pool.run(add, ranges, threads)
        pool.run(gather, columns, threads)

    def run(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        x = readable(x)
        if y is None:
            y = np.empty((size, x.shape[1]) if matrix else size, result)
            multiply(x, y, scalar(alpha), scalar(0))
            return y
        return into(multiply, x, y, scalar(alpha), scalar(beta))

    return run
