"""CSR times a matrix of k columns: panels of 32, 16, 8, 4 and single columns, only those that k needs.

A row's entries are read once per panel; later panels find them in the cache. Rows are short, so which panels there are
is known to the compiler and costs nothing per row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define

WIDTH = 8
#: Columns of a panel, and whether there may be several of it.
PANELS = ((32, True), (16, False), (8, False), (4, False), (1, True))


def spmm(k: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi)`` for this number of columns."""
    needed = []
    for columns, many in PANELS:
        if k >= columns:
            needed.append((columns, many))
            k = k % columns if many else k - columns
    return _spmm(tuple(needed))


@cache
def _spmm(panels: tuple[tuple[int, bool], ...]) -> Callable[..., Any]:
    name = "csr_spmm_" + "_".join(str(columns) for columns, _ in panels)
    lines = [
        f"def {name}(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        "    for i in range(lo, hi):",
        "        begin, end = get(ptr, i), get(ptr, i + 1)",
        "        target = i * k",
        "        c = 0",
        *(line for columns, many in panels for line in _panel(columns, many)),
    ]
    return define(name, lines)


def _panel(columns: int, many: bool) -> list[str]:
    width = min(columns, WIDTH)
    vectors = range(columns // width)
    zero = "y.dtype.type(0)" if columns == 1 else f"vzero(y, {width})"
    lines = [f"s{v}_{columns} = {zero}" for v in vectors]
    lines += ["for p in range(begin, end):", "    value = get(data, p)", "    q = np.int64(get(indices, p)) * k + c"]
    for v in vectors:
        s = f"s{v}_{columns}"
        if columns == 1:
            lines.append(f"    {s} += value * get(x, q)")
        else:
            lines.append(f"    {s} = vmuladd({s}, value, vload(x, q + {v * width}, {width}))")
    for v in vectors:
        s, at = f"s{v}_{columns}", f"target + c + {v * width}"
        if columns == 1:
            lines.append(f"put(y, {at}, alpha * {s} if fresh else alpha * {s} + beta * get(y, {at}))")
        else:
            lines.append(f"vupdate(y, {at}, {s}, alpha, beta, fresh)")
    lines.append(f"c += {columns}")
    if not many:
        return [" " * 8 + line for line in lines]
    return [f"        while c + {columns} <= k:", *(" " * 12 + line for line in lines)]
