"""CSR times a matrix of k columns: panels of 32 columns, and one of what is left, whose shape the compiler knows.

A row's entries are read once per panel; later panels find them in the cache. Rows are short, so a panel for every
number of columns, which reads them once, beats a few fixed panels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define
from .panels import added, over_columns, parts_of, written, zeroed

#: Columns of a panel, which are read in one pass.
PANEL = 32
#: Columns up to which a product is bound by reading the matrix, so that asking for it ahead pays.
FEW = 8


def spmm(k: int, far: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi)`` for this number of columns.

    ``far`` is how many bytes ahead of each row's first entry the matrix is prefetched, 0 for not at all.
    """
    return _spmm(k >= PANEL, k % PANEL, far if k <= FEW else 0)


@cache
def _spmm(panels: bool, rest: int, far: int) -> Callable[..., Any]:
    name = f"csr_spmm_{PANEL if panels else 0}_{rest}_{far}"
    lines = [
        f"def {name}(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        f"    ahead = {far} // data.itemsize",
        "    for i in range(lo, hi):",
        "        begin, end = get(ptr, i), get(ptr, i + 1)",
        "        target = i * k",
        "        c = 0",
    ]
    if far:
        lines += [f"        prefetch({array}, begin + ahead, 8)" for array in ("data", "indices")]
    passes = over_columns(PANEL, _panel(PANEL) if panels else None, _panel(rest))
    lines += [" " * 8 + line for line in passes]
    return define(name, lines)


def _panel(columns: int) -> list[str]:
    """One pass over a row for the columns from c on."""
    parts = parts_of(columns)
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
        lines.append(written(f"s{at}_0", width, f"target + c + {at}"))
    return lines


def _entry(parts: list[tuple[int, int]], chain: int, place: str) -> list[str]:
    """Add one entry times its row of x."""
    return [
        f"value = get(data, {place})",
        f"q = np.int64(get(indices, {place})) * k + c",
        *(added(f"s{at}_{chain}", width, "value", f"q + {at}") for at, width in parts),
    ]
