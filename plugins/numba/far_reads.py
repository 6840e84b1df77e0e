"""Rows of x that no prefetcher foresees: found in the columns of a matrix, then asked for ahead of its products.

Where x is larger than the caches, a row of the matrix with a far column waits for memory, and the CPU looks only a few
rows ahead. Asking for every row of x in advance would cost more than it gains: most are near, or lie in line. So the
columns are followed through a simulated cache, and what it lacks is noted for each block of rows. The kernel asks for
the notes of the next block before it multiplies one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .caches import last_cache_bytes
from .jit import kernel
from .operands import readable
from .simd import get, put
from .simd_memory import LINE

#: Rows of the matrix whose far reads are asked for together.
ROWS = 32
#: Lines of the simulated cache: a part of the second level, the matrix passes through the rest.
LINES = 4096
#: Most lines noted for a block: more would push each other out of the first level.
MOST = 256
#: Longest row of x told apart, in lines: the reads of longer ones are noted alike.
LONGEST = 8
#: Share of the last cache that x must exceed: what comes from there, the CPU waits for without loss.
CACHED = 0.75
#: Least share of far reads among all that pays for asking.
SHARE = 1 / 40


class FarReads(NamedTuple):
    """Columns far from others before them; those of block b are ``columns[starts[b]:starts[b + 1]]``."""

    starts: np.ndarray
    columns: np.ndarray


def come_from_memory(nbytes: int) -> bool:
    """Whether the rows of an x of this size do."""
    return nbytes > CACHED * last_cache_bytes()


def alike(row_bytes: int) -> int:
    """Bytes that stand for this length of a row of x, a power of two: so few kinds of notes are kept with a matrix."""
    return min(1 << (row_bytes - 1).bit_length(), LONGEST * LINE)


def far_reads(indices: np.ndarray, ptr: np.ndarray, row_bytes: int) -> FarReads | None:
    """The far reads of a CSR matrix times an x with rows of so many bytes (see `alike`); None where they are few."""
    if row_bytes != alike(row_bytes):
        raise ValueError(f"row_bytes must be a power of two up to {LONGEST * LINE}, got {row_bytes}")
    shared = max(LINE // row_bytes, 1).bit_length() - 1  # log2 of the rows of x in a line
    lines = max(row_bytes // LINE, 1)
    cache = np.full(LINES // lines, -1, np.int64)
    blocks = -(-(len(ptr) - 1) // ROWS)
    starts, columns = np.empty(blocks + 1, np.int64), np.empty(len(indices), indices.dtype)
    found = _find(readable(indices), readable(ptr), shared, cache, MOST // lines, starts, columns)
    return FarReads(starts, columns[:found].copy()) if found >= SHARE * len(indices) else None


@kernel
def _find(indices, ptr, shared, cache, each, starts, columns):
    """Note what the ``cache`` lacks and no neighbour announces, ``each`` block so many; returns how many columns."""
    places = cache.size - 1
    found = np.int64(0)
    most = np.int64(0)
    for i in range(ptr.size - 1):
        if i % ROWS == 0:
            put(starts, i // ROWS, found)
            most = found + each
        for p in range(get(ptr, i), get(ptr, i + 1)):
            line = np.int64(get(indices, p)) >> shared
            if get(cache, line & places) != line:
                put(cache, line & places, line)
                before, behind = line - 1, line + 1
                if get(cache, before & places) != before and get(cache, behind & places) != behind and found < most:
                    put(columns, found, get(indices, p))
                    found += 1
    put(starts, starts.size - 1, found)
    return found
