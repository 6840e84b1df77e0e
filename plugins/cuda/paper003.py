"""The four GPU kernels of paper 003 for BSR, run when forced by name: ``sf.config(kernel="team")``.

All but ``thread_private`` add in shared memory by atomics, so the last bits of a result may differ from run to run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats import dispatch
from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.blocks import Blocks
from spformats_plugins.cuda.product import Product

#: Threads per thread block with which the paper measured each kernel fastest.
VARIANTS = {"row_major": 32, "thread_private": 32, "team": 128, "vector_unrolled": 128}
ROWS_AT_ONCE = 8
#: A team is one thread block at most.
LARGEST_TEAM = 1024


def supports(A: Any, dtype: Any, trans: str) -> bool | str:
    """Plain products of blocks that one team can hold."""
    if trans != "N":
        return "the paper's kernels have no transposed product"
    height, width = A.blocksize
    return height * width <= LARGEST_TEAM or f"blocks of {height} × {width} have more values than a team has threads"


def register(name: str) -> None:
    """Register the kernel called `name`."""

    @dispatch.register("spmv", "bsr", "cupy", name=name, priority=-1, prepare=True, supports=supports)
    @runtime.prepared_at_home
    def prepare(A: Any, dtype: Any, trans: str) -> Product:
        blocks = Blocks(A, trans)
        size = blocks.height * blocks.width
        threads = max(VARIANTS[name], -(-size // 32) * 32) if name == "team" else VARIANTS[name]
        macros = (
            *blocks.macros(dtype),
            ("HEIGHT", blocks.height),
            ("WIDTH", blocks.width),
            ("BLOCK", threads),
            ("VARIANT", list(VARIANTS).index(name)),
            ("ROWS_AT_ONCE", ROWS_AT_ONCE),
        )
        kernel = runtime.kernel("paper003.cuh", "spmv", macros)
        grid, block, head = (blocks.block_rows,), (threads,), blocks.head

        def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
            kernel(grid, block, (*head, x, y, alpha, beta, np.int32(mode)))

        return Product(blocks.rows, np.result_type(blocks.data.dtype, dtype), launch, blocks.data)


for _name in VARIANTS:
    register(_name)
