"""Products of BSR: block sizes are compile-time constants, values are read front to back."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from spformats import dispatch
from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.geometry import LARGEST_BLOCK, Geometry
from spformats_plugins.cuda.product import Product, columns_layout
from spformats_plugins.cuda.transpose import block_transpose
from spformats_plugins.cuda.tuner import chosen

BLOCK = 256


class Blocks:
    """The arrays of op(A), those of the transpose made once per matrix, and what every kernel of BSR is told first."""

    def __init__(self, A: Any, trans: str):
        if trans == "N":
            self.data, self.indices, self.indptr = A.data, runtime.packed(A.indices), runtime.packed(A.indptr)
        else:  # in the order of the columns, so that no two threads add to the same entry
            self.data, self.indices, self.indptr = A._plan("cuda block transpose", block_transpose)
        self.rows, self.cols = A.shape if trans == "N" else A.shape[::-1]
        self.height, self.width = self.data.shape[1:]
        self.block_rows = self.indptr.shape[0] - 1
        self.edge = int(self.rows % self.height != 0 or self.cols % self.width != 0)
        self.head = (*map(np.int64, (self.block_rows, self.rows, self.cols)), self.indptr, self.indices, self.data)
        self.conjugate = trans == "C"
        self.per_row = self.indices.shape[0] / max(1, self.block_rows)

    def macros(self, dtype: Any) -> tuple[tuple[str, Any], ...]:
        once = runtime.passes_once(self.data)
        return (
            *runtime.types(self.data.dtype, dtype, self.indices.dtype, self.conjugate, once),
            ("EDGE", self.edge),
        )


@dispatch.register("spmv", "bsr", "cupy", name="cuda", priority=10, prepare=True)
@runtime.prepared_at_home
def prepare_spmv(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ x`` for a vector of this dtype."""
    blocks = Blocks(A, trans)
    if blocks.height * blocks.width > LARGEST_BLOCK:
        return any_size(blocks, dtype)
    return with_geometry(blocks, dtype, chosen(blocks)[0])


def with_geometry(blocks: Blocks, dtype: Any, shape: Geometry) -> Product:
    """The product with these launch parameters."""
    aligned = not runtime.address(blocks.data) & 15
    macros = (
        *blocks.macros(dtype),
        ("HEIGHT", blocks.height),
        ("WIDTH", blocks.width),
        ("ALIGNED", int(aligned)),
        *shape.macros(),
    )
    launch_kernel = runtime.kernel("blocks.cuh", "spmv", macros)
    per_block = shape.BLOCK // (shape.GROUP * shape.WARPS)
    grid, block, head = (-(-blocks.block_rows // per_block),), (shape.BLOCK,), blocks.head

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        launch_kernel(grid, block, (*head, x, y, alpha, beta, np.int32(mode)))

    return Product(blocks.rows, np.result_type(blocks.data.dtype, dtype), launch, blocks.data)


def any_size(blocks: Blocks, dtype: Any) -> Product:
    """The product for blocks too large to be unrolled: a warp per row of the matrix."""
    launch_kernel = runtime.kernel("blocks.cuh", "spmv", (*blocks.macros(dtype), ("ANY_SIZE", 1), ("BLOCK", BLOCK)))
    grid, head = (-(-blocks.rows * 32 // BLOCK),), blocks.head
    sizes = (np.int32(blocks.height), np.int32(blocks.width))

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        launch_kernel(grid, (BLOCK,), (*head, x, y, alpha, beta, np.int32(mode), *sizes))

    return Product(blocks.rows, np.result_type(blocks.data.dtype, dtype), launch, blocks.data)


@dispatch.register("spmm", "bsr", "cupy", name="cuda", priority=10, prepare=True)
@runtime.prepared_at_home
def prepare_spmm(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ X`` for a matrix of this dtype, of any number of columns."""
    blocks = Blocks(A, trans)
    height, width, head = blocks.height, blocks.width, blocks.head
    known = height * width <= LARGEST_BLOCK
    sizes = (np.int32(height), np.int32(width))
    macros = (*blocks.macros(dtype), ("BLOCK", BLOCK), *((("HEIGHT", height), ("WIDTH", width)) if known else ()))

    @functools.lru_cache(maxsize=16)
    def compiled(k: int) -> tuple[runtime.Launch, tuple[int, int]]:
        w, lanes, tiles = columns_layout(dtype, k)
        strip = rows_per_thread(height, w)
        made = runtime.kernel("blocks.cuh", "spmm", (*macros, ("LANES", lanes), ("COLS", w), ("STRIP", strip)))
        items = blocks.block_rows * -(-height // strip) * lanes
        return made, (-(-items // BLOCK), tiles)

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        k = x.shape[1]
        run, grid = compiled(k)
        run(grid, (BLOCK,), (*head, x, y, alpha, beta, np.int32(mode), np.int64(k), *sizes))

    return Product(blocks.rows, np.result_type(blocks.data.dtype, dtype), launch, blocks.data)


def rows_per_thread(height: int, columns: int) -> int:
    """Rows of a block that one thread adds up: as few threads as possible share the loads of X, in at most 16 sums."""
    most = max(1, 16 // columns)
    return -(-height // -(-height // most))
