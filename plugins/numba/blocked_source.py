"""PJAD with sigma times a vector: a group of eight, sixteen or 32 rows of a block at once, in the order they lie.

A block is read from its first slot to its last, one column of a group after the other: streams that take turns would
defeat the prefetchers, and half a block at a time would read its lines twice. x is masked for rows that have ended,
from the first column on: a loop of its own for the columns that all rows have would end in a mispredicted jump.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .generated import define
from .jit import kernel
from .simd import get, put

WIDTH = 8


def group_size(bsize: int) -> int:
    """Rows that are summed at once in blocks of this size; 0 where they fill no vector."""
    return next((rows for rows in (4 * WIDTH, 2 * WIDTH, WIDTH) if bsize % rows == 0), 0)


@kernel
def longest_of_groups(rlen, rows, longest):
    """The longest row of every whole group."""
    for g in range(longest.size):
        found = np.int64(0)
        for r in range(g * rows, (g + 1) * rows):
            found = max(found, np.int64(get(rlen, r)))
        put(longest, g, found)


@kernel
def narrowed(indices, ptr, rlen, step, narrow, bases):
    """Columns of each block counted from its first, in 16 bits; returns whether they fit. Padding becomes 0."""
    for b in range(bases.size):
        first, last = np.int64(1 << 62), np.int64(-1)
        for i in range(b * step, min((b + 1) * step, rlen.size)):
            p = get(ptr, b) + i - b * step
            for _ in range(np.int64(get(rlen, i))):
                first, last = min(first, np.int64(get(indices, p))), max(last, np.int64(get(indices, p)))
                p += step
        if last < 0:
            first = last = np.int64(0)
        if last - first >= 1 << 16:
            return False
        put(bases, b, first)
        for p in range(get(ptr, b), get(ptr, b + 1)):
            put(narrow, p, 0)
        for i in range(b * step, min((b + 1) * step, rlen.size)):
            p = get(ptr, b) + i - b * step
            for _ in range(np.int64(get(rlen, i))):
                put(narrow, p, np.int64(get(indices, p)) - first)
                p += step
    return True


@cache
def spmv(rows: int, in_order: bool, far: int, narrow: bool) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, rlen, perm, step, longest, bases, x, y, alpha, beta, lo, hi)``.

    ``rows`` is the `group_size`, ``longest`` is from `longest_of_groups`. ``in_order`` means that no row was moved:
    ``perm`` is not read then. Padding must be clean: it meets a zero instead of x. ``far`` is how many bytes ahead the
    matrix is prefetched, 0 for not at all. With ``narrow`` columns are counted from ``bases`` of their block.
    """
    groups = range(rows // WIDTH)
    target = "i + {}" if in_order else "perm, i + {}"
    old, write = ("vload", "vstore") if in_order else ("vgather", "vscatter")

    column = [f"prefetch({array}, p + ahead, {rows})" for array in ("data", "indices") if far]
    for g in groups:
        xs = f"vselect(vgreater(rows{g}, j), vgather(xb, indices, p + {g * WIDTH}, {WIDTH}))"
        column.append(f"s{g} = vmuladd(s{g}, vload(data, p + {g * WIDTH}, {WIDTH}), {xs})")
    column.append("p += step")
    name = f"blocked_spmv_{rows}_{far}" + "_in_order" * in_order + "_narrow" * narrow
    part_of_x = "shifted(x, get(bases, first // step))" if narrow else "x"
    lines = [
        f"def {name}(data, indices, ptr, rlen, perm, step, longest, bases, x, y, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        f"    ahead = {far} // data.itemsize",
        "    for first in range(lo, hi, step):",
        "        last = min(first + step, hi)",
        "        origin = get(ptr, first // step) - first",
        f"        xb = {part_of_x}",
        "        i = first",
    ]
    if rows:
        lines += [
            f"        while i + {rows} <= last:",
            "            p = origin + i",
            *(f"            s{g} = vzero(y, {WIDTH})" for g in groups),
            *(f"            rows{g} = vload(rlen, i + {g * WIDTH}, {WIDTH})" for g in groups),
            f"            for j in range(np.int64(get(longest, i // {rows}))):",
            *(" " * 16 + line for line in column),
        ]
        for g in groups:
            at = target.format(g * WIDTH)
            lines += [
                f"            s{g} = vscale(alpha, s{g})",
                "            if not fresh:",
                f"                s{g} = vadd(s{g}, vscale(beta, {old}(y, {at}, {WIDTH})))",
                f"            {write}(y, {at}, s{g})",
            ]
        lines.append(f"            i += {rows}")
    lines += [
        "        if i < last:",
        "            single(data, indices, rlen, perm, step, origin, xb, y, alpha, beta, i, last)",
    ]
    return define(name, lines, single=single)


@kernel
def single(data, indices, rlen, perm, step, origin, x, y, alpha, beta, lo, hi):
    """Rows lo to hi of one block, one by one."""
    for i in range(lo, hi):
        s = y.dtype.type(0)
        p = origin + i
        for _ in range(np.int64(get(rlen, i))):
            s += get(data, p) * get(x, np.int64(get(indices, p)))
            p += step
        target = np.int64(get(perm, i))
        put(y, target, alpha * s if beta == 0 else alpha * s + beta * get(y, target))
