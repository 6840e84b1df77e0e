"""Products that add by atomics: ``sf.config(kernel="atomic")``. Never chosen: their last bits differ from run to run.

``A.T @ x`` of CSR, ELL, JAD, PJAD and BSR scatters from A as it is stored, so no transpose is made or kept: half the
memory, and a first product without that work; later ones are slower than the default. ``A @ x`` of CSR adds up the
pieces of long rows by atomics, one launch less: faster where there are such rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats import dispatch
from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.blocks import Blocks
from spformats_plugins.cuda.product import Product
from spformats_plugins.cuda.rows import BLOCK, csr_spmv, layout_of


def _transposed_only(A: Any, dtype: Any, trans: str) -> bool | str:
    return trans != "N" or "atomics serve transposed products of this format"


@dispatch.register("spmv", "csr", "cupy", name="atomic", priority=-1, prepare=True)
@runtime.prepared_at_home
def prepare_csr(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ x`` for a vector of this dtype."""
    if trans == "N":
        return csr_spmv(layout_of(A), dtype, False, atomic=1)
    return prepare_rows(A, dtype, trans)


@dispatch.register(
    "spmv", ("ell", "jad", "pjad"), "cupy", name="atomic", priority=-1, prepare=True, supports=_transposed_only
)
@runtime.prepared_at_home
def prepare_rows(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``A.T @ x`` or ``A.H @ x``."""
    layout = layout_of(A)
    lanes = 1
    while layout.number == 0 and lanes < 32 and layout.entries > 2 * lanes * layout.rows:
        lanes *= 2
    macros = (*layout.macros(dtype, trans == "C"), ("LANES_PER_ROW", lanes), ("ATOMIC", 1))
    kernel = runtime.kernel("rows.cuh", "scatter", macros)
    grid, head = (max(1, -(-layout.rows * lanes // BLOCK)),), (np.int64(layout.rows), *layout.args)
    return _scattered(A, dtype, lambda x, y, alpha: kernel(grid, (BLOCK,), (*head, x, y, alpha)))


@dispatch.register("spmv", "bsr", "cupy", name="atomic", priority=-1, prepare=True, supports=_transposed_only)
@runtime.prepared_at_home
def prepare_blocks(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``A.T @ x`` or ``A.H @ x``: a thread adds up one column of a block."""
    blocks = Blocks(A, "N")
    blocks.conjugate = trans == "C"
    macros = (*blocks.macros(dtype), ("BLOCK", BLOCK))
    kernel = runtime.kernel("scatter.cuh", "scatter", macros)
    grid, head = (max(1, -(-blocks.block_rows * 32 // BLOCK)),), blocks.head
    sizes = np.int32(blocks.height), np.int32(blocks.width)
    return _scattered(A, dtype, lambda x, y, alpha: kernel(grid, (BLOCK,), (*head, x, y, alpha, *sizes)))


def _scattered(A: Any, dtype: Any, scatter: Any) -> Product:
    """The product that scales y first."""

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        if mode & 2:
            y *= beta
        else:
            y.fill(0)
        scatter(x, y, alpha)

    return Product(A.shape[1], np.result_type(A.dtype, dtype), launch, A.data)
