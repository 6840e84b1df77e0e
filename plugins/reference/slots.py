"""Any format that can say where its values belong: the products a new format has before anybody writes it a kernel.

Such a format defines ``_slots() -> (rows, cols)``: row and column of each element of ``data``, which is 1-D. They are
arrays of the library that ``data`` is of; array-API calls make them on any.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from spformats import dispatch
from spformats_plugins.reference.common import Array
from spformats_plugins.reference.gather import gather_product
from spformats_plugins.reference.jagged import Entries, in_row_order


def _entries(A: Any) -> Entries:
    xp = array_namespace(A.data)
    rows, cols = (xp.asarray(part, dtype=xp.int64, device=device(A.data)) for part in A._slots())
    pos = xp.arange(rows.shape[0], dtype=xp.int64, device=device(rows))
    return in_row_order(xp, rows, cols, pos, A.shape[0])


def _supports(A: Any, dtype: Any, trans: str) -> bool | str:
    return hasattr(A, "_slots") or "for formats that say themselves where their values belong"


@dispatch.register("spmv", "*", "*", name="reference", priority=0, supports=_supports)
@dispatch.register("spmm", "*", "*", name="reference", priority=0, supports=_supports)
def slot_product(A: Any, x: Array, y: Array | None, alpha: complex, beta: complex, trans: str) -> Array:
    """``y <- alpha * op(A) @ x + beta * y`` for a format with ``_slots()``; x is ``(cols,)`` or ``(cols, k)``."""
    return gather_product(_entries, A, x, y, alpha, beta, trans)
