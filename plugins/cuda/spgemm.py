"""Sparse × sparse products of CSR and BSR arrays: the pattern by hash tables, the values in the order of A's rows.

Rows of the result are sorted into classes by how many products they take, and each class has its number of threads a
row and its place for the hash table: shared memory while it fits. The values are added up without atomics, so the
same bits come in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats import BSR, CSR, _arrays
from spformats.formats.device import at_home
from spformats_plugins.cuda import runtime

BLOCK = 256
#: (most columns a row of the result may have, slots of its hash table, threads a row); the last class has its tables
#: in global memory.
CLASSES = ((48, 64, 8), (400, 512, 32), (3200, 4096, BLOCK), (None, 0, BLOCK))
#: Bytes of all hash tables in global memory.
TABLES = 1 << 28
#: Products of one row from which a whole block adds them up.
LONG = 1 << 14


@dispatch.register("spgemm", ("csr", "bsr"), "cupy", name="cuda")
@at_home
def spgemm(A: Any, B: Any) -> Any:
    """``A @ B`` of two CSR arrays, or of two BSR arrays whose blocks fit."""
    return _Product(A, B).result()


class _Product:
    """One product: the arrays of both operands, and how many products each row of the result takes."""

    def __init__(self, A: Any, B: Any):
        self.A, self.B = A, B
        self.xp = _arrays.xp_of(A.data)
        wide = np.result_type(A.indices.dtype, B.indices.dtype)
        self.a_cols, self.b_cols = (M.indices.astype(wide, copy=False) for M in (A, B))
        self.height, self.inner = getattr(A, "blocksize", (1, 1))
        self.width = getattr(B, "blocksize", (1, 1))[1]
        self.rows, self.cols = A.indptr.shape[0] - 1, -(-B.shape[1] // self.width)
        if self.rows * self.cols > np.iinfo(np.int64).max:
            raise ValueError(f"the product has {self.rows} × {self.cols} places, more than a 64-bit number tells apart")
        self.types = runtime.types(A.dtype, B.dtype, wide, once=False)
        self.index = wide
        lengths = self.xp.diff(B.indptr)
        before = _arrays.pointers(lengths[self.a_cols])
        self.work = before[A.indptr[1:]] - before[A.indptr[:-1]]

    def result(self) -> Any:
        """The product, in the format of the operands."""
        xp, A, B = self.xp, self.A, self.B
        lengths = xp.zeros(self.rows, dtype=np.int64)
        nothing = xp.zeros(1, dtype=np.int64)
        self._pattern(0, lengths, nothing, nothing)
        c_ptr = _arrays.pointers(lengths)
        keys = xp.empty(int(c_ptr[-1]), dtype=np.int64)
        self._pattern(1, lengths, c_ptr, keys)
        keys.sort()
        c_cols = (keys % max(self.cols, 1)).astype(self.index)
        blocks = (self.height, self.width)
        data = xp.zeros(keys.shape + (blocks if isinstance(A, BSR) else ()), dtype=np.result_type(A.dtype, B.dtype))
        self._values(c_ptr, c_cols, data)
        shape = (A.shape[0], B.shape[1])
        if isinstance(A, BSR):
            indices = c_cols.astype(_arrays.index_dtype(shape[1]), copy=False)
            return BSR._build({"data": data, "indices": indices, "indptr": c_ptr}, shape, blocksize=blocks)
        return CSR._made(data, c_cols, c_ptr, shape)

    def _pattern(self, fill: int, lengths: Any, c_ptr: Any, keys: Any) -> None:
        bound = self.xp.minimum(self.work, self.cols)
        least = 0
        for most, slots, group in CLASSES:
            inside = (bound > least) & (bound <= most) if most else bound > least
            rows = self.xp.flatnonzero(inside)
            least = most
            if not rows.size:
                continue
            size = slots or 1 << (int(bound[rows].max()) * 5 // 4).bit_length()
            at_once = BLOCK // group
            grid = -(-rows.size // at_once)
            tables = self.a_cols
            if not slots:
                grid = max(1, min(grid, 4096, TABLES // (size * self.index.itemsize)))
                tables = self.xp.empty(grid * size, dtype=self.index)
            macros = (*self.types, ("GROUP", group), ("BLOCK", BLOCK), ("TABLE", slots), ("FILL", fill))
            args = (np.int64(rows.size), rows, *self._a()[:2], self.B.indptr, self.b_cols)
            tail = (np.int64(self.cols), lengths, c_ptr, keys, tables, np.int64(size))
            runtime.kernel("spgemm.cuh", "pattern", macros)((grid,), (BLOCK,), (*args, *tail))

    def _values(self, c_ptr: Any, c_cols: Any, data: Any) -> None:
        for rows, group in self._shares():
            blocks = (("HEIGHT", self.height), ("INNER", self.inner), ("WIDTH", self.width))
            macros = (*self.types, ("GROUP", group), ("BLOCK", BLOCK), *blocks)
            args = (np.int64(rows.size), rows, *self._a(), self.B.indptr, self.b_cols, self.B.data)
            grid = (-(-rows.size * group // BLOCK),)
            runtime.kernel("spgemm.cuh", "values", macros)(grid, (BLOCK,), (*args, c_ptr, c_cols, data))

    def _shares(self) -> Iterator[tuple[Any, int]]:
        """Rows of the result, and how many threads add up each: by the length of B's rows, a block for a long one."""
        products = self.work * (self.height * self.width)
        steps = max(1, self.a_cols.shape[0])
        group = min(32, max(4, 1 << (int(products.sum()) // steps).bit_length()))
        for rows, threads in (((products > 0) & (products <= LONG), group), (products > LONG, BLOCK)):
            listed = self.xp.flatnonzero(rows)
            if listed.size:
                yield listed, threads

    def _a(self) -> tuple[Any, Any, Any]:
        return self.A.indptr, self.a_cols, self.A.data
