"""One product for every format whose entries can be listed: gather, multiply, add jagged column by jagged column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from spformats_plugins.reference.common import Array, accumulator, finish, is_complex
from spformats_plugins.reference.jagged import Entries, jagged, transposed


def flat(xp: Any, part: Array) -> Array:
    """The storage as one line: the slots of a Fortran-ordered 2-D array column after column, 1-D arrays as they are."""
    return xp.reshape(xp.matrix_transpose(part), (-1,)) if part.ndim == 2 else part


def gather_product(
    entries: Callable[[Any], Entries],
    A: Any,
    x: Array,
    y: Array | None,
    alpha: complex,
    beta: complex,
    trans: str,
) -> Array:
    """``y <- alpha * op(A) @ x + beta * y``; ``entries(A)`` lists A's entries, once per object and direction."""
    xp = array_namespace(x)
    form = "N" if trans == "N" else "T"  # the adjoint differs from the transpose in values only
    plan = A._plan(
        ("reference", form),
        lambda A: jagged(xp, entries(A) if form == "N" else transposed(xp, entries(A), A.shape[1])),
    )
    data = flat(xp, A.data)
    conjugate = trans == "C" and is_complex(xp, data)

    def product(pos: Array, cols: Array) -> Array:
        values = xp.take(data, pos)
        values = xp.conj(values) if conjugate else values
        return (values if x.ndim == 1 else values[:, None]) * xp.take(x, cols, axis=0)

    acc = accumulator((A.shape[0] if trans == "N" else A.shape[1],), data, x)
    return finish(plan.accumulate(xp, acc, product), y, alpha, beta)
