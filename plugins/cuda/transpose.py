"""The transpose of a matrix as CSR or BSR arrays, made on the device.

A transposed product gathers along these rows: no two threads add to the same entry, so the result is the same in every
run. It costs the memory of a second matrix, kept as a plan of the first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spformats.formats import _arrays


class Rows(NamedTuple):
    """A matrix in CSR: `shape` is that of the matrix these arrays describe."""

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]


def csr_transpose(A: Any) -> Rows:
    """CSR arrays of ``A.T``, from any format."""
    csr = A.to_csr()
    order, columns, indptr = sorted_by_column(csr.indices, csr.indptr, A.shape[1])
    return Rows(csr.data[order], columns, indptr, (A.shape[1], A.shape[0]))


def block_transpose(A: Any) -> tuple[Any, Any, Any]:
    """``(data, indices, indptr)`` of ``A.T`` in BSR, for A in BSR."""
    xp = A._library
    width = A.blocksize[1]
    order, columns, indptr = sorted_by_column(A.indices, A.indptr, -(-A.shape[1] // width))
    return xp.ascontiguousarray(A.data[order].transpose(0, 2, 1)), columns, indptr


def sorted_by_column(indices: Any, indptr: Any, columns: int) -> tuple[Any, Any, Any]:
    """The order that sorts entries by column, their rows in that order, and where each column begins."""
    xp = _arrays.xp_of(indices)
    order = xp.argsort(indices, kind="stable")
    rows = _arrays.rows_of(indptr, indices.dtype)[order]
    return order, rows, _arrays.pointers(xp.bincount(indices, minlength=columns)).astype(np.int64)
