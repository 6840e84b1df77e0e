"""Turn a range kernel and a matrix's arrays into the ``run`` function that `spformats.dispatch` calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import pool
from .operands import readable
from .trampoline import OperandTrampoline, Trampoline, kind

#: Bytes read by one product below which waking a second thread costs more than it saves.
SERIAL_BYTES = 1 << 18
#: The same where entries are gathered one by one, which takes longer for every byte.
SERIAL_ROWS = 1 << 17
#: Least bytes of one range, and those of one that is cut from a large product: small enough that a thread which was
#: held up can be helped, large enough to hide the hand-over.
LEAST_BYTES, RANGE_BYTES = 1 << 16, 1 << 17
#: Most ranges of a product for each thread, unless a format asks for more.
PER_THREAD = 8
#: Times the work of the mean range from which a range is heavy.
HEAVY = 1.5

#: Bytes from a load to the prefetch for a later one in a matrix too large for the caches: over the end of a page, where
#: the hardware's prefetchers stop.
FAR, LARGE = 8192, 1 << 22
#: Bytes of a y that would not stay in a cache: it is written past it, which saves reading it first.
STREAMED = 1 << 23

Run = Callable[..., Any]


def is_large(nbytes: int) -> bool:
    """Whether so much comes from memory, not from a cache."""
    return nbytes >= LARGE


def prefetch_distance(values: np.ndarray) -> int:
    """How many bytes ahead a kernel that reads these values once, in order, asks for them; 0 for not at all."""
    return FAR if is_large(values.nbytes) else 0


def split(
    rows: int,
    nbytes: int,
    weights: np.ndarray | None = None,
    align: int = 1,
    per_thread: int = PER_THREAD,
    serial: int = SERIAL_BYTES,
) -> list[tuple[int, int]]:
    """Cut ``range(rows)`` into ranges of equal work for the threads in force, in their order.

    Parameters
    ----------
    rows : int
    nbytes : int
        What the product reads: decides how many ranges pay.
    weights : ndarray, optional
        Monotone pointers of length rows + 1 whose differences are the work of each row; without them all rows count
        the same.
    align : int
        Ranges begin at multiples of it.
    per_thread : int
        Most ranges for each thread.
    serial : int
        Bytes below which there is one range.
    """
    threads = pool.thread_count()
    if threads == 1 or nbytes < serial or rows < 2 * align:
        return [(0, rows)]
    each = min(per_thread, nbytes // (threads * RANGE_BYTES))
    parts = min(rows, threads * each if each else min(threads, max(2, nbytes // LEAST_BYTES)))
    if weights is None or weights[-1] == weights[0]:
        cuts = np.linspace(0, rows, parts + 1).astype(np.int64)
    else:
        goals = np.linspace(float(weights[0]), float(weights[-1]), parts + 1)
        cuts = np.searchsorted(weights, goals)
        cuts[0], cuts[-1] = 0, rows
    cuts = np.unique(np.append(cuts[:-1] // align * align, rows))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def heavy_first(ranges: list[tuple[int, int]], weights: np.ndarray) -> list[tuple[int, int]]:
    """The ranges so that each thread begins with one that has far more work than others, like that of a long row.

    Other threads do the rest of its part meanwhile, see `pool_kernels`.
    """
    work = np.array([weights[hi] - weights[lo] for lo, hi in ranges], np.float64)
    heavy = work * len(ranges) > HEAVY * work.sum()
    first = _places_by_turns(len(ranges))[: heavy.sum()]
    place = np.arange(len(ranges))
    order = np.empty_like(place)
    order[first] = place[heavy]
    order[np.delete(place, first)] = place[~heavy]
    return [ranges[i] for i in order.tolist()]


def by_turns(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges so that the threads take them by turns and stay close to each other."""
    order = np.empty(len(ranges), np.int64)
    order[_places_by_turns(len(ranges))] = np.arange(len(ranges))
    return [ranges[i] for i in order.tolist()]


def _places_by_turns(count: int) -> np.ndarray:
    """The first place of each thread's part of so many ranges, then the second of each, and so on."""
    parts = max(1, min(pool.thread_count(), count))
    starts = np.arange(parts) * count // parts  # as `pool_kernels.drive` cuts them
    place = np.arange(count)
    part = np.searchsorted(starts, place, side="right") - 1
    return np.lexsort((part, place - starts[part]))


def scalar_type(dtype: np.dtype) -> type:
    """The Python type alpha and beta are passed as."""
    return complex if dtype.kind == "c" else float


def _multiplier(
    kernel: Callable[..., Any], arrays: Sequence[Any], between: tuple[int, ...], ranges: list, scalar: type
) -> Callable[..., None]:
    """``multiply(x, y, alpha, beta)`` around ``kernel(*arrays, x, y, *between, alpha, beta, lo, hi)``.

    The ranges are shared by the threads in force, or run one after the other here.
    """
    fixed = tuple(readable(a) if isinstance(a, np.ndarray) else a for a in arrays)
    if len(ranges) < 2:
        (lo, hi) = ranges[0] if ranges else (0, 0)

        def alone(x: Any, y: Any, alpha: Any, beta: Any) -> None:
            kernel(*fixed, x, y, *between, alpha, beta, lo, hi)

        return alone
    threads = pool.thread_count()
    cuts = np.array(ranges, np.int64).reshape(-1)
    calls: list[OperandTrampoline] = []

    def shared(x: Any, y: Any, alpha: Any, beta: Any) -> None:
        if not calls:
            calls.append(OperandTrampoline(kernel, fixed, x, y, between, scalar))
        if not pool.drive_product(calls[0], x, y, alpha, beta, cuts, threads):
            for lo, hi in sorted(ranges):
                kernel(*fixed, x, y, *between, alpha, beta, lo, hi)

    return shared


def _flat(multiply: Callable[..., None]) -> Callable[..., None]:
    """The same for matrices, which kernels take flat."""
    return lambda x, y, alpha, beta: multiply(x.ravel(), y.ravel(), alpha, beta)


def vector_run(kernel: Callable[..., Any], arrays: Sequence[Any], rows: int, dtype: np.dtype, ranges: list) -> Run:
    """``run(A, x, y, alpha, beta)`` around ``kernel(*arrays, x, y, alpha, beta, lo, hi)``; x is 1-D."""
    scalar = scalar_type(dtype)
    zero = scalar(0)
    empty = np.empty
    multiply = _multiplier(kernel, arrays, (), ranges, scalar)

    def run(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        if not x.flags.carray:
            x = readable(x)
        if y is None:
            y = empty(rows, dtype)
            multiply(x, y, scalar(alpha), zero)
            return y
        return into(multiply, x, y, scalar(alpha), scalar(beta))

    return run


def matrix_run(
    choose: Callable[[int], tuple[Callable[..., Any], Sequence[Any]]],
    rows: int,
    dtype: np.dtype,
    ranges_for: Callable[[int], list],
) -> Run:
    """Like `vector_run` for X of shape (cols, k): ``choose(k)`` is the kernel for k columns, and its arrays.

    Kernels get X and Y as flat C-ordered arrays and k: ``kernel(*arrays, X, Y, k, alpha, beta, lo, hi)``.
    """
    scalar = scalar_type(dtype)
    zero = scalar(0)
    empty = np.empty
    multipliers: dict[int, Callable[..., None]] = {}

    def run(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        k = x.shape[1]
        multiply = multipliers.get(k)
        if multiply is None:
            if k == 0:
                return empty((rows, 0), dtype) if y is None else y
            multiply = multipliers[k] = _flat(_multiplier(*choose(k), (k,), ranges_for(k), scalar))
        if not x.flags.carray:
            x = readable(x)
        if y is None:
            y = empty((rows, k), dtype)
            multiply(x, y, scalar(alpha), zero)
            return y
        return into(multiply, x, y, scalar(alpha), scalar(beta))

    return run


class Spread:
    """``kernel(*fixed, *rest, lo, hi)`` over given ranges, on the threads in force.

    Parameters
    ----------
    kernel : compiled function
    fixed : sequence of C-contiguous arrays, int, float and complex
        Its first arguments; the others come with each call.
    ranges : sequence of (lo, hi)
    """

    def __init__(self, kernel: Callable[..., Any], fixed: Sequence[Any], ranges: Sequence[tuple[int, int]]) -> None:
        self.kernel, self.fixed, self.ranges = kernel, fixed, ranges
        self.cuts = np.array(ranges, np.int64).reshape(-1)
        self.calls: dict[tuple[str, ...], Trampoline] = {}

    def __call__(self, *rest: Any) -> None:
        if len(self.ranges) > 1 and (threads := pool.thread_count()) > 1:
            kinds = tuple(kind(a) for a in rest)
            call = self.calls.get(kinds)
            if call is None:
                call = self.calls[kinds] = Trampoline(self.kernel, self.fixed, rest)
            if pool.drive_ranges(call, call.filled(rest), self.cuts, threads):
                return
        for lo, hi in self.ranges:
            self.kernel(*self.fixed, *rest, lo, hi)


def into(multiply: Callable[..., None], x: Any, y: Any, alpha: Any, beta: Any) -> Any:
    """Run into the caller's y, through a contiguous copy where y is strided."""
    if y.flags.carray:
        multiply(x, y, alpha, beta)
        return y
    work = np.empty(y.shape, y.dtype) if beta == 0 else np.array(y, order="C")
    multiply(x, work, alpha, beta)
    y[...] = work
    return y
