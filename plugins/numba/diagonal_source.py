"""Products with matrices kept by diagonals: CDS, HM, CDM and their transposes, through one table of diagonals.

Entry (i, i + offsets[k]) is ``flat[base[k] + i]``. Rows are taken in blocks; inside a block, up to `TOGETHER` diagonals
that cover it are summed in registers side by side, and sums that are not complete wait in a buffer that stays in the
second-level cache. Every one of these diagonals has loads of its own in the code: the prefetchers follow the addresses
of one instruction, and a loop over diagonals, whose loads go from stream to stream, gets half of the bandwidth.
Diagonals that begin or end inside the block follow one by one, clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .diagonal_blocks import clipped, inside, next_block
from .generated import define

#: Diagonals summed side by side: of more than WHOLE, about TOGETHER at a time.
TOGETHER, WHOLE = 7, 8
EDGE = 1024  # rows where diagonals begin or end: those that do go one by one
LINE = 64
REST = 8, 1  # rows of a vector where fewer are left than the passes take at once


@cache
def spmv(conj: bool, width: int, block: int, streamed: int) -> Callable[..., Any]:
    """``kernel(flat, base, offsets, const, const_offsets, cols, x, y, alpha, beta, lo, hi)``.

    Parameters
    ----------
    conj : bool
        Conjugate the matrix.
    width : int
        Rows of a vector, which may take several registers.
    block : int
        Bytes of y in a block of rows: long runs for the prefetchers, while incomplete sums stay in the second-level
        cache.
    streamed : int
        Bytes of a y that is written past the caches.
    """
    name = f"diagonal_spmv_{width}_{block}_{streamed}" + "_conj" * conj
    lines = [
        f"def {name}(flat, base, offsets, const, const_offsets, cols, x, y, alpha, beta, lo, hi):",
        "    stored, fixed = offsets.size, const_offsets.size",
        # of the diagonals that cover the block: start in flat and in x
        "    at, shift = np.empty(stored, np.int64), np.empty(stored, np.int64)",
        "    const_at = np.empty(fixed, np.int64)",
        "    fresh = beta == 0",
        f"    block = max({block} // y.itemsize, {EDGE})",
        # NumPy takes a complex y for aligned where its parts are
        f"    aside = fresh and y.nbytes >= {streamed} and y.ctypes.data % y.itemsize == 0",
        # whole lines begin where this plus the row is a multiple of per_line
        f"    per_line, behind_line = {LINE} // y.itemsize, y.ctypes.data // y.itemsize",
        f"    if stored > {WHOLE} or (stored > 0 and not aside):",  # lines of the matrix then, most of what is read
        f"        per_part, behind_part = {LINE} // flat.itemsize, flat.ctypes.data // flat.itemsize + get(base, 0)",
        "        aside = aside and per_part == per_line and (behind_part - behind_line) % per_line == 0",
        "        per_line, behind_line = per_part, behind_part",
        f"    waiting = np.empty(min(block, hi - lo) if stored > {WHOLE} else 0, y.dtype)",
        "    inner, outer = np.int64(0), hi",  # between them, rows are inside every diagonal
        *(" " * 4 + line for line in (*inside("stored", "offsets"), *inside("fixed", "const_offsets"))),
        "    last = lo",
        "    while last < hi:",
        *(" " * 8 + line for line in next_block("block", EDGE)),
        # Blocks begin with lines only here, where all diagonals are summed in turn wherever a block ends: the place of
        # an array must not change the result.
        "        behind = (behind_line + first) % per_line",
        f"        if behind and inner <= first < outer and (aside or hi - lo > {EDGE}):",
        "            last = min(first + per_line - behind, last)",
        "        full = 0",
        "        for k in range(stored):",
        "            if get(offsets, k) >= -first and last <= cols - get(offsets, k):",
        "                put(at, full, get(base, k))",
        "                put(shift, full, get(offsets, k))",
        "                full += 1",
        "        const_full = 0",
        "        for k in range(fixed):",
        "            if get(const_offsets, k) >= -first and last <= cols - get(const_offsets, k):",
        "                put(const_at, const_full, k)",
        "                const_full += 1",
        "        stream = aside and inner <= first and last <= outer",
        f"        passes = 1 if full <= {WHOLE} else (full + {TOGETHER - 1}) // {TOGETHER}",
        f"        whole = first + (last - first) // {width} * {width}",
        "        done = 0",
        "        while True:",
        "            stop = done + (full - done + passes - 1) // passes",
        "            passes -= 1",
        "            const_stop = const_full if stop == full else 0",
        *_branches(conj, width),
        "            done = stop",
        "            if done == full:",
        "                break",
        *_rest(conj),
        *_clipped("full", "stored", "offsets", _element("get(base, d) + i", conj)),
        *_clipped("const_full", "fixed", "const_offsets", "get(const, d)"),
        "    if aside:",
        "        fence()",
    ]
    return define(name, lines)


def _element(place: str, conj: bool) -> str:
    return f"np.conj(get(flat, {place}))" if conj else f"get(flat, {place})"


def _branches(conj: bool, width: int) -> list[str]:
    """The code for every number of diagonals that a pass may have."""
    lines = []
    for count in range(WHOLE + 1):
        lines.append(f"{'el' if count else ''}if stop - done == {count}:")
        lines += ["    " + line for line in _pass(count, conj, width)]
    return [" " * 12 + line for line in lines]


def _pass(count: int, conj: bool, width: int) -> list[str]:
    """Rows ``first`` to ``whole`` of the diagonals ``done`` to ``done + count``, and of the constant ones."""
    value = "vconj(vload(flat, a{d} + i, {w}))" if conj else "vload(flat, a{d} + i, {w})"
    lines = [f"a{d}, j{d} = get(at, done + {d}), get(shift, done + {d})" for d in range(count)]
    lines += [
        f"for i in range(first, whole, {width}):",
        f"    s = vload(waiting, i - first, {width}) if done else vzero(y, {width})",
        *(f"    s = vmuladd(s, {value.format(d=d, w=width)}, vload(x, j{d} + i, {width}))" for d in range(count)),
        "    for k in range(const_stop):",
        "        j = get(const_offsets, get(const_at, k)) + i",
        f"        s = vmuladd(s, get(const, get(const_at, k)), vload(x, j, {width}))",
        "    if stop < full:",
        "        vstore(waiting, i - first, s)",
        "    elif stream:",
        f"        vstream(y, i, vscale(alpha, s), {LINE})",
        "    else:",
        "        vupdate(y, i, s, alpha, beta, fresh)",
    ]
    return lines


def _rest(conj: bool) -> list[str]:
    """Rows ``whole`` to ``last``, fewer than a vector of the passes holds; they are rounded like those."""
    lines = ["i = whole"]
    for width in REST:
        lines += [
            f"while i + {width} <= last:",
            f"    s = vzero(y, {width})",
            "    for k in range(full):",
            f"        value = vload(flat, get(at, k) + i, {width})",
            f"        s = vmuladd(s, {'vconj(value)' if conj else 'value'}, vload(x, get(shift, k) + i, {width}))",
            "    for k in range(const_full):",
            "        j = get(const_offsets, get(const_at, k)) + i",
            f"        s = vmuladd(s, get(const, get(const_at, k)), vload(x, j, {width}))",
            "    vupdate(y, i, s, alpha, beta, fresh)",
            f"    i += {width}",
        ]
    return [" " * 8 + line for line in lines]


def _clipped(covering: str, count: str, offsets: str, value: str) -> list[str]:
    """The diagonals that begin or end inside the block, added to rows already written."""
    body = [f"put(y, i, get(y, i) + alpha * ({value} * get(x, i + offset)))"]
    return [" " * 8 + line for line in clipped(covering, count, offsets, body)]
