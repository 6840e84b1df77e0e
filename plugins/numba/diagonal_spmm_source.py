"""CDS, HM and CDM times a matrix of k columns.

Where rows of y are shorter than a cache line, a few rows make a few vectors, and a vector of entries is spread over
these. Where they are longer, every entry meets its row of x, as many columns at once as the registers hold.

Up to `FEW` bytes a row of y, x is asked for ahead, along the diagonals where it is new to the second-level cache, and
the result passes the caches. For longer rows both cost more than they gain. Entries are asked for too: the prefetchers
do not foresee a loop over all diagonals, whose loads go from stream to stream.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from .aside import BUFFER, release
from .diagonal_blocks import clipped, inside, next_block
from .generated import define
from .panels import added, over_columns, parts_of, written, zeroed
from .registers import vector_registers
from .simd_memory import LINE

#: Bytes of a row of y up to which the kernel prefetches, and writes past the caches.
FEW = 128
BLOCK = 512  # rows for which the diagonals that cover all of them are found once
EDGE = 64  # rows where diagonals begin or end: those that do go one by one
AHEAD = 2048  # bytes from a load, of the matrix or of x, to the prefetch for a later one
#: Most columns whose number the compiler knows; kernels for more are shared by the numbers that leave the same rest.
KNOWN = 128


class Shape(NamedTuple):
    """What the code of a kernel is written for."""

    known: int | None  #: columns, where the compiler knows their number
    rest: int  #: those behind the last whole panel
    panel: int  #: columns that are summed in one pass
    width: int  #: elements of a line, the longest vector
    spread: bool  #: whether a vector of entries is spread over rows, of half a line each
    conj: bool  #: whether the matrix is conjugated
    streamed: int | None  #: bytes of a y that passes the caches; None for never, and for no prefetch


def spmm(k: int, itemsize: int, conj: bool, streamed: int | None) -> Callable[..., Any]:
    """``kernel(flat, base, offsets, asked, moving, cols, x, y, k, alpha, beta, lo, hi)`` for this number of columns.

    Entry (i, i + offsets[d]) is ``flat[base[d] + i]`` of the first ``moving`` diagonals, ``flat[base[d]]`` of the
    others, which are constant; ``asked[d]`` says whether x is asked for ahead along a diagonal.

    Parameters
    ----------
    k : int
    itemsize : int
        Of y.
    conj : bool
        Conjugate the matrix.
    streamed : int or None
        Bytes of y from which on it is written past the caches, where its rows are short; the matrix and x are
        prefetched then. None for neither.
    """
    lines = sums_in_lines()
    panel, width = lines * LINE // itemsize, LINE // itemsize
    known = k if k <= KNOWN else None
    spread = known is not None and 0 < k < width and k <= 2 * lines
    streamed = streamed if 0 < k * itemsize <= FEW else None
    return _spmm(Shape(known, k % panel, panel, width, spread, conj, streamed))


def sums_in_lines() -> int:
    """How many lines of sums fill half of the registers, or a quarter of many: the rest is for what is multiplied."""
    count, nbytes = vector_registers()
    return max(1, min(8, count * nbytes // (2 * LINE)))


@cache
def _spmm(shape: Shape) -> Callable[..., Any]:
    known, rest, panel, width, spread, conj, streamed = shape
    name = f"diagonal_spmm_{known}_{rest}_{panel}_{width}_{streamed}" + "_spread" * spread + "_conj" * conj
    together = _rows_together(shape)
    value = "get(flat, get(base, d) + (i if d < moving else 0))"
    lines = [
        f"def {name}(flat, base, offsets, asked, moving, cols, x, y, k, alpha, beta, lo, hi):",
        *([] if known is None else [f"    k = {known}"]),
        "    stored = offsets.size",
        # of the diagonals that cover a block: start in flat and in x
        "    at, shift, ask = np.empty(stored, np.int64), np.empty(stored, np.int64), np.empty(stored, np.bool_)",
        "    fresh = beta == 0",
        *([] if streamed is None else _before_all(streamed, together)),
        "    inner, outer = np.int64(0), hi",  # between them, rows are inside every diagonal
        *(" " * 4 + line for line in inside("stored", "offsets")),
        "    last = lo",
        "    while last < hi:",
        *(" " * 8 + line for line in next_block(str(BLOCK), EDGE)),
        "        full = moved = 0",
        "        for d in range(stored):",
        "            if get(offsets, d) >= -first and last <= cols - get(offsets, d):",
        "                put(at, full, get(base, d))",
        "                put(shift, full, get(offsets, d))",
        "                put(ask, full, get(asked, d))",
        "                full += 1",
        "                moved += d < moving",
        *(" " * 8 + line for line in (_whole(shape, together) if streamed is None else _batches(shape, together))),
    ]
    body = [f"value = alpha * {f'np.conj({value})' if conj else value}", *_axpy()]
    lines += [" " * 8 + line for line in clipped("full", "stored", "offsets", body)]
    if streamed is not None:
        lines += ["    if aside:", "        fence()"]
    return define(name, lines, release=release(width))


def _before_all(streamed: int, together: int) -> list[str]:
    """Whether y passes the caches, and what waits for that."""
    return [
        # NumPy takes a complex y for aligned where its parts are
        f"    aside = fresh and y.nbytes >= {streamed} and y.ctypes.data % y.itemsize == 0",
        f"    at_once = {BUFFER} // (k * y.itemsize) // {together} * {together}",  # never 0: rows have FEW bytes
        "    buffer = np.empty(at_once * k if aside else 0, y.dtype)",
    ]


def _whole(shape: Shape, together: int) -> list[str]:
    """All rows of a block, into y."""
    return ["target, origin, i, end = y, 0, first, last", *_sweep(shape, together)]


def _batches(shape: Shape, together: int) -> list[str]:
    """The same through the buffer; what is clipped is added to y, so rows of such blocks go there at once."""
    return [
        "away = aside and full == stored",
        "target = buffer if away else y",
        "i = first",
        "while i < last:",
        "    begin = i",
        "    end = min(begin + at_once, last) if away else last",
        "    origin = begin if away else 0",
        *("    " + line for line in _sweep(shape, together)),
        "    if away:",
        "        release(buffer, y, begin * k, (end - begin) * k)",
    ]


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


def _rows_together(shape: Shape) -> int:
    """How many rows are summed side by side."""
    if shape.spread:
        return shape.width // 2
    if shape.known is None or 2 * shape.known > shape.panel:
        return 1
    return 4 if shape.known == shape.width and 4 * shape.width <= shape.panel else 2


def _sweep(shape: Shape, together: int) -> list[str]:
    """All rows from i to ``end``, so many at once, then one by one."""
    lines = []
    for rows in sorted({together, 1}, reverse=True):
        if rows > 1 and shape.spread:
            passes = _spread(shape)
        else:
            whole = None if shape.known is not None and shape.known < shape.panel else _panel(shape, rows, shape.panel)
            passes = over_columns(shape.panel, whole, _panel(shape, rows, shape.rest))
        body = ["c = 0", *passes, f"i += {rows}"]
        lines += [f"while i + {rows} <= end:", *(" " * 4 + line for line in body)]
    return lines


def _spread(shape: Shape) -> list[str]:
    """Rows from i on that make as many vectors, of half a line each, as there are columns."""
    k, width = shape.known, shape.width // 2  # whole lines would lie across two in most places
    assert k is not None
    value = f"vload(flat, get(at, n) + i, {width})"
    starts = range(0, k * width, width)
    add = [
        f"s{start} = vmuladd(s{start}, vspread(v, {k}, {start}, {width}), vload(x, q + {start}, {width}))"
        for start in starts
    ]
    return [
        *(zeroed(f"s{start}", width) for start in starts),
        *_over_diagonals(shape, width, k * width, [f"v = vconj({value})" if shape.conj else f"v = {value}"], add),
        *_over_constants(shape, k * width, [added(f"s{start}", width, "v", f"q + {start}") for start in starts]),
        *(written("target", f"s{start}", width, f"(i - origin) * k + {start}") for start in starts),
    ]


def _panel(shape: Shape, rows: int, columns: int) -> list[str]:
    """So many rows from i on, and so many columns from c on."""
    if not columns:
        return []
    sums = [(f"s{r}_{first}", r, first, size) for r in range(rows) for first, size in parts_of(columns, shape.width)]
    value = "np.conj(get(flat, get(at, n) + i + {}))" if shape.conj else "get(flat, get(at, n) + i + {})"
    values = [f"v{r} = {value.format(r)}" for r in range(rows)]
    add = [added(s, size, f"v{r}", f"q + {r} * k + {first}") for s, r, first, size in sums]
    fixed = [added(s, size, "v", f"q + {r} * k + {first}") for s, r, first, size in sums]
    return [
        *(zeroed(s, size) for s, _, _, size in sums),
        *_over_diagonals(shape, rows, rows * columns, values, add),
        *_over_constants(shape, rows * columns, fixed),
        *(written("target", s, size, f"(i + {r} - origin) * k + c + {first}") for s, r, first, size in sums),
    ]


def _over_diagonals(shape: Shape, rows: int, count: int, values: list[str], add: list[str]) -> list[str]:
    """``add`` the entries ``values`` of so many rows, which meet ``count`` values of x."""
    ahead = [f"prefetch(flat, get(at, n) + i + {AHEAD} // flat.itemsize, {rows})"]
    return _over("range(moved)", shape, count, [*(ahead if shape.streamed is not None else []), *values], add)


def _over_constants(shape: Shape, count: int, add: list[str]) -> list[str]:
    """``add`` the one entry v of a constant diagonal."""
    value = "get(flat, get(at, n))"
    return _over("range(moved, full)", shape, count, [f"v = np.conj({value})" if shape.conj else f"v = {value}"], add)


def _over(diagonals: str, shape: Shape, count: int, values: list[str], add: list[str]) -> list[str]:
    ahead = ["if get(ask, n):", f"    prefetch(x, q + {AHEAD} // x.itemsize, {count})"]
    body = [*values, "q = (i + get(shift, n)) * k + c", *(ahead if shape.streamed is not None else []), *add]
    return [f"for n in {diagonals}:", *(" " * 4 + line for line in body)]
