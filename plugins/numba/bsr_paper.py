"""The six CPU strategies of Chirilă 2025 for BSR, selectable by ``sf.config(kernel="fixed_size_tasks")`` and so on.

They differ in how the blocks are dealt to threads. Where the paper adds into y atomically, the pieces of a row are kept
apart and added in a fixed order, so that results have the same bits on every run; the barrier after each row of the
naive variant goes with that. Our own default (`bsr`) cuts block rows by their numbers of blocks.

References
----------
A. Chirilă, *Architectural-Aware Optimization of Sparse Matrix-Vector Multiplication on GPUs*, 2025, section 6.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats import dispatch

from . import pool
from .bsr import arrays_of, over_the_edge
from .bsr_paper_kernels import add_edges, run_splits, run_tasks
from .launch import Run, Spread, into, scalar_type
from .operands import readable

#: Tasks a thread, on average: the paper's measured choice. Read when a matrix meets a strategy first.
CHUNKS_PER_THREAD = 8

Tasks = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # start_row, stop_row, start, stop


def one_task_a_row(ptr: np.ndarray, threads: int) -> Tasks:
    """Granular rows: a task is a row of blocks."""
    rows = np.arange(len(ptr) - 1)
    return rows, rows, ptr[:-1], ptr[1:]


def chunk_size(ptr: np.ndarray, threads: int) -> int:
    """Blocks a task may have at most."""
    return max(1, int(ptr[-1]) // (threads * CHUNKS_PER_THREAD))


def tasks_of_limited_size(ptr: np.ndarray, threads: int) -> Tasks:
    """Fixed maximum task size: rows longer than that are cut."""
    size = chunk_size(ptr, threads)
    pieces = -(-np.diff(ptr) // size)
    rows = np.repeat(np.arange(len(pieces)), pieces)
    number = np.arange(len(rows)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    start = ptr[rows] + number * size
    return rows, rows, start, np.minimum(start + size, ptr[rows + 1])


def tasks_of_equal_size(ptr: np.ndarray, threads: int) -> Tasks:
    """Fixed-size tasks: equal numbers of blocks, across the ends of rows."""
    count = threads * CHUNKS_PER_THREAD
    cuts = np.unique(int(ptr[-1]) * np.arange(count + 1) // count)
    start, stop = cuts[:-1], cuts[1:]
    return np.searchsorted(ptr, start, "right") - 1, np.searchsorted(ptr, stop - 1, "right") - 1, start, stop


def chunk_table(ptr: np.ndarray, size: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """The paper's listing 10: ``chunk_index`` in nonzeros and ``chunk_row``, for blocks of ``size`` entries."""
    count = threads * CHUNKS_PER_THREAD
    stops = int(ptr[-1]) * size * np.arange(1, count + 1) // count
    chunk_row = np.minimum(np.searchsorted(ptr[1:] * size, stops), max(len(ptr) - 2, 0))
    return np.concatenate([[0], stops]), np.concatenate([[0], chunk_row])


def tasks_of_table(chunk_index: np.ndarray, chunk_row: np.ndarray, size: int) -> Tasks:
    """Preprocessed fixed-size tasks: the table read as in listing 9."""
    start, stop = chunk_index[:-1] // size, chunk_index[1:] // size
    some = stop > start
    return chunk_row[:-1][some], chunk_row[1:][some], start[some], stop[some]


def _supports(A: Any, dtype: Any, trans: str) -> bool | str:
    return trans == "N" or "only the product itself, not the transposed one"


def _registered(name: str) -> Callable[..., Any]:
    return dispatch.register("spmv", "bsr", "numpy", name=name, priority=-10, prepare=True, supports=_supports)


def _task_run(A: Any, dtype: np.dtype, tasks: Callable[[], Tasks]) -> Run:
    result = np.result_type(A.dtype, dtype)
    data, indices, ptr, R, C = arrays_of(A)
    share = Spread(run_tasks, (data, indices, ptr, R, C), [(t, t + 1) for t in range(pool.thread_count())])

    def multiply(x: Any, y: Any, alpha: Any, beta: Any) -> None:
        start_row, stop_row, start, stop = (np.ascontiguousarray(a, np.int64) for a in tasks())
        _scale(y, beta)
        edges = np.zeros(2 * len(start) * R, result)
        counter = np.zeros(1, np.int64)

        share(x, y, alpha, start_row, stop_row, start, stop, edges, counter)
        add_edges(y, R, start_row, stop_row, edges)

    return _finish(multiply, A, (len(ptr) - 1) * R, result)


def _split_run(A: Any, dtype: np.dtype, chunked: bool) -> Run:
    result = np.result_type(A.dtype, dtype)
    data, indices, ptr, R, C = arrays_of(A)
    threads = pool.thread_count()
    chunk = chunk_size(ptr, threads) if chunked else 0
    share = Spread(run_splits, (data, indices, ptr, R, C), [(t, t + 1) for t in range(threads)])

    def multiply(x: Any, y: Any, alpha: Any, beta: Any) -> None:
        sums = np.zeros((threads, len(y)), result)
        share(x, sums.reshape(-1), threads, chunk)
        _scale(y, beta)
        for part in sums:
            y += result.type(alpha) * part

    return _finish(multiply, A, (len(ptr) - 1) * R, result)


def _scale(y: np.ndarray, beta: Any) -> None:
    if beta == 0:
        y[:] = 0
    elif beta != 1:
        y *= y.dtype.type(beta)


def _finish(multiply: Callable[..., None], A: Any, rows: int, result: np.dtype) -> Run:
    scalar = scalar_type(result)

    def run(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        x = readable(x)
        if y is None:
            y = np.empty(rows, result)
            multiply(x, y, scalar(alpha), scalar(0))
            return y
        return into(multiply, x, y, scalar(alpha), scalar(beta))

    return over_the_edge(run, A.shape, A.blocksize)


@_registered("granular_rows")
def granular_rows(A: Any, dtype: np.dtype, trans: str) -> Run:
    tasks = one_task_a_row(A.indptr, 1)
    return _task_run(A, dtype, lambda: tasks)


@_registered("naive_intra_row_splits")
def naive_intra_row_splits(A: Any, dtype: np.dtype, trans: str) -> Run:
    return _split_run(A, dtype, chunked=False)


@_registered("intra_row_splits")
def intra_row_splits(A: Any, dtype: np.dtype, trans: str) -> Run:
    return _split_run(A, dtype, chunked=True)


@_registered("fixed_max_task_size")
def fixed_max_task_size(A: Any, dtype: np.dtype, trans: str) -> Run:
    ptr, threads = A.indptr, pool.thread_count()
    return _task_run(A, dtype, lambda: tasks_of_limited_size(ptr, threads))


@_registered("fixed_size_tasks")
def fixed_size_tasks(A: Any, dtype: np.dtype, trans: str) -> Run:
    ptr, threads = A.indptr, pool.thread_count()
    return _task_run(A, dtype, lambda: tasks_of_equal_size(ptr, threads))


@_registered("preprocessed_fixed_size_tasks")
def preprocessed_fixed_size_tasks(A: Any, dtype: np.dtype, trans: str) -> Run:
    threads, size = pool.thread_count(), A.blocksize[0] * A.blocksize[1]
    key = ("chunk_index, chunk_row", threads, CHUNKS_PER_THREAD)
    chunk_index, chunk_row = A._plan(key, lambda A: chunk_table(A.indptr, size, threads))
    tasks = tasks_of_table(chunk_index, chunk_row, size)
    return _task_run(A, dtype, lambda: tasks)
