"""CSR, ELL, JAD and PJAD: formats that store rows, read as jagged columns."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from spformats import dispatch
from spformats_plugins.reference.common import Array, accumulator, adopt, finish, is_complex
from spformats_plugins.reference.jagged import Entries, Jagged, enumerate_rows, jagged, transposed


def _flat(xp: Any, part: Array) -> Array:
    """The storage as one line: the slots of ELL column after column, anything else as it is."""
    return xp.reshape(xp.matrix_transpose(part), (-1,)) if part.ndim == 2 else part


def _csr(xp: Any, A: Any, x: Array) -> tuple[Array, Array, Array]:
    indptr = adopt(A, x, "indptr")
    lengths = indptr[1:] - indptr[:-1]
    rows, j = enumerate_rows(xp, lengths)
    return lengths, rows, xp.take(indptr, rows) + j


def _ell(xp: Any, A: Any, x: Array) -> tuple[Array, Array, Array]:
    lengths = xp.astype(adopt(A, x, "rlen"), xp.int64)
    rows, j = enumerate_rows(xp, lengths)
    return lengths, rows, j * A.shape[0] + rows


def _sorted_rows(xp: Any, A: Any, x: Array) -> tuple[Array, Array, Array, Array]:
    """Lengths in the order of A's own rows; of every entry its row, its number j and its sorted row."""
    place = xp.argsort(adopt(A, x, "perm"))
    lengths = xp.take(xp.astype(adopt(A, x, "rlen"), xp.int64), place)
    rows, j = enumerate_rows(xp, lengths)
    return lengths, rows, j, xp.astype(xp.take(place, rows), xp.int64)


def _jad(xp: Any, A: Any, x: Array) -> tuple[Array, Array, Array]:
    lengths, rows, j, i = _sorted_rows(xp, A, x)
    return lengths, rows, xp.take(adopt(A, x, "jd_ptr"), j) + i


def _pjad(xp: Any, A: Any, x: Array) -> tuple[Array, Array, Array]:
    if A.sigma is None:
        return _jad(xp, A, x)
    lengths, rows, j, i = _sorted_rows(xp, A, x)
    start = xp.take(adopt(A, x, "block_ptr"), i // A.bsize)
    return lengths, rows, start + j * A.bsize + i % A.bsize


_PLACES = {"csr": _csr, "ell": _ell, "jad": _jad, "pjad": _pjad}


def _plan(A: Any, x: Array, trans: str) -> Jagged:
    xp = array_namespace(x)
    lengths, rows, pos = _PLACES[A.format](xp, A, x)
    cols = xp.astype(xp.take(_flat(xp, adopt(A, x, "indices")), pos), xp.int64)
    entries = Entries(lengths, rows, cols, pos)
    return jagged(xp, entries if trans == "N" else transposed(xp, entries, A.shape[1]))


@dispatch.register("spmv", tuple(_PLACES), "*", name="reference", priority=0)
@dispatch.register("spmm", tuple(_PLACES), "*", name="reference", priority=0)
def row_product(A: Any, x: Array, y: Array | None, alpha: complex, beta: complex, trans: str) -> Array:
    """``y <- alpha * op(A) @ x + beta * y`` for formats that store rows; x is ``(cols,)`` or ``(cols, k)``."""
    xp = array_namespace(x)
    form = "N" if trans == "N" else "T"  # the adjoint differs from the transpose in values only
    plan = A._plan(("reference", xp.__name__, form), lambda A: _plan(A, x, form))
    data = _flat(xp, adopt(A, x, "data"))
    conjugate = trans == "C" and is_complex(xp, data)

    def product(pos: Array, cols: Array) -> Array:
        values = xp.take(data, pos)
        values = xp.conj(values) if conjugate else values
        return (values if x.ndim == 1 else values[:, None]) * xp.take(x, cols, axis=0)

    acc = accumulator((A.shape[0] if trans == "N" else A.shape[1],), data, x)
    return finish(plan.accumulate(xp, acc, product), y, alpha, beta)
