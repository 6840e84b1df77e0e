"""CDS, HM and CDM, as they are, transposed or symmetric: one shifted multiply-add per diagonal.

All of them describe themselves by the diagonal table ``A._diagonals(trans)``. Zeros stored inside a diagonal take part
in the product; slots outside the matrix are never touched.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from spformats import dispatch
from spformats_plugins.reference.common import Array, accumulator, finish, is_complex


@dispatch.register("spmv", ("cds", "hm", "cdm"), "*", name="reference", priority=0)
@dispatch.register("spmm", ("cds", "hm", "cdm"), "*", name="reference", priority=0)
def diagonal_product(A: Any, x: Array, y: Array | None, alpha: complex, beta: complex, trans: str) -> Array:
    """``y <- alpha * op(A) @ x + beta * y``; x is ``(cols,)`` or ``(cols, k)``."""
    xp = array_namespace(x)
    rows, cols = A.shape if trans == "N" else A.shape[::-1]

    def table(A: Any) -> tuple[Array, list[tuple[int, int]]]:
        flat, base, offsets = A._diagonals(trans)
        return flat, [(int(b), int(o)) for b, o in zip(base, offsets, strict=True)]

    flat, diagonals = A._plan(("reference", trans), table)
    conjugate = trans == "C" and is_complex(xp, flat)
    acc = accumulator((rows,), flat, x)
    for base, offset in diagonals:
        lo, hi = max(0, -offset), min(rows, cols - offset)
        values = flat[base + lo : base + hi]
        values = xp.conj(values) if conjugate else values
        values = values if x.ndim == 1 else values[:, None]
        acc[lo:hi, ...] = acc[lo:hi, ...] + values * x[lo + offset : hi + offset, ...]
    return finish(acc, y, alpha, beta)
