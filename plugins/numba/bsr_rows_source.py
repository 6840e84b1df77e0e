"""BSR of any block size: every block is read once, as vectors along its rows.

The sums of a few rows stay in registers, those of more rows in the first-level cache; their lanes are summed at the end
of the block row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define

#: Rows of a block whose sums stay in registers.
ROWS = 4
#: Vectors that a row of a block may have for its part of x to stay in registers; in longer rows a loop runs.
VECTORS = 4


@cache
def spmv(R: int, C: int, width: int, far: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi)`` over block rows.

    There is one kernel for all R beyond `ROWS`, and one for all C beyond `VECTORS` vectors of ``width`` that leave the
    same rest. ``far`` is how many bytes ahead the blocks are prefetched, 0 for not at all.
    """
    rows = R if R <= ROWS else None
    whole, rest = divmod(C, width)
    vectors = whole + (rest > 0) if C <= VECTORS * width else None
    name = f"bsr_rows_spmv_{rows or 'any'}x{C if vectors else f'any_{rest}'}_{width}_{far}"
    sums = [f"s{r}" for r in range(rows)] if rows else ["s"]
    #: where the row of each sum begins
    begins = [f"q + {r} * C" for r in range(rows)] if rows else ["q"]
    body = _written_out(C, width, far, sums, begins) if vectors else _looped(rest, width, far, sums, begins)
    lines = [
        f"def {name}(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        f"    ahead, wide = {far} // data.itemsize, C - {rest}",
        *([] if rows else [f"    sums = np.empty(R * {width}, y.dtype)"]),
        "    for i in range(lo, hi):",
        *(f"        {s} = vzero(y, {width})" for s in sums if rows),
        *([] if rows else ["        for r in range(R):", f"            vstore(sums, r * {width}, vzero(y, {width}))"]),
        "        for p in range(get(ptr, i), get(ptr, i + 1)):",
        "            j, q = np.int64(get(indices, p)) * C, p * R * C",
        *(f"            x{v} = {_vector('x', 'j', v, C, width)}" for v in range(vectors or 0)),
    ]
    if rows:
        lines += [" " * 12 + line for line in body]
        lines += [line for r in range(rows) for line in (f"        s, t = alpha * vsum(s{r}), i * R + {r}", _PUT)]
    else:
        lines += [
            "            for r in range(R):",
            f"                s = vload(sums, r * {width}, {width})",
            *(" " * 16 + line for line in body),
            f"                vstore(sums, r * {width}, s)",
            "                q += C",
            "        for r in range(R):",
            f"            s, t = alpha * vsum(vload(sums, r * {width}, {width})), i * R + r",
            "    " + _PUT,
        ]
    return define(name, lines)


_PUT = "        put(y, t, s if fresh else s + beta * get(y, t))"


def _vector(array: str, at: str, v: int, C: int, width: int) -> str:
    return f"vload_first({array}, {at} + {v * width}, {min(width, C - v * width)}, {width})"


def _written_out(C: int, width: int, far: int, sums: list[str], begins: list[str]) -> list[str]:
    """The sums plus rows of a block times the vectors ``x0``, ``x1``, …."""
    lines = [f"prefetch(data, q + ahead, {C * len(sums)})"] if far else []
    for v in range(-(-C // width)):
        lines += [
            f"{s} = vmuladd({s}, {_vector('data', q, v, C, width)}, x{v})" for s, q in zip(sums, begins, strict=True)
        ]
    return lines


def _looped(rest: int, width: int, far: int, sums: list[str], begins: list[str]) -> list[str]:
    lines = [f"for c in range(0, wide, {width}):", f"    part = vload(x, j + c, {width})"]
    for s, q in zip(sums, begins, strict=True):
        lines += [f"    prefetch(data, {q} + c + ahead, {width})"] if far else []
        lines.append(f"    {s} = vmuladd({s}, vload(data, {q} + c, {width}), part)")
    if rest:
        lines.append(f"part = vload_first(x, j + wide, {rest}, {width})")
        lines += [
            f"{s} = vmuladd({s}, vload_first(data, {q} + wide, {rest}, {width}), part)"
            for s, q in zip(sums, begins, strict=True)
        ]
    return lines
