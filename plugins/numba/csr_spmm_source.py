"""CSR times a matrix of k columns: panels of four vectors, and one of what is left, whose shape the compiler knows.

A row's entries are read once per panel; later panels find them in the cache. Rows are short, so a panel for every
number of columns, which reads them once, beats a few fixed panels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .far_reads import ROWS
from .generated import define
from .panels import added, over_columns, parts_of, written, zeroed
from .simd_memory import LINE

#: Columns of a panel, which are read in one pass, and those of a vector: of single precision, of anything else.
SINGLE, OTHER = (64, 16), (32, 8)
#: Most columns whose number the compiler knows; kernels for more are shared by the numbers that leave the same rest.
KNOWN = 128
#: Columns up to which a product is bound by reading the matrix, so that asking for it ahead pays.
FEW = 8
#: Bytes that are written past the caches at once: the most that large arrays of NumPy are aligned to.
PIECE = 16


def spmm(k: int, single: bool, far: int, foresee: bool, streamed: int | None) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, starts, columns, x, y, k, alpha, beta, lo, hi)`` for this number of columns.

    Parameters
    ----------
    k : int
    single : bool
        Whether y is of type float32.
    far : int
        How many bytes ahead of each row's first entry the matrix is prefetched, 0 for not at all.
    foresee : bool
        Whether ``starts`` and ``columns`` are `far_reads`, which are prefetched a block of rows ahead.
    streamed : int
        Bytes of y from which on it is written past the caches, of less than a panel; None for never.
    """
    panel, _ = SINGLE if single else OTHER
    known = k if k <= KNOWN else None
    # a last column on its own is not written past the caches, and neither are the lines that it shares
    streamed = streamed if k < panel and k % 2 == 0 else None
    return _spmm(known, k % panel, single, far if k <= FEW else 0, foresee, streamed)


@cache
def _spmm(
    known: int | None, rest: int, single: bool, far: int, foresee: bool, streamed: int | None
) -> Callable[..., Any]:
    panel, widest = SINGLE if single else OTHER
    name = f"csr_spmm_{known}_{rest}_{widest}_{far}_{streamed}" + "_foresee" * foresee
    lines = [
        f"def {name}(data, indices, ptr, starts, columns, x, y, k, alpha, beta, lo, hi):",
        *([] if known is None else [f"    k = {known}"]),
        "    fresh = beta == 0",
        f"    ahead = {far} // data.itemsize",
    ]
    if streamed is not None:
        lines += [
            f"    aside = fresh and y.nbytes >= {streamed} and y.ctypes.data % {PIECE} == 0",
            f"    aside = aside and k * y.itemsize % {PIECE} == 0",
        ]
    if foresee:
        lines.append("    blocks = starts.size - 1")
    lines.append("    for i in range(lo, hi):")
    if foresee:
        lines += [
            f"        following = i // {ROWS} + 1",
            f"        if i % {ROWS} == 0 and following < blocks:",
            "            for r in range(get(starts, following), get(starts, following + 1)):",
            "                q = np.int64(get(columns, r)) * k",
            f"                for c in range(0, k, {LINE} // x.itemsize):",
            "                    prefetch(x, q + c, 1)",
            "                prefetch(x, q + k - 1, 1)",
        ]
    lines += [
        "        begin, end = get(ptr, i), get(ptr, i + 1)",
        "        target = i * k",
        "        c = 0",
    ]
    if far:
        lines += [f"        prefetch({array}, begin + ahead, 8)" for array in ("data", "indices")]
    panels = known is None or known >= panel
    empty = over_columns(panel, _empty(panel, widest) if panels else None, _empty(rest, widest))
    lines += ["        if begin == end:", *(" " * 12 + line for line in empty), "            continue"]
    passes = over_columns(
        panel, _panel(panel, widest) if panels else None, _panel(rest, widest, streams=streamed is not None)
    )
    lines += [" " * 8 + line for line in passes]
    if streamed is not None:
        lines += ["    if aside:", "        fence()"]
    return define(name, lines)


def _panel(columns: int, widest: int, streams: bool = False) -> list[str]:
    """One pass over a row for the columns from c on; it may be written past the caches if it ``streams``."""
    parts = parts_of(columns, widest)
    if not parts:
        return []
    chains = 4 if columns <= 2 else 2 if columns <= FEW else 1  # sums side by side: one would wait for itself
    lines = [zeroed(f"s{at}_{chain}", width) for at, width in parts for chain in range(chains)]
    if chains > 1:
        lines += ["p = begin", f"while p + {chains} <= end:"]
        lines += [" " * 4 + line for chain in range(chains) for line in _entry(parts, chain, f"p + {chain}")]
        lines += [f"    p += {chains}", "for p in range(p, end):"]
    else:
        lines += ["for p in range(begin, end):"]
    lines += [" " * 4 + line for line in _entry(parts, 0, "p")]
    for at, width in parts:
        add = "{} + {}" if width == 1 else "vadd({}, {})"
        lines += [f"s{at}_0 = {add.format(f's{at}_0', f's{at}_{chain}')}" for chain in range(1, chains)]
        lines += _written(f"s{at}_0", width, f"target + c + {at}", streams)
    return lines


def _empty(columns: int, widest: int) -> list[str]:
    """A row without entries, for the columns from c on."""
    lines = []
    for at, width in parts_of(columns, widest):
        lines += [zeroed(f"s{width}", width), *_written(f"s{width}", width, f"target + c + {at}", False)]
    return lines


def _written(s: str, width: int, place: str, streams: bool) -> list[str]:
    """The sum s goes to y. It is scaled by the same instructions wherever it is stored: the bits must not differ."""
    if width == 1:
        return [written("y", s, width, place)]
    store = [f"    vstore(y, {place}, {s})"]
    if streams:
        store = ["    if aside:", f"        vstream(y, {place}, {s}, {PIECE})", "    else:", f"    {store[0]}"]
    return ["if fresh:", f"    {s} = vscale(alpha, {s})", *store, "else:", f"    {written('y', s, width, place)}"]


def _entry(parts: list[tuple[int, int]], chain: int, place: str) -> list[str]:
    """Add one entry times its row of x."""
    return [
        f"value = get(data, {place})",
        f"q = np.int64(get(indices, {place})) * k + c",
        *(added(f"s{at}_{chain}", width, "value", f"q + {at}") for at, width in parts),
    ]
