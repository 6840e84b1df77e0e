"""CDS, HM and CDM times a matrix of k columns: strips of eight rows side by side, a panel of columns in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from .generated import define
from .row_kernels import AHEAD

ROWS = 8
#: Panels of 64, 16, 8, 4 and single columns: rows at a time, vectors, their width. Sixteen sums fit the registers.
SHAPES = ((2, 8, 8, "while"), (4, 2, 8, "while"), (8, 1, 8, "if"), (8, 1, 4, "if"), (8, 1, 1, "while"))
LAST_ROWS = ((1, 1, 8, "while"), (1, 1, 1, "while"))
BLOCK = 512  # rows for which the diagonals that cover all of them are found once


@cache
def spmm(conj: bool) -> Callable[..., Any]:
    """``kernel(flat, base, steps, offsets, cols, x, y, k, alpha, beta, lo, hi)``.

    Entry (i, i + offsets[d]) is ``flat[base[d] + i * steps[d]]``, where the step of a constant diagonal is 0. Diagonals
    that begin or end inside a block of rows follow one by one.
    """
    value = "get(flat, get(base, d) + i * get(steps, d))"
    name = "diagonal_spmm" + "_conj" * conj
    lines = [
        f"def {name}(flat, base, steps, offsets, cols, x, y, k, alpha, beta, lo, hi):",
        "    stored = offsets.size",
        "    covering = np.empty(stored, np.int64)",
        f"    ahead = {AHEAD} // flat.itemsize",
        "    fresh = beta == 0",
        f"    for first in range(lo, hi, {BLOCK}):",
        f"        last = min(first + {BLOCK}, hi)",
        "        full = 0",
        "        for d in range(stored):",
        "            if get(offsets, d) >= -first and last <= cols - get(offsets, d):",
        "                put(covering, full, d)",
        "                full += 1",
        f"        for i in range(first, last, {ROWS}):",
        f"            rows = min({ROWS}, last - i)",
        "            c = 0",
        f"            if rows == {ROWS}:",
        *_panels(ROWS, SHAPES, conj, " " * 16),
        "            else:",
        "                begin = i",
        "                for i in range(begin, last):",
        "                    c = 0",
        *_panels(1, LAST_ROWS, conj, " " * 20),
        "        if full < stored:",
        "            for d in range(stored):",
        "                offset = get(offsets, d)",
        "                if offset < -first or last > cols - offset:",
        "                    for i in range(max(first, -offset), min(last, cols - offset)):",
        f"                        value = alpha * {f'np.conj({value})' if conj else value}",
        *_axpy(" " * 24),
    ]
    return define(name, lines)


def _axpy(indent: str) -> list[str]:
    """y's row i += value * x's row i + offset."""
    lines = [
        "to, q = i * k, (i + offset) * k",
        "c = 0",
        "while c + 8 <= k:",
        "    vstore(y, to + c, vmuladd(vload(y, to + c, 8), value, vload(x, q + c, 8)))",
        "    c += 8",
        "while c < k:",
        "    put(y, to + c, get(y, to + c) + value * get(x, q + c))",
        "    c += 1",
    ]
    return [indent + line for line in lines]


def _panels(rows: int, shapes: Iterable[tuple[int, int, int, str]], conj: bool, indent: str) -> list[str]:
    return [indent + line for shape in shapes for line in _panel(rows, *shape, conj)]


def _panel(strip: int, rows: int, vectors: int, width: int, loop: str, conj: bool) -> list[str]:
    """``rows`` rows of the strip at a time, ``vectors`` vectors of ``width`` columns."""
    sums = [[f"s{r}_{v}_{vectors * width}_{strip}" for v in range(vectors)] for r in range(rows)]
    zero = "y.dtype.type(0)" if width == 1 else f"vzero(y, {width})"

    load = "np.conj(get(flat, a + {} * step))" if conj else "get(flat, a + {} * step)"
    inner = [
        *(f"{s} = {zero}" for row in sums for s in row),
        "for n in range(full):",
        "    d = get(covering, n)",
        "    step = get(steps, d)",
        "    a = get(base, d) + (i + h) * step",
        "    q = (i + h + get(offsets, d)) * k + c",
        "    if c == 0 and h == 0:",
        f"        prefetch(flat, a + ahead, {strip})",
    ]
    for r, row in enumerate(sums):
        inner.append(f"    v = {load.format(r)}")
        if width == 1:
            inner.append(f"    {row[0]} += v * get(x, q + {r} * k)")
        else:
            for n, s in enumerate(row):
                inner.append(f"    {s} = vmuladd({s}, v, vload(x, q + {r} * k + {n * width}, {width}))")
    for r, row in enumerate(sums):
        to = f"(i + h + {r}) * k + c"
        if width == 1:
            s = row[0]
            inner.append(f"put(y, {to}, alpha * {s} if fresh else alpha * {s} + beta * get(y, {to}))")
        else:
            inner += [f"vupdate(y, {to} + {n * width}, {s}, alpha, beta, fresh)" for n, s in enumerate(row)]
    lines = [f"{loop} c + {vectors * width} <= k:", f"    for h in range(0, {strip}, {rows}):"]
    return [*lines, *(" " * 8 + line for line in inner), f"    c += {vectors * width}"]
