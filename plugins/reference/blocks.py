"""BSR: the jagged reading over block rows, with one small matrix product per block.

Zeros stored inside a block take part in the product, so a NaN or infinity in x reaches every row of a block that covers
its column. Zeros beyond the edge of the matrix meet only zeros.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from spformats import dispatch
from spformats_plugins.reference.common import Array, finish, is_complex
from spformats_plugins.reference.jagged import Entries, Jagged, enumerate_rows, jagged, transposed


def _plan(A: Any, trans: str) -> Jagged:
    xp = array_namespace(A.data)
    indptr = A.indptr
    lengths = indptr[1:] - indptr[:-1]
    rows, j = enumerate_rows(xp, lengths)
    pos = xp.take(indptr, rows) + j
    entries = Entries(lengths, rows, xp.astype(A.indices, xp.int64), pos)
    return jagged(xp, entries if trans == "N" else transposed(xp, entries, -(-A.shape[1] // A.blocksize[1])))


def _in_blocks(xp: Any, x: Array, size: int, dtype: Any) -> Array:
    """x as ``(block, size, k)``, the last block filled with zeros."""
    x = xp.astype(x if x.ndim == 2 else x[:, None], dtype, copy=False)
    missing = -x.shape[0] % size
    if missing:
        x = xp.concat([x, xp.zeros((missing, x.shape[1]), dtype=dtype, device=device(x))])
    return xp.reshape(x, (x.shape[0] // size, size, x.shape[1]))


@dispatch.register("spmv", "bsr", "*", name="reference", priority=0)
@dispatch.register("spmm", "bsr", "*", name="reference", priority=0)
def block_product(A: Any, x: Array, y: Array | None, alpha: complex, beta: complex, trans: str) -> Array:
    """``y <- alpha * op(A) @ x + beta * y``; x is ``(cols,)`` or ``(cols, k)``."""
    xp = array_namespace(x)
    form = "N" if trans == "N" else "T"
    plan = A._plan(("reference", form), lambda A: _plan(A, form))
    data = A.data
    conjugate = trans == "C" and is_complex(xp, data)
    height, width = A.blocksize if trans == "N" else A.blocksize[::-1]
    rows = A.shape[0] if trans == "N" else A.shape[1]
    blocks = -(-rows // height)
    dtype = xp.result_type(data.dtype, x.dtype)
    segments = _in_blocks(xp, x, width, dtype)

    def product(pos: Array, cols: Array) -> Array:
        values = xp.astype(xp.take(data, pos, axis=0), dtype, copy=False)
        values = xp.conj(values) if conjugate else values
        return xp.matmul(values if trans == "N" else xp.matrix_transpose(values), xp.take(segments, cols, axis=0))

    acc = xp.zeros((blocks, height, segments.shape[2]), dtype=dtype, device=device(x))
    result = plan.accumulate(xp, acc, product)
    result = xp.reshape(result, (blocks * height, segments.shape[2]))[:rows, :]
    return finish(result if x.ndim == 2 else result[:, 0], y, alpha, beta)
