"""The jagged reading of a sparse matrix: longest row first, the j-th entries of all rows together.

It turns a sum over rows of unequal length into `width` whole-array operations that the array API has: gather, multiply,
add to the first rows of an accumulator. Differences of a cumulative sum would need fewer calls, but a NaN would then
spread to every later row and cancellation would eat the digits of short rows after long ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from array_api_compat import device

from spformats_plugins.reference.common import Array


@dataclass(frozen=True)
class Jagged:
    """Entries of op(A) in jagged order.

    Entry ``ptr[j] + i`` is the j-th of the i-th longest row; its value is at `pos` in the storage of A and it meets
    x at `cols`. Row r of op(A) is the ``inverse[r]``-th longest.
    """

    pos: Array
    cols: Array
    ptr: list[int]
    inverse: Array

    def accumulate(self, xp: Any, acc: Array, product: Callable[[Array, Array], Array]) -> Array:
        """Sum of ``product(pos, cols)`` over each row, rows in their own order; `acc` holds zeros and is used up."""
        for lo, hi in pairwise(self.ptr):
            count = hi - lo
            acc[:count, ...] = acc[:count, ...] + product(self.pos[lo:hi], self.cols[lo:hi])
        return xp.take(acc, self.inverse, axis=0)


@dataclass(frozen=True)
class Entries:
    """Entries in row order: the length of every row, and of every entry its row, column and place in the storage."""

    lengths: Array
    rows: Array
    cols: Array
    pos: Array


def enumerate_rows(xp: Any, lengths: Array) -> tuple[Array, Array]:
    """Row and number within the row of every entry, for rows of the given lengths."""
    ptr = xp.cumulative_sum(lengths, include_initial=True)
    entries = xp.arange(int(ptr[-1]), dtype=xp.int64, device=device(lengths))
    # by search, because not every library's `repeat` takes its counts from a device array
    rows = xp.astype(xp.searchsorted(ptr[1:], entries, side="right"), xp.int64)
    return rows, entries - xp.take(ptr, rows)


def in_row_order(xp: Any, rows: Array, cols: Array, pos: Array, count: int) -> Entries:
    """Entries in any order put in the order of their rows, of which there are `count`."""
    order = xp.argsort(rows, stable=True)
    rows = xp.take(rows, order)
    edges = xp.astype(xp.searchsorted(rows, xp.arange(count + 1, dtype=xp.int64, device=device(rows))), xp.int64)
    return Entries(edges[1:] - edges[:-1], rows, xp.take(cols, order), xp.take(pos, order))


def transposed(xp: Any, entries: Entries, columns: int) -> Entries:
    """The entries of the transpose, in the order of its rows."""
    return in_row_order(xp, entries.cols, entries.rows, entries.pos, columns)


def jagged(xp: Any, entries: Entries) -> Jagged:
    """Put entries given in row order into jagged order."""
    lengths = entries.lengths
    n = lengths.shape[0]
    order = xp.argsort(lengths, descending=True, stable=True)
    inverse = xp.argsort(order)
    longest = int(xp.max(lengths)) if n else 0
    numbers = xp.arange(longest, dtype=xp.int64, device=device(lengths))
    counts = n - xp.astype(xp.searchsorted(xp.sort(lengths), numbers, side="right"), xp.int64)
    ptr = xp.cumulative_sum(counts, include_initial=True)
    _, j = enumerate_rows(xp, lengths)
    place = xp.argsort(xp.take(ptr, j) + xp.take(inverse, entries.rows))
    return Jagged(xp.take(entries.pos, place), xp.take(entries.cols, place), [int(p) for p in ptr], inverse)
