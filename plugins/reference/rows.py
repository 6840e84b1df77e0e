"""CSR, ELL, JAD and PJAD: formats that store rows, read as jagged columns."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from spformats import dispatch
from spformats_plugins.reference.common import Array
from spformats_plugins.reference.gather import flat, gather_product
from spformats_plugins.reference.jagged import Entries, enumerate_rows


def _csr(xp: Any, A: Any) -> tuple[Array, Array, Array]:
    indptr = A.indptr
    lengths = indptr[1:] - indptr[:-1]
    rows, j = enumerate_rows(xp, lengths)
    return lengths, rows, xp.take(indptr, rows) + j


def _ell(xp: Any, A: Any) -> tuple[Array, Array, Array]:
    lengths = xp.astype(A.rlen, xp.int64)
    rows, j = enumerate_rows(xp, lengths)
    return lengths, rows, j * A.shape[0] + rows


def _sorted_rows(xp: Any, A: Any) -> tuple[Array, Array, Array, Array]:
    """Lengths in the order of A's own rows; of every entry its row, its number j and its sorted row."""
    place = xp.argsort(A.perm)
    lengths = xp.take(xp.astype(A.rlen, xp.int64), place)
    rows, j = enumerate_rows(xp, lengths)
    return lengths, rows, j, xp.astype(xp.take(place, rows), xp.int64)


def _jad(xp: Any, A: Any) -> tuple[Array, Array, Array]:
    lengths, rows, j, i = _sorted_rows(xp, A)
    return lengths, rows, xp.take(A.jd_ptr, j) + i


def _pjad(xp: Any, A: Any) -> tuple[Array, Array, Array]:
    if A.sigma is None:
        return _jad(xp, A)
    lengths, rows, j, i = _sorted_rows(xp, A)
    start = xp.take(A.block_ptr, i // A.bsize)
    return lengths, rows, start + j * A.bsize + i % A.bsize


_PLACES = {"csr": _csr, "ell": _ell, "jad": _jad, "pjad": _pjad}


def _entries(A: Any) -> Entries:
    xp = array_namespace(A.data)
    lengths, rows, pos = _PLACES[A.format](xp, A)
    cols = xp.astype(xp.take(flat(xp, A.indices), pos), xp.int64)
    return Entries(lengths, rows, cols, pos)


@dispatch.register("spmv", tuple(_PLACES), "*", name="reference", priority=0)
@dispatch.register("spmm", tuple(_PLACES), "*", name="reference", priority=0)
def row_product(A: Any, x: Array, y: Array | None, alpha: complex, beta: complex, trans: str) -> Array:
    """``y <- alpha * op(A) @ x + beta * y`` for formats that store rows; x is ``(cols,)`` or ``(cols, k)``."""
    return gather_product(_entries, A, x, y, alpha, beta, trans)
