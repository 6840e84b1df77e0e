"""Launchers of the diagonal family: CDS, HM and CDM share one gather kernel over ``A._diagonals(trans)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spformats import dispatch

from . import diagonal_source, diagonal_spmm_source, launch, pool
from .caches import last_cache_bytes
from .launch import PER_THREAD, Run, by_turns, is_large, matrix_run, split, vector_run
from .registers import run_bytes

FORMATS = ("cds", "hm", "cdm")
_SAMPLE = 64
#: Bytes of x read in between after which the second-level cache lacks what was read before.
FORGOTTEN = 1 << 18


def _is_constant(values: np.ndarray) -> bool:
    """Whether all values are one number; NaN never is."""
    head = values[:_SAMPLE]
    return values.size > 1 and bool((head == head[0]).all()) and bool((values == values[0]).all())


class Table(NamedTuple):
    """Diagonals of op(A) that have an entry, those that are one number apart.

    Entry (i, i + offsets[k]) is ``flat[base[k] + i]``; all entries of ``const_offsets[k]`` are ``flat[const_at[k]]``.
    """

    flat: np.ndarray
    base: np.ndarray
    offsets: np.ndarray
    const_at: np.ndarray
    const_offsets: np.ndarray
    rows: int
    cols: int


def table(A: Any, trans: str) -> Table:
    """Read A's diagonals once and find the constant ones."""
    flat, base, offsets = A._diagonals(trans)
    flat, base, offsets = np.asarray(flat).reshape(-1), np.asarray(base, np.int64), np.asarray(offsets, np.int64)
    rows, cols = A.shape if trans == "N" else A.shape[::-1]
    first = np.maximum(0, -offsets)
    last = np.minimum(rows, cols - offsets)
    keep = last > first
    base, offsets, first, last = base[keep], offsets[keep], first[keep], last[keep]
    constant = np.array(
        [_is_constant(flat[b + i : b + j]) for b, i, j in zip(base, first, last, strict=True)], dtype=bool
    )
    at = (base + first)[constant]
    return Table(flat, base[~constant], offsets[~constant], at, offsets[constant], rows, cols)


def _table(A: Any, trans: str) -> Table:
    return A._plan(("numba diagonals", trans), lambda A: table(A, trans))


def _bytes(A: Any, t: Table, dtype: np.dtype, result: np.dtype) -> tuple[int, int]:
    """Bytes of the stored diagonals, and of x and y per column."""
    return t.rows * len(t.base) * A.dtype.itemsize, t.rows * result.itemsize + t.cols * dtype.itemsize


@dispatch.register("spmv", FORMATS, "numpy", name="numba", priority=10, prepare=True)
def prepare_spmv(A: Any, dtype: np.dtype, trans: str) -> Run:
    t = _table(A, trans)
    result = np.result_type(A.dtype, dtype)
    conj = trans == "C" and A.dtype.kind == "c"
    nbytes = sum(_bytes(A, t, dtype, result))
    width = 64 if result.itemsize == 4 else 32  # four registers of 64 bytes, of float32 and float64
    kernel = diagonal_source.spmv(conj, width, run_bytes(), launch.STREAMED)
    values = t.flat[t.const_at]
    arrays = (t.flat, t.base, t.offsets, values.conj() if conj else values, t.const_offsets, t.cols)
    return vector_run(kernel, arrays, t.rows, result, split(t.rows, nbytes))


@dispatch.register("spmm", FORMATS, "numpy", name="numba", priority=10, prepare=True)
def prepare_spmm(A: Any, dtype: np.dtype, trans: str) -> Run:
    t = _table(A, trans)
    result = np.result_type(A.dtype, dtype)
    matrix_bytes, column_bytes = _bytes(A, t, dtype, result)
    conj = trans == "C" and A.dtype.kind == "c"
    base, offsets = np.concatenate([t.base, t.const_at]), np.concatenate([t.offsets, t.const_offsets])
    # rows of x between a diagonal and the one that reads them before it; the highest reads what none has read
    falling = np.argsort(-offsets)
    apart = np.empty_like(offsets)
    apart[falling] = -np.diff(offsets[falling], prepend=t.rows + t.cols)

    def choose(k: int) -> tuple[Callable[..., Any], tuple]:
        streamed = launch.STREAMED if is_large(matrix_bytes + k * column_bytes) else None
        asked = apart * k * dtype.itemsize > FORGOTTEN
        arrays = (t.flat, base, offsets, asked, len(t.base), t.cols)
        return diagonal_spmm_source.spmm(k, result.itemsize, conj, streamed), arrays

    def ranges(k: int) -> list[tuple[int, int]]:
        each = _per_thread(t.rows, offsets, k * dtype.itemsize)
        cuts = split(t.rows, matrix_bytes + k * column_bytes, per_thread=each)
        return by_turns(cuts) if each > PER_THREAD else cuts

    return matrix_run(choose, t.rows, result, ranges)


def _per_thread(rows: int, offsets: np.ndarray, row_bytes: int) -> int:
    """How many ranges each thread gets: more where the parts of x that threads far apart read fill the last cache.

    Such a part is as long as the diagonals reach, and a quarter of the cache is what y, the matrix and others leave to
    all of them. With ranges of a quarter of a part, threads follow each other closely and share it.
    """
    window = int(np.ptp(offsets)) if len(offsets) else 0
    threads = pool.thread_count()
    if window * row_bytes * threads <= last_cache_bytes() // 4:
        return PER_THREAD
    return max(PER_THREAD, 4 * rows // (window * threads))
