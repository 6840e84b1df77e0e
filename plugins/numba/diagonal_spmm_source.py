"""CDS, HM and CDM times a matrix of k columns.

Few columns: some rows side by side, all their columns in registers. Many: row by row and part by part of a row, so that
the hardware, which notices the lines of x that the first part reads, has fetched those of the next.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .diagonal_blocks import clipped, inside, next_block
from .generated import define
from .panels import added, over_columns, parts_of, written, zeroed

#: Columns of a panel, and of the parts of a row that are summed in turn. The code of each part has loads of its own,
#: as the prefetchers follow single instructions.
PANEL, PART = 64, 32
#: Vectors that are summed side by side.
SUMS = 8
BLOCK = 512  # rows for which the diagonals that cover all of them are found once
EDGE = 64  # rows where diagonals begin or end: those that do go one by one
NEAR = 2048  # bytes from a load of the matrix to the prefetch for a later one
FAR = 4096  # bytes from a load to the prefetch for a later one, for products that come from memory


def spmm(k: int, conj: bool, far: int) -> Callable[..., Any]:
    """``kernel(flat, base, steps, offsets, cols, x, y, k, alpha, beta, lo, hi)`` for this number of columns.

    Entry (i, i + offsets[d]) is ``flat[base[d] + i * steps[d]]``, where the step of a constant diagonal is 0. ``far``
    is the prefetch distance in bytes, 0 for none.
    """
    return _spmm(k >= PANEL, k % PANEL, conj, far)


@cache
def _spmm(panels: bool, rest: int, conj: bool, far: int) -> Callable[..., Any]:
    name = f"diagonal_spmm_{PANEL if panels else 0}_{rest}_{far}" + "_conj" * conj
    value = "get(flat, get(base, d) + i * get(steps, d))"
    lines = [
        f"def {name}(flat, base, steps, offsets, cols, x, y, k, alpha, beta, lo, hi):",
        "    stored = offsets.size",
        "    at, step_of, shift = np.empty(stored, np.int64), np.empty(stored, np.int64), np.empty(stored, np.int64)",
        f"    ahead = {far} // (k * x.itemsize) + 1 if k else 0",
        f"    near = {NEAR} // flat.itemsize",
        "    fresh = beta == 0",
        "    inner, outer = np.int64(0), cols",
        *(" " * 4 + line for line in inside("stored", "offsets")),
        "    lead = cols - outer + ahead",  # where the last diagonal will read x
        "    last = lo",
        "    while last < hi:",
        *(" " * 8 + line for line in next_block(str(BLOCK), EDGE)),
        "        full = 0",
        "        for d in range(stored):",
        "            if get(offsets, d) >= -first and last <= cols - get(offsets, d):",
        "                put(at, full, get(base, d))",
        "                put(step_of, full, get(steps, d))",
        "                put(shift, full, get(offsets, d))",
        "                full += 1",
    ]
    few = not panels and rest <= PART
    lines += [" " * 8 + line for line in (_side_by_side(rest, conj, far) if few else _by_row(panels, rest, conj, far))]
    body = [f"value = alpha * {f'np.conj({value})' if conj else value}", *_axpy()]
    lines += [" " * 8 + line for line in clipped("full", "stored", "offsets", body)]
    return define(name, lines)


def _axpy() -> list[str]:
    """y's row i += value * x's row i + offset."""
    return [
        "to, q = i * k, (i + offset) * k",
        "c = 0",
        "while c + 8 <= k:",
        "    vstore(y, to + c, vmuladd(vload(y, to + c, 8), value, vload(x, q + c, 8)))",
        "    c += 8",
        "while c < k:",
        "    put(y, to + c, get(y, to + c) + value * get(x, q + c))",
        "    c += 1",
    ]


def _by_row(panels: bool, rest: int, conj: bool, far: int) -> list[str]:
    """All rows of a block one after the other: whole panels, and one of ``rest`` columns."""

    def panel(columns: int) -> list[str]:
        parts = parts_of(columns)
        starts = range(0, columns, PART)
        cut = [[(at, width) for at, width in parts if start <= at < start + PART] for start in starts]
        return [line for part in cut for line in _rows(1, part, conj, far)]

    passes = over_columns(PANEL, panel(PANEL) if panels else None, panel(rest))
    return ["for i in range(first, last):", "    c = 0", *("    " + line for line in passes)]


def _side_by_side(columns: int, conj: bool, far: int) -> list[str]:
    """All rows of a block, some at once."""
    if not columns:
        return []
    parts = parts_of(columns)
    rows = max(1, SUMS // len(parts))
    lines = ["c = 0", "i = first", f"while i + {rows} <= last:"]
    if far:
        lines += [f"    prefetch(x, (i + lead + {r}) * k + c, {columns})" for r in range(rows)]
        lines += [f"    prefetch(y, (i + ahead + {r}) * k + c, {columns})" for r in range(rows)]
    lines += [" " * 4 + line for line in (*_rows(rows, parts, conj, far), f"i += {rows}")]
    if rows > 1:
        lines += ["while i < last:", *(" " * 4 + line for line in (*_rows(1, parts, conj, 0), "i += 1"))]
    return lines


def _rows(rows: int, parts: list[tuple[int, int]], conj: bool, far: int) -> list[str]:
    """Rows from i on, for some vectors of a panel (first column, how many)."""
    load = "np.conj(get(flat, a + {} * step))" if conj else "get(flat, a + {} * step)"
    sums = [(r, first, width) for r in range(rows) for first, width in parts]
    lines = [
        *(zeroed(f"s{r}_{first}", width) for r, first, width in sums),
        "for n in range(full):",
        "    step = get(step_of, n)",
        "    a = get(at, n) + i * step",
        "    q = (i + get(shift, n)) * k + c",
    ]
    if far:
        lines += ["    if c == 0:", f"        prefetch(flat, a + near, {rows})"] if parts[0][0] == 0 else []
    for r in range(rows):
        lines.append(f"    v = {load.format(r)}")
        lines += ["    " + added(f"s{r}_{first}", width, "v", f"q + {r} * k + {first}") for first, width in parts]
    return lines + [written(f"s{r}_{first}", width, f"(i + {r}) * k + c + {first}") for r, first, width in sums]
