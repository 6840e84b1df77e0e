"""ELL, JAD and PJAD times a matrix of k columns: strips of eight rows side by side, a panel of columns in registers.

Column j of a strip is one run of eight values and eight indices, so the matrix is read in the order it lies in. Padding
is zeros that point to row 0 of x: where that row is finite, a strip is read to the end of its longest row. Else, and
where a layout has no padding, what the longer rows have beyond the shortest follows row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define
from .row_kernels import AHEAD, BLOCKED, JAGGED, STRIDED

ROWS = 8
#: Panels of 64, 16, 8, 4, 2 columns and one: rows at a time, vectors, their width. Sixteen sums fit the registers.
SHAPES = ((2, 8, 8, "while"), (4, 2, 8, "while"), (8, 1, 8, "if"), (8, 1, 4, "if"), (8, 1, 2, "if"), (8, 1, 1, "if"))
#: Columns up to which the compiler knows their number: what surrounds a multiplication counts then.
FEW = 8
NAMES = {STRIDED: "strided", JAGGED: "jagged", BLOCKED: "blocked"}


def spmm(layout: int, k: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi)`` for this number of columns.

    ``layout`` is one of `row_kernels`.
    """
    return _spmm(layout, k if k <= FEW else None)


@cache
def _spmm(layout: int, known: int | None) -> Callable[..., Any]:
    name = f"{NAMES[layout]}_spmm" + (f"_{known}" if known is not None else "")
    target = "i + r" if layout == STRIDED else "np.int64(get(perm, i + r))"
    lines = [
        f"def {name}(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi):",
        *([f"    k = {known}"] if known is not None else []),
        "    fresh = beta == 0",
        f"    ahead = {AHEAD} // data.itemsize",
        f"    padded = {layout in (STRIDED, BLOCKED)} and x.size >= k",
        "    for c in range(k if padded else 0):",
        "        padded = padded and np.isfinite(get(x, c))",
        f"    block = step if {layout == BLOCKED} else hi - lo",
        "    origin = 0",
        "    for first in range(lo, hi, max(block, 1)):",
        "        last = min(first + block, hi)",
        *(["        origin = get(ptr, first // step) - first"] if layout == BLOCKED else []),
        f"        for i in range(first, last, {ROWS}):",
        f"            rows = min({ROWS}, last - i)",
        "            shared = np.int64(0)",
        f"            if rows == {ROWS}:",
        "                shared = np.int64(get(rlen, i))",
        f"                for r in range(1, {ROWS}):",
        "                    length = np.int64(get(rlen, i + r))",
        "                    shared = max(shared, length) if padded else min(shared, length)",
        "            c = 0",
        *(line for shape in _shapes(known) for line in _panel(layout, *shape, target)),
    ]
    return define(name, lines)


def _shapes(known: int | None) -> tuple[tuple[int, int, int, str], ...]:
    """The panels that so many columns are cut into."""
    if known is None:
        return SHAPES
    return tuple(shape for shape in SHAPES if shape[1] * shape[2] & known)


def _panel(layout: int, rows: int, vectors: int, width: int, loop: str, target: str) -> list[str]:
    """``rows`` rows of the strip at a time, ``vectors`` vectors of ``width`` columns."""
    place = "get(ptr, j) + i" if layout == JAGGED else "origin + j * step + i"
    sums = [[f"s{r}_{v}_{vectors * width}" for v in range(vectors)] for r in range(rows)]
    zero = "y.dtype.type(0)" if width == 1 else f"vzero(y, {width})"

    def add(totals: list[str], p: str) -> list[str]:
        lines = [f"q = np.int64(get(indices, {p})) * k + c", f"value = get(data, {p})"]
        if width == 1:
            return [*lines, f"{totals[0]} += value * get(x, q)"]
        return lines + [f"{s} = vmuladd({s}, value, vload(x, q + {v * width}, {width}))" for v, s in enumerate(totals)]

    lines = [f"{loop} c + {vectors * width} <= k:", f"    for h in range(0, rows, {rows}):"]
    inner = [
        *(f"{s} = {zero}" for row in sums for s in row),
        "for j in range(shared):",
        f"    p = {place} + h",
        "    if c == 0 and h == 0:",
        f"        prefetch(data, p + ahead, {ROWS})",
        f"        prefetch(indices, p + ahead, {ROWS})",
        *(f"    {line}" for r, row in enumerate(sums) for line in add(row, f"p + {r}")),
        f"for r in range(h, min(h + {rows}, rows)):",
        "    for j in range(shared, np.int64(get(rlen, i + r))):",
        f"        p = {place} + r",
        *(f"        {line}" for line in add(sums[0], "p")),
        f"    to = {target}",
        "    to = to * k + c",
    ]
    if width == 1:
        s = sums[0][0]
        inner.append(f"    put(y, to, alpha * {s} if fresh else alpha * {s} + beta * get(y, to))")
    else:
        inner += [f"    vupdate(y, to + {v * width}, {s}, alpha, beta, fresh)" for v, s in enumerate(sums[0])]
    turned = sums[1:] + sums[:1]
    inner += [f"    {', '.join(r[v] for r in sums)} = {', '.join(r[v] for r in turned)}" for v in range(vectors)]
    lines += [" " * 8 + line for line in inner]
    lines.append(f"    c += {vectors * width}")
    return [" " * 12 + line for line in lines]
