"""Launchers of BSR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats import dispatch

from . import bsr_rows_source, bsr_scatter_source, bsr_source, bsr_spmm_source, bsr_vector_source
from .launch import Run, heavy_first, is_large, matrix_run, prefetch_distance, split, vector_run
from .operands import readable
from .registers import foresees_rows
from .scatter import Scatter, scatter_run
from .scatter_kernels import block_window

#: Entries of the blocks that are written out, and rows or columns up to which the compiler knows how many a block has.
LARGEST, LONGEST = 64, 8
#: Bytes of the vectors that rows of blocks are read in.
VECTOR = 32
#: Entries of a block from which on its rows are done together, with few columns and with more than FEW_COLUMNS.
HIGH, FEW_COLUMNS = (36, 65), 32
#: From which on double precision is read as vectors, whose lanes are summed at the end of a row: blocks in a row for
#: blocks as one run, entries of a row for row by row.
LONG_ROW, LONG_ROW_OF_ENTRIES = 8, 16
#: Bytes of a block up to which asking ahead pays on a CPU whose prefetchers foresee rows: it must look for a place in x
#: so often that it falls behind them.
SMALL_BLOCK = 96


def spmv_kernel(A: Any) -> Callable[..., Any]:
    """The kernel of y = A x for A's block size and values."""
    (R, C), itemsize = A.blocksize, A.dtype.itemsize
    asks = R * C * itemsize <= SMALL_BLOCK or not foresees_rows()
    far = prefetch_distance(A.data) if asks else 0
    if _by_rows(A):
        return bsr_rows_source.spmv(R, C, min(VECTOR // itemsize, 1 << (C - 1).bit_length()), far)
    single = A.dtype in (np.float32, np.complex64)
    return (bsr_vector_source if single or _has_long_rows(A) else bsr_source).spmv(R, C, far)


def _by_rows(A: Any) -> bool:
    """Whether the rows of a block are read as vectors of their own."""
    R, C = A.blocksize
    if R * C > LARGEST or C > LONGEST:
        return True
    if A.dtype == np.complex128:
        return C > 1 and _has_long_rows(A)
    return A.dtype == np.float64 and R > 1 and C >= 4 and _blocks_in_a_row(A) * C >= LONG_ROW_OF_ENTRIES


def _has_long_rows(A: Any) -> bool:
    return _blocks_in_a_row(A) >= LONG_ROW


def _blocks_in_a_row(A: Any) -> float:
    """How many there are on average."""
    return len(A.indices) / max(1, len(A.indptr) - 1)


def _known(count: int, A: Any) -> int | None:
    """The rows or columns of a block where the compiler shall know them: where that saves more than it takes."""
    return count if count <= LONGEST and is_large(A.data.nbytes) else None


def arrays_of(A: Any) -> tuple:
    """What every BSR kernel takes first: values and block columns flat, pointers, block size."""
    return readable(A.data.reshape(-1)), readable(A.indices), readable(A.indptr), *A.blocksize


def _bytes(A: Any, dtype: np.dtype, result: np.dtype) -> tuple[int, int]:
    """Bytes of the matrix, and of x and y per column."""
    return A.data.nbytes + A.indices.nbytes, A.shape[0] * result.itemsize + A.shape[1] * dtype.itemsize


@dispatch.register("spmv", "bsr", "numpy", name="numba", priority=10, prepare=True)
def prepare_spmv(A: Any, dtype: np.dtype, trans: str) -> Run:
    result = np.result_type(A.dtype, dtype)
    if trans != "N":
        return _transposed(A, dtype, result, trans, matrix=False)
    block_rows = len(A.indptr) - 1
    R, C = A.blocksize
    ranges = heavy_first(split(block_rows, sum(_bytes(A, dtype, result)), A.indptr), A.indptr)
    run = vector_run(spmv_kernel(A), arrays_of(A), block_rows * R, result, ranges)
    return over_the_edge(run, A.shape, (R, C))


@dispatch.register("spmm", "bsr", "numpy", name="numba", priority=10, prepare=True)
def prepare_spmm(A: Any, dtype: np.dtype, trans: str) -> Run:
    result = np.result_type(A.dtype, dtype)
    if trans != "N":
        return _transposed(A, dtype, result, trans, matrix=True)
    R, C = A.blocksize
    indptr, block_rows = A.indptr, len(A.indptr) - 1
    matrix_bytes, column_bytes = _bytes(A, dtype, result)
    arrays = arrays_of(A)
    fours, rest = divmod(R, bsr_spmm_source.ROWS)
    columns = _known(C, A)  # here: a kernel's choice that knew the matrix would keep it

    def choose(k: int) -> tuple[Callable[..., Any], tuple]:
        high = R > bsr_spmm_source.ROWS and R * C >= HIGH[k > FEW_COLUMNS]
        return bsr_spmm_source.spmm(fours > 0, rest, columns, high), arrays

    run = matrix_run(
        choose,
        block_rows * R,
        result,
        lambda k: heavy_first(split(block_rows, matrix_bytes + k * column_bytes, indptr), indptr),
    )
    return over_the_edge(run, A.shape, (R, C))


def _transposed(A: Any, dtype: np.dtype, result: np.dtype, trans: str, *, matrix: bool) -> Run:
    R, C = A.blocksize
    conj = trans == "C" and A.dtype.kind == "c"
    if matrix:
        kernel = bsr_scatter_source.panels(_known(R, A), _known(C, A), conj)
    elif R * C <= LARGEST:
        kernel = bsr_scatter_source.small(R, C, conj)
    else:
        kernel = bsr_scatter_source.large(R % bsr_scatter_source.ROWS, conj)
    arrays = arrays_of(A)
    indices, indptr = arrays[1], arrays[2]
    plan = Scatter(kernel, arrays, lambda lo, hi: block_window(indices, indptr, C, lo, hi), indptr, 1)
    size = -(-A.shape[1] // C) * C
    run = scatter_run(plan, size, dtype, result, sum(_bytes(A, dtype, result)), matrix=matrix)
    return over_the_edge(run, A.shape[::-1], (C, R))


def over_the_edge(run: Run, shape: tuple[int, int], blocksize: tuple[int, int]) -> Run:
    """Wrap a ``run`` over whole blocks for a shape they do not divide: zeros behind x, the last rows of y cut off."""
    (n, m), (R, C) = shape, blocksize
    rows, cols = -(-n // R) * R, -(-m // C) * C
    if (rows, cols) == (n, m):
        return run

    def padded(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        if cols != m:
            whole = np.zeros((cols, *x.shape[1:]), x.dtype)
            whole[:m] = x
            x = whole
        if y is None:
            return run(A, x, None, alpha, 0)[:n]
        work = np.zeros((rows, *y.shape[1:]), y.dtype)
        if beta != 0:
            work[:n] = y
        run(A, x, work, alpha, beta)
        y[...] = work[:n]
        return y

    return padded
