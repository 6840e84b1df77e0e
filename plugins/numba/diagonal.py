"""Launchers of the diagonal family: CDS, HM and CDM share one gather kernel over ``A._diagonals(trans)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats import dispatch

from . import diagonal_kernels, diagonal_spmm_source
from .launch import Run, matrix_run, split, vector_run

FORMATS = ("cds", "hm", "cdm")
_SAMPLE = 64


def _is_constant(values: np.ndarray) -> bool:
    """Whether all values are one number; NaN never is."""
    head = values[:_SAMPLE]
    return values.size > 1 and bool((head == head[0]).all()) and bool((values == values[0]).all())


def table(A: Any, trans: str) -> tuple:
    """Diagonals of op(A), constant ones apart: (flat, base, offsets, constants, their offsets, rows, cols)."""
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
    values = flat[(base + first)[constant]]
    if trans == "C":
        values = values.conj()
    return flat, base[~constant], offsets[~constant], values, offsets[constant], rows, cols


def _table(A: Any, trans: str) -> tuple:
    return A._plan(("numba diagonals", trans), lambda A: table(A, trans))


@dispatch.register("spmv", FORMATS, "numpy", name="numba", priority=10, prepare=True)
def prepare_spmv(A: Any, dtype: np.dtype, trans: str) -> Run:
    flat, base, offsets, values, const_offsets, rows, cols = _table(A, trans)
    result = np.result_type(A.dtype, dtype)
    nbytes = rows * (len(base) * A.dtype.itemsize + result.itemsize) + cols * dtype.itemsize
    kernel = diagonal_kernels.spmv_conj if trans == "C" and A.dtype.kind == "c" else diagonal_kernels.spmv
    return vector_run(kernel, (flat, base, offsets, values, const_offsets, cols), rows, result, split(rows, nbytes))


@dispatch.register("spmm", FORMATS, "numpy", name="numba", priority=10, prepare=True)
def prepare_spmm(A: Any, dtype: np.dtype, trans: str) -> Run:
    flat, base, offsets, values, const_offsets, rows, cols = _table(A, trans)
    result = np.result_type(A.dtype, dtype)
    matrix_bytes = rows * len(base) * A.dtype.itemsize
    column_bytes = rows * result.itemsize + cols * dtype.itemsize
    kernel = diagonal_spmm_source.spmm(trans == "C" and A.dtype.kind == "c")
    arrays = (flat, base, offsets, values, const_offsets, cols)
    return matrix_run(lambda k: kernel, arrays, rows, result, lambda k: split(rows, matrix_bytes + k * column_bytes))
