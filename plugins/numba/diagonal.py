"""Launchers of the diagonal family: CDS, HM and CDM share one gather kernel over ``A._diagonals(trans)``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spformats import dispatch

from . import diagonal_source, diagonal_spmm_source, launch
from .launch import Run, is_large, matrix_run, split, vector_run

FORMATS = ("cds", "hm", "cdm")
_SAMPLE = 64


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
    kernel = diagonal_source.spmv(conj, width, launch.STREAMED)
    values = t.flat[t.const_at]
    arrays = (t.flat, t.base, t.offsets, values.conj() if conj else values, t.const_offsets, t.cols)
    return vector_run(kernel, arrays, t.rows, result, split(t.rows, nbytes))


def _ranges(rows: int, matrix_bytes: int, column_bytes: int, k: int) -> list[tuple[int, int]]:
    return split(rows, matrix_bytes + k * column_bytes)


@dispatch.register("spmm", FORMATS, "numpy", name="numba", priority=10, prepare=True)
def prepare_spmm(A: Any, dtype: np.dtype, trans: str) -> Run:
    t = _table(A, trans)
    result = np.result_type(A.dtype, dtype)
    matrix_bytes, column_bytes = _bytes(A, t, dtype, result)
    conj = trans == "C" and A.dtype.kind == "c"
    steps = np.repeat([1, 0], [len(t.base), len(t.const_at)])
    base, offsets = np.concatenate([t.base, t.const_at]), np.concatenate([t.offsets, t.const_offsets])
    arrays = (t.flat, base, steps, offsets, t.cols)
    ranges = partial(_ranges, t.rows, matrix_bytes, column_bytes)

    def choose(k: int) -> tuple[Callable[..., Any], tuple]:
        far = diagonal_spmm_source.FAR if is_large(matrix_bytes + k * column_bytes) else 0
        return diagonal_spmm_source.spmm(k, conj, far), arrays

    return matrix_run(choose, t.rows, result, ranges)
