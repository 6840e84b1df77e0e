"""CDS, HM and CDM times a matrix of k columns: strips of eight rows side by side, a panel of columns in registers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .diagonal_kernels import AHEAD
from .generated import define

ROWS = 8
#: Panels of 64, 16, 8, 4 and single columns: rows at a time, vectors, their width. Sixteen sums fit the registers.
SHAPES = ((2, 8, 8, "while"), (4, 2, 8, "while"), (8, 1, 8, "if"), (8, 1, 4, "if"), (8, 1, 1, "while"))
BLOCK = 512  # rows for which the diagonals that cover all of them are found once


@cache
def spmm(conj: bool) -> Callable[..., Any]:
    """``kernel(flat, base, offsets, const, const_offsets, cols, x, y, k, alpha, beta, lo, hi)``.

    Arguments as in `diagonal_kernels.make_spmv`. Diagonals that begin or end inside a block of rows follow one by one.
    """
    value = "np.conj(get(flat, get(base, d) + i))" if conj else "get(flat, get(base, d) + i)"
    name = "diagonal_spmm" + "_conj" * conj
    lines = [
        f"def {name}(flat, base, offsets, const, const_offsets, cols, x, y, k, alpha, beta, lo, hi):",
        "    stored, fixed = offsets.size, const_offsets.size",
        "    at, shift = np.empty(stored, np.int64), np.empty(stored, np.int64)",
        "    const_at = np.empty(fixed, np.int64)",
        f"    ahead = {AHEAD} // flat.itemsize",
        "    fresh = beta == 0",
        f"    for first in range(lo, hi, {BLOCK}):",
        f"        last = min(first + {BLOCK}, hi)",
        "        full = const_full = 0",
        "        for d in range(stored):",
        "            if get(offsets, d) >= -first and last <= cols - get(offsets, d):",
        "                put(at, full, get(base, d))",
        "                put(shift, full, get(offsets, d))",
        "                full += 1",
        "        for d in range(fixed):",
        "            if get(const_offsets, d) >= -first and last <= cols - get(const_offsets, d):",
        "                put(const_at, const_full, d)",
        "                const_full += 1",
        f"        for i in range(first, last, {ROWS}):",
        f"            rows = min({ROWS}, last - i)",
        "            c = 0",
        f"            if rows == {ROWS}:",
        *_panels(ROWS, conj, " " * 16),
        "            else:",
        "                begin = i",
        "                for i in range(begin, last):",
        "                    c = 0",
        *_panels(1, conj, " " * 20),
        "        if full < stored:",
        "            for d in range(stored):",
        "                offset = get(offsets, d)",
        "                if offset < -first or last > cols - offset:",
        "                    for i in range(max(first, -offset), min(last, cols - offset)):",
        f"                        value = alpha * {value}",
        *_axpy(" " * 24),
        "        if const_full < fixed:",
        "            for d in range(fixed):",
        "                offset = get(const_offsets, d)",
        "                if offset < -first or last > cols - offset:",
        "                    for i in range(max(first, -offset), min(last, cols - offset)):",
        "                        value = alpha * get(const, d)",
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


def _panels(rows: int, conj: bool, indent: str) -> list[str]:
    shapes = [(min(rows, r), vectors, width, loop) for r, vectors, width, loop in SHAPES]
    return [indent + line for shape in shapes for line in _panel(rows, *shape, conj)]


def _panel(strip: int, rows: int, vectors: int, width: int, loop: str, conj: bool) -> list[str]:
    """``rows`` rows of the strip at a time, ``vectors`` vectors of ``width`` columns."""
    sums = [[f"s{r}_{v}_{vectors * width}_{strip}" for v in range(vectors)] for r in range(rows)]
    zero = "y.dtype.type(0)" if width == 1 else f"vzero(y, {width})"

    def add(value: str) -> list[str]:
        lines = []
        for r, row in enumerate(sums):
            lines.append(f"v = {value.format(r)}")
            q = f"q + {r} * k"
            if width == 1:
                lines.append(f"{row[0]} += v * get(x, {q})")
            else:
                lines += [f"{s} = vmuladd({s}, v, vload(x, {q} + {n * width}, {width}))" for n, s in enumerate(row)]
        return lines

    stored = "np.conj(get(flat, a + {}))" if conj else "get(flat, a + {})"
    inner = [
        *(f"{s} = {zero}" for row in sums for s in row),
        "for d in range(full):",
        "    a = get(at, d) + i + h",
        "    q = (i + h + get(shift, d)) * k + c",
        "    if c == 0 and h == 0:",
        f"        prefetch(flat, a + ahead, {strip})",
        *(f"    {line}" for line in add(stored)),
        "for d in range(const_full):",
        "    value = get(const, get(const_at, d))",
        "    q = (i + h + get(const_offsets, get(const_at, d))) * k + c",
        *(f"    {line}" for line in add("value")),
    ]
    for r, row in enumerate(sums):
        to = f"(i + h + {r}) * k + c"
        if width == 1:
            s = row[0]
            inner.append(f"put(y, {to}, alpha * {s} if fresh else alpha * {s} + beta * get(y, {to}))")
        else:
            inner += [f"vupdate(y, {to} + {n * width}, {s}, alpha, beta, fresh)" for n, s in enumerate(row)]
    lines = [f"{loop} c + {vectors * width} <= k:", f"    for h in range(0, {strip}, {rows}):"]
    return [*lines, *(" " * 8 + line for line in inner), f"    c += {vectors * width}"]
