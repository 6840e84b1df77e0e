"""Products of diagonal matrices in pure array-API calls: one multiply-add per pair of diagonals."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from spformats import dispatch
from spformats_plugins.reference.common import Array


@dispatch.register("diagmm", ("cds", "hm", "cdm"), "*", name="reference", priority=0)
def product(A: Any, pairs: Any, left: Any, right: Any, out: Any, alpha: complex, beta: complex) -> Array:
    """``alpha * A @ B + beta * C`` over a table of pairs, see `spformats.linalg.diagonal_run`."""
    xp = array_namespace(left.flat)
    rows, inner, cols = pairs.shape
    flat = out.flat
    if flat is None:
        flat = xp.zeros(out.size, dtype=out.dtype, device=device(left.flat))
    a_base, b_base = left.base.tolist(), right.base.tolist()
    a_offsets, at = left.offsets.tolist(), out.base.tolist()
    for c, offset in enumerate(pairs.offsets.tolist()):
        first, last = max(0, -offset), min(rows, cols - offset)
        acc = xp.zeros(last - first, dtype=out.dtype, device=device(left.flat))
        for t in range(int(pairs.ptr[c]), int(pairs.ptr[c + 1])):
            p, q = int(pairs.left[t]), int(pairs.right[t])
            shift = a_offsets[p]
            lo, hi = max(first, -shift), min(last, inner - shift)
            x = left.flat[a_base[p] + lo : a_base[p] + hi]
            y = right.flat[b_base[q] + shift + lo : b_base[q] + shift + hi]
            x = xp.conj(x) if left.conj else x
            y = xp.conj(y) if right.conj else y
            acc[lo - first : hi - first] = acc[lo - first : hi - first] + xp.astype(x, out.dtype) * xp.astype(
                y, out.dtype
            )
        if alpha != 1:
            acc = alpha * acc
        target = slice(at[c] + first, at[c] + last)
        flat[target] = acc if beta == 0 else acc + beta * flat[target]
    return flat
