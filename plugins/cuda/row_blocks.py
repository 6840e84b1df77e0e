"""How the rows of a CSR matrix are shared out to thread blocks: whole rows, about equally many entries in each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: Rows one block takes at most, however empty they are.
MOST_ROWS = 8192
#: Part of the entries that may lie in rows which are cut up.
CUT = 0.01
#: Entries that could be read in the time that the two launches for cut rows take (4 us on an H200).
LAUNCHES = 1_000_000


class RowBlocks(NamedTuple):
    """Blocks of whole rows, and the rows that are too long for one.

    Attributes
    ----------
    starts : int64[blocks + 1, 2]
        First row and first entry of each block.
    limit : int
        Rows of more entries are cut up; each has a block of its own, which does nothing.
    """

    starts: Any
    limit: int


def share_out(xp: Any, indptr: Any, chunk: int) -> RowBlocks:
    """Blocks of at most ``chunk`` entries; rows longer than the limit have one each."""
    n = indptr.shape[0] - 1
    lengths = xp.diff(indptr)
    limit = limit_for(lengths, chunk)
    short = xp.where(lengths > limit, 0, lengths)
    longest = int(short.max()) if n else 0
    before = xp.zeros(n + 1, dtype=np.int64)
    xp.cumsum(short, out=before[1:])
    total = int(before[-1])
    # a row that begins before a multiple of the step ends less than `longest` behind it
    even = xp.searchsorted(before, xp.arange(0, max(total, 1), max(1, chunk - longest)))
    cut = xp.flatnonzero(lengths > limit)
    ends = xp.asarray([n], dtype=np.int64)
    rows = xp.unique(xp.concatenate([even, cut, cut + 1, xp.arange(0, n, MOST_ROWS), ends]).astype(np.int64))
    return RowBlocks(xp.ascontiguousarray(xp.stack([rows, indptr[rows]], axis=1)), limit)


def limit_for(lengths: Any, chunk: int) -> int:
    """The length from which on rows are cut up, by what a product would cost: see `LAUNCHES`.

    The longer the rows that stay whole, the less of a block is used on average; cutting takes launches of its own.
    """
    nnz, longest = (int(lengths.sum()), int(lengths.max())) if lengths.shape[0] else (0, 0)
    costs = {longest: nnz / (1 - longest / chunk)} if longest <= chunk // 2 else {}
    for limit in (chunk // 16, chunk // 8, chunk // 4):
        if limit < longest and int(lengths[lengths > limit].sum()) <= CUT * nnz:
            costs[limit] = nnz / (1 - limit / chunk) + LAUNCHES
    return min(costs, key=lambda limit: costs[limit]) if costs else chunk // 2
