"""Products of CDS, HM and CDM, plain, transposed and symmetric: one gather kernel over the table of diagonals."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from spformats import dispatch
from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.product import Product, columns_layout

FORMATS = ("cds", "hm", "cdm")
BLOCK = 256
#: Up to so many diagonals the loop over them is unrolled and the table travels as a kernel parameter.
UNROLLED = 32
#: From so many stored values on, the table is written into the source: a compilation (about half a second, then cached
#: on disk) for a few percent in every product.
SPECIALISED = 1 << 22


class Table:
    """The diagonals of op(A), and how the kernel is told of them."""

    def __init__(self, A: Any, trans: str):
        self.flat, base, offsets = A._diagonals(trans)
        self.rows, self.cols = A.shape if trans == "N" else A.shape[::-1]
        self.base, self.offsets = base.astype(np.int64), offsets.astype(np.int64)
        nd = offsets.shape[0]
        self.args: tuple[Any, ...]
        self.low = max(0, -int(offsets.min())) if nd else 0
        self.high = min(self.rows, self.cols - int(offsets.max())) if nd else self.rows
        self.once = runtime.passes_once(self.flat)
        if nd == 0 or nd > UNROLLED:
            xp = A._library
            self.kind = 3
            self.args = (xp.asarray(self.base), xp.asarray(self.offsets), np.int32(nd))
        elif nd * self.rows >= SPECIALISED:
            self.kind, self.args = 1, ()
        else:
            self.kind, self.args = 2, (runtime.by_value(np.concatenate([self.base, self.offsets])),)

    def macros(self) -> tuple[tuple[str, Any], ...]:
        if self.kind == 3:
            return (("TABLE", 3), ("BLOCK", BLOCK))
        macros = (("TABLE", self.kind), ("ND", len(self.offsets)), ("BLOCK", BLOCK))
        if self.kind == 2:
            return macros
        lists = (("OFFSETS", self.offsets), ("BASES", self.base))
        return macros + tuple((name, ",".join(f"{v}LL" for v in values.tolist())) for name, values in lists)

    def rows_per_thread(self) -> tuple[int, int]:
        """``(V, ALIGNED)``: rows per thread, and whether their values come in one load."""
        v = max(1, 16 // self.flat.dtype.itemsize)
        aligned = not runtime.address(self.flat) & 15
        if self.kind == 1:  # the compiler sees which diagonals are aligned
            return v, int(aligned)
        return min(v, 2), int(aligned and not (self.base % min(v, 2)).any())


def leading(table: Table) -> tuple[Any, ...]:
    numbers = (table.rows, table.cols, table.low, table.high)
    return (*map(np.int64, numbers), table.flat, *table.args)


@dispatch.register("spmv", FORMATS, "cupy", name="cuda", priority=10, prepare=True)
@runtime.prepared_at_home
def prepare_spmv(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ x`` for a vector of this dtype."""
    table = Table(A, trans)
    v, vector = table.rows_per_thread()
    macros = runtime.types(A.dtype, dtype, conjugate=trans == "C", once=table.once)
    launch_kernel = runtime.kernel("diagonals.cuh", "spmv", (*macros, *table.macros(), ("RUN", v), ("ALIGNED", vector)))
    grid, block, head = (-(-table.rows // (BLOCK * v)),), (BLOCK,), leading(table)

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        launch_kernel(grid, block, (*head, x, y, alpha, beta, np.int32(mode)))

    return Product(table.rows, np.result_type(A.dtype, dtype), launch, table.flat)


@dispatch.register("spmm", FORMATS, "cupy", name="cuda", priority=10, prepare=True)
@runtime.prepared_at_home
def prepare_spmm(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ X`` for a matrix of this dtype, of any number of columns."""
    table = Table(A, trans)
    macros = runtime.types(A.dtype, dtype, conjugate=trans == "C", once=table.once)
    head = leading(table)

    @functools.lru_cache(maxsize=16)
    def compiled(k: int) -> tuple[runtime.Launch, tuple[int, int]]:
        width, lanes, tiles = columns_layout(dtype, k)
        made = runtime.kernel("diagonals.cuh", "spmm", (*macros, *table.macros(), ("LANES", lanes), ("COLS", width)))
        return made, (-(-table.rows // (BLOCK // lanes)), tiles)

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        k = x.shape[1]
        run, grid = compiled(k)
        run(grid, (BLOCK,), (*head, x, y, alpha, beta, np.int32(mode), np.int64(k)))

    return Product(table.rows, np.result_type(A.dtype, dtype), launch, table.flat)
