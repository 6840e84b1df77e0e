"""Launchers of the formats that keep rows: CSR, ELL, JAD and PJAD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spformats import dispatch

from . import blocked_source, csr_kernels, csr_spmm_source, far_reads, launch, pool, strip_spmm_source
from .launch import SERIAL_ROWS, Run, heavy_first, is_large, matrix_run, prefetch_distance, split, vector_run
from .long_rows import between, long_rows, with_long_rows, without
from .operands import readable
from .registers import foresees_rows
from .row_kernels import BLOCKED, CLEAN, JAGGED, ROWS, SPMV, STRIDED
from .scatter import Scatter, scatter_run
from .scatter_kernels import SCATTER, WINDOW
from .simd_memory import LINE

FORMATS = ("csr", "ell", "jad", "pjad")
#: Mean row length up to which CSR is prefetched for several columns: the hardware notices longer rows itself, and
#: those of half the length too where it foresees rows.
SHORT = 32
#: Columns up to which a large result is written past the caches by CSR. Up to the second number, only where y is a good
#: part of what is moved (rows of ``TINY`` entries), by threads that share the memory: a row of y begins and ends within
#: a cache line, and its parts get in the way of reads from memory.
STREAMED_COLUMNS, TINY = (8, 16), 8


class Rows(NamedTuple):
    """The arrays of a format as the kernels of `row_kernels` take them."""

    layout: int
    data: np.ndarray
    indices: np.ndarray
    ptr: np.ndarray
    rlen: np.ndarray
    perm: np.ndarray
    step: int
    align: int  # ranges of rows begin at multiples of it
    weights: np.ndarray  # monotone, one more than rows: work before each row

    @property
    def arrays(self) -> tuple:
        return self.data, self.indices, self.ptr, self.rlen, self.perm, self.step


def rows_of(A: Any) -> Rows:
    """Describe A's arrays to the row kernels."""
    n = A.shape[0]
    none = np.empty(0, np.int32)
    if A.format == "csr":
        arrays = readable(A.data), readable(A.indices), readable(A.indptr)
        return Rows(ROWS, *arrays, none, none, 1, 1, A.indptr)
    weights = np.zeros(n + 1, np.int64)
    np.cumsum(A.rlen, out=weights[1:])
    if A.format == "ell":
        flat = clean(STRIDED, A.data.T.reshape(-1), A.indices.T.reshape(-1), np.empty(0, np.int64), A.rlen, n)
        return Rows(STRIDED, *flat, np.empty(0, np.int64), A.rlen, none, n, 8, weights)
    if A.format == "pjad" and A.sigma is not None:
        flat = clean(BLOCKED, A.data, A.indices, A.block_ptr, A.rlen, A.bsize)
        return Rows(BLOCKED, *flat, A.block_ptr, A.rlen, A.perm, A.bsize, A.bsize, weights)
    return Rows(JAGGED, readable(A.data), readable(A.indices), A.jd_ptr, A.rlen, A.perm, 1, 8, weights)


def clean(
    layout: int, data: np.ndarray, indices: np.ndarray, ptr: np.ndarray, rlen: np.ndarray, step: int
) -> tuple[np.ndarray, np.ndarray]:
    """Values and indices whose padding a kernel may multiply: the arrays themselves, or mended copies.

    Our own conversions fill padding with zeros, but a format's constructor takes any.
    """
    check = CLEAN[layout]
    width = data.size // step if layout == STRIDED and step else 0
    more = (readable(ptr), readable(rlen), step, width)
    data, indices = readable(data), readable(indices)
    if check(data, indices, *more, False):
        return data, indices
    data, indices = data.copy(), indices.copy()
    check(data, indices, *more, True)
    return data, indices


def _nbytes(A: Any, rows: Rows, dtype: np.dtype, result: np.dtype) -> tuple[int, int]:
    """Bytes of the stored entries, and of x and y per column."""
    n, m = A.shape
    entries = int(rows.weights[-1]) * (A.dtype.itemsize + A.indices.itemsize)
    return entries, n * result.itemsize + m * dtype.itemsize


@dispatch.register("spmv", FORMATS, "numpy", name="numba", priority=10, prepare=True)
def prepare_spmv(A: Any, dtype: np.dtype, trans: str) -> Run:
    return _prepare(A, dtype, trans, matrix=False)


@dispatch.register("spmm", FORMATS, "numpy", name="numba", priority=10, prepare=True)
def prepare_spmm(A: Any, dtype: np.dtype, trans: str) -> Run:
    return _prepare(A, dtype, trans, matrix=True)


def _prepare(A: Any, dtype: np.dtype, trans: str, *, matrix: bool) -> Run:
    rows = A._plan("numba rows", rows_of)
    result = np.result_type(A.dtype, dtype)
    fixed, column = _nbytes(A, rows, dtype, result)
    if trans != "N":
        return scatter_run(_scatter(A, rows, trans), A.shape[1], dtype, result, fixed + column, matrix=matrix)
    long = long_rows(rows, pool.thread_count()) if fixed >= SERIAL_ROWS else None
    skipped: list[int] = []
    if long is not None:
        rows = without(rows, long)
        skipped = long.places.tolist() if rows.layout == ROWS else []
    (n, m), weights, align = A.shape, rows.weights, rows.align

    def ranges(k: int) -> list:
        ascending = split(n, fixed + k * column, weights, align, serial=SERIAL_ROWS)
        return heavy_first(between(ascending, skipped), weights)

    if matrix:
        notes: dict = A._plan("numba far reads", lambda A: {})

        def choose(k: int) -> tuple[Callable[..., Any], tuple]:
            if rows.layout == ROWS:
                return _csr_spmm(rows, (n, m), k, dtype, result, notes)
            return strip_spmm_source.spmm(rows.layout, k), rows.arrays

        run = matrix_run(choose, n, result, ranges)
    else:
        # without long rows it depends on the matrix alone: operands of another type share what it holds
        made = A._plan("numba spmv", lambda A: _spmv_kernel(rows)) if long is None else _spmv_kernel(rows)
        kernel, arrays = made
        run = vector_run(kernel, arrays, n, result, ranges(1))
    return run if long is None else with_long_rows(run, long, result)


def _csr_spmm(
    rows: Rows, shape: tuple[int, int], k: int, dtype: np.dtype, result: np.dtype, notes: dict[int, Any]
) -> tuple[Callable[..., Any], tuple]:
    """The kernel of CSR times k columns of this type, and its arrays; ``notes`` keeps the far reads."""
    (n, m), entries = shape, len(rows.data)
    short = entries <= (SHORT // 2 if foresees_rows() else SHORT) * n
    far = prefetch_distance(rows.data) if short else 0
    found = None
    if far_reads.come_from_memory(m * k * dtype.itemsize):
        like = far_reads.alike(k * dtype.itemsize)
        if like not in notes:
            notes[like] = far_reads.far_reads(rows.indices, rows.ptr, like)
        found = notes[like]
    foreseen = tuple(found) if found is not None else (np.empty(0, np.int64), np.empty(0, rows.indices.dtype))
    tiny = entries <= TINY * n and found is None and pool.thread_count() > 1
    streamed = launch.STREAMED if k <= STREAMED_COLUMNS[tiny] else None
    kernel = csr_spmm_source.spmm(k, result == np.float32, far, found is not None, streamed)
    return kernel, (*rows.arrays[:3], *foreseen)


def _far(values: np.ndarray, at_once: int) -> int:
    """The prefetch distance of a kernel that reads so many values at once; less than a line is not worth asking for."""
    return prefetch_distance(values) if at_once * values.itemsize >= LINE and not foresees_rows() else 0


def _spmv_kernel(rows: Rows) -> tuple[Callable[..., Any], tuple]:
    """The kernel of one product with a vector, and its arrays."""
    if rows.layout == ROWS:
        width = csr_kernels.width_for(len(rows.ptr) - 1, len(rows.data), rows.data.itemsize)
        return csr_kernels.spmv(width, _far(rows.data, csr_kernels.WIDTH)), rows.arrays[:3]
    if rows.layout != BLOCKED:
        return SPMV[rows.layout], rows.arrays
    group = blocked_source.group_size(rows.step)
    in_order = bool((rows.perm == np.arange(len(rows.perm))).all())
    # signed: the fewer bytes the better
    rlen = rows.rlen.astype(np.min_scalar_type(-int(rows.rlen.max(initial=0)) - 1))
    longest = np.empty(len(rlen) // group if group else 0, rlen.dtype)
    blocked_source.longest_of_groups(rlen, group, longest)
    indices, bases = _narrow(rows)
    arrays = (*rows._replace(rlen=rlen, indices=indices).arrays, longest, bases)
    return blocked_source.spmv(group, in_order, _far(rows.data, group), bases.size > 0), arrays


def _narrow(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Column indices of 16 bits, and what each block counts them from, if the matrix is large and they fit."""
    if not is_large(rows.data.nbytes):
        return rows.indices, np.empty(0, np.int64)
    narrow, bases = np.empty(len(rows.indices), np.uint16), np.empty(len(rows.ptr) - 1, np.int64)
    of = (readable(a) for a in (rows.indices, rows.ptr, rows.rlen))
    fit = blocked_source.narrowed(*of, rows.step, narrow, bases)
    return (narrow, bases) if fit else (rows.indices, np.empty(0, np.int64))


def _scatter(A: Any, rows: Rows, trans: str) -> Scatter:
    conj = trans == "C" and A.dtype.kind == "c"
    window = WINDOW[rows.layout]
    indices, ptr, rlen, step = rows.indices, rows.ptr, rows.rlen, rows.step
    return Scatter(
        SCATTER[rows.layout, conj],
        rows.arrays,
        lambda lo, hi: window(indices, ptr, rlen, step, lo, hi),
        rows.weights,
        rows.align,
    )
