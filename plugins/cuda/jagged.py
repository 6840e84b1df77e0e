"""Products of PJAD with a vector, in the slices that `lanes` packs."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats import _arrays
from spformats_plugins.cuda import rows, runtime
from spformats_plugins.cuda.lanes import pack
from spformats_plugins.cuda.product import Product
from spformats_plugins.cuda.slices import Slices
from spformats_plugins.cuda.transpose import Rows, csr_transpose

BLOCK = 128
UNROLL = 4
#: From so many steps a slice on, the next ones are loaded before these are used.
LONG_SLICE = 12


def slices_of(A: Any) -> Slices:
    """Slices of A."""
    csr = A.to_csr()
    return pack(Rows(csr.data, csr.indices, csr.indptr, csr.shape))


def slices_of_transpose(A: Any) -> Slices:
    """Slices of ``A.T``."""
    return pack(csr_transpose(A))


@dispatch.register("spmv", "pjad", "cupy", name="cuda", priority=10, prepare=True)
@runtime.prepared_at_home
def prepare_spmv(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ x`` for a vector of this dtype."""
    if max(A.shape) > _arrays.INT32_MAX:  # slices name rows and columns in 32 bits
        return rows.spmv(rows.layout_of(A) if trans == "N" else rows.transposed_layout(A), dtype, trans == "C")
    if trans == "N":
        slices = A._plan("cuda slices", slices_of)
    else:
        slices = A._plan("cuda slices of the transpose", slices_of_transpose)
    return spmv(slices, dtype, trans == "C")


def spmv(
    slices: Slices, dtype: Any, conjugate: bool, unroll: int | None = None, block: int = BLOCK, ahead: int | None = None
) -> Product:
    """The product of a matrix in slices with a vector of this dtype.

    `unroll`, the steps in flight, `block`, threads per thread block, and `ahead`, whether the next steps are loaded
    before these are used, are for tuning.
    """
    once = runtime.passes_once(slices.data)
    types = runtime.types(slices.data.dtype, dtype, np.int32, conjugate, once)
    steps, log_k = slices.even or (0, 0)
    if unroll is None:
        unroll = -(-steps // -(-steps // 8)) if steps else UNROLL
    if ahead is None:
        ahead = int(not steps and slices.data.size >= LONG_SLICE * 32 * slices.number)
    macros = (
        *types,
        ("UNROLL", unroll),
        ("WIDTHS", slices.widths),
        ("STEPS", steps),
        ("LOG_K", log_k),
        ("BLOCK", block),
        ("AHEAD", ahead),
    )
    result = np.result_type(slices.data.dtype, dtype)
    main = runtime.kernel("lanes.cuh", "spmv", macros)
    grid = (max(1, -(-slices.number * 32 // block)),)
    head = (np.int64(slices.number), slices.slice, slices.rowmap, slices.base, slices.columns, slices.data)
    n = np.int64(slices.shape[0])
    if not slices.pieces:
        none = np.int64(0)

        def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
            main(grid, (block,), (*head, x, y, none, alpha, beta, np.int32(mode), n))

        return Product(slices.shape[0], result, launch, slices.data)
    add = runtime.kernel("combine.cuh", "combine", (*types, ("BLOCK", block)))
    count, one = np.int64(slices.target.shape[0]), np.int64(1)
    add_grid = (-(-slices.target.shape[0] * 32 // block),)

    def launch_cut(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        partial = _arrays.xp_of(y).empty(slices.pieces, dtype=result)
        main(grid, (block,), (*head, x, y, partial, alpha, beta, np.int32(mode), n))
        tail = (count, one, slices.target, slices.ptr, partial, y, alpha, beta, np.int32(mode))
        add(add_grid, (block,), tail)

    return Product(slices.shape[0], result, launch_cut, slices.data)
