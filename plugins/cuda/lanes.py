"""PJAD's own layout for the GPU: a block size per slice, columns in one or two bytes, long rows cut up.

A slice is 32 lanes wide. A row takes k = 1, 2, … 32 neighbouring lanes, so that its steps, ``ceil(length / k)``, are
few; rows of equal k share slices of 32/k rows. Inside windows of `window` rows, rows are put in order of k, and of
steps where that saves padding: a slice holds rows of one length that are still neighbours in the matrix. A step is 32
neighbouring values, one per lane: reads are contiguous, and lanes add up by shuffles. Columns are kept as differences
to the smallest of their step, in 1, 2 or 4 bytes, whatever the slice needs. Rows longer than `longest` become several
rows whose sums are added afterwards, in a fixed order.

The layout is a plan of the matrix, in memory of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spformats.formats import _arrays
from spformats_plugins.cuda.transpose import Rows

LANES = 32
#: Padding, as a factor, that a window may keep to leave its rows in their own order.
SLACK = 1.03
#: Padding, as a factor, with which the search for a window ends.
SPARE = 1.08


class Slices(NamedTuple):
    """A matrix in slices; see ``lanes.cuh`` for how the arrays are read."""

    slice: Any
    rowmap: Any
    base: Any
    columns: Any
    data: Any
    number: int
    shape: tuple[int, int]
    target: Any
    ptr: Any
    pieces: int
    widths: int
    even: tuple[int, int] | None

    @property
    def nbytes(self) -> int:
        return sum(int(part.nbytes) for part in (self.slice, self.rowmap, self.base, self.columns, self.data))


#: Rows up to this long take one lane each where they are all alike.
SHORT = 16
#: Windows tried in turn, until one leaves little padding: short ones keep rows near their neighbours.
WINDOWS = (256, 1024, 4096)
#: Rows longer than this are cut up.
LONGEST = 1024


def steps_for(nnz: int, rows: int, longest: int) -> int:
    """Steps a row may take before it gets more lanes.

    Small matrices need many slices to fill the device. In slices of short rows a few long ones must not set the pace.
    """
    if nnz < 12 * rows and longest > 32:
        return 8
    return next((steps for steps, most in ((4, 400_000), (8, 1_300_000), (16, 3_000_000)) if nnz < most), 32)


def pack(rows: Rows, window: int | None = None, steps: int | None = None, longest: int | None = None) -> Slices:
    """Put a CSR matrix into slices.

    Parameters
    ----------
    rows : Rows
        CSR arrays.
    window : int, optional
        Rows are reordered inside windows of so many; by default the shortest of `WINDOWS` that leaves little padding.
    steps : int, optional
        A row of more entries than this times k gets more than k lanes; see `steps_for`.
    longest : int, optional
        Longer rows are cut up; by default `LONGEST`.
    """
    longest = LONGEST if longest is None else longest
    xp = _arrays.xp_of(rows.data)
    nnz = int(rows.indices.shape[0])
    part = cut_rows(xp, rows.indptr, longest)
    if steps is None:
        steps = steps_for(nnz, rows.shape[0], int(part.length.max()) if nnz else 0)
    lanes = xp.ones(part.length.shape[0], dtype=np.int64)
    if not (nnz and int(part.length.max()) <= SHORT and evenly(part, lanes, nnz)):
        for k in (2, 4, 8, 16, 32):
            lanes[part.length > steps * k // 2] = k
    height = -(-part.length // lanes)
    if nnz and evenly(part, lanes, nnz):
        number = xp.arange(height.shape[0])
        per_slice = LANES // int(lanes[0])
        place = Place(number // per_slice, number % per_slice, number[::per_slice], -(-height.shape[0] // per_slice))
        return fill(xp, rows, part, lanes, xp.full_like(height, int(height.max())), place, even=True)
    found: tuple[int, Any] | None = None
    for w in WINDOWS if window is None else (window,):
        slots, order = slice_order(xp, lanes, height, w)
        if found is None or slots < found[0]:
            found = slots, (order, w)
        if slots <= SPARE * nnz:
            break
    assert found is not None
    order, w = found[1]
    part, lanes, height = Part(*(field[order] for field in part)), lanes[order], height[order]
    return fill(xp, rows, part, lanes, height, place_rows(xp, lanes, w, order))


def evenly(part: Part, lanes: Any, nnz: int) -> bool:
    """Whether all slices can be alike, rows in their own order, for little padding."""
    if bool((part.piece >= 0).any()) or bool((lanes != lanes[0]).any()):
        return False
    k = int(lanes[0])
    steps = -(-int(part.length.max()) // k)
    slots = -(-part.row.shape[0] * k // LANES) * LANES * steps
    return slots <= SLACK * nnz + LANES * steps


class Part(NamedTuple):
    """Rows, or pieces of long rows: the row, its first entry, how many, the number of the piece (-1: a whole row)."""

    row: Any
    start: Any
    length: Any
    piece: Any


def cut_rows(xp: Any, indptr: Any, longest: int) -> Part:
    lengths = xp.diff(indptr)
    n = lengths.shape[0]
    counts = xp.maximum(1, -(-lengths // longest))
    if not n or int(counts.max()) == 1:
        return Part(xp.arange(n), indptr[:-1], lengths, xp.full(n, -1, dtype=np.int64))
    ptr = _arrays.pointers(counts)
    row = _arrays.rows_of(ptr)
    number = xp.arange(row.shape[0]) - ptr[row]
    each = -(-lengths // counts)[row]
    start = indptr[row] + number * each
    length = xp.minimum(each, indptr[row + 1] - start)
    cut = counts[row] > 1
    piece = xp.where(cut, xp.cumsum(cut) - 1, -1)
    return Part(row, start, length, piece)


def slice_order(xp: Any, lanes: Any, height: Any, window: int) -> tuple[int, Any]:
    """How many slots the slices will have, and the order of the rows.

    In each window rows of many lanes come first, then, where it saves padding, of many steps; equal ones stay in order.
    """
    n = lanes.shape[0]
    most = int(height.max()) + 1 if n else 1
    number = xp.arange(n) // window
    key = (number * 64 + 32 - lanes) * most
    as_they_are, sorted_ = key, key + (most - 1 - height)
    steps = []
    for candidate in (as_they_are, sorted_):
        order = xp.argsort(candidate, kind="stable")
        place = place_rows(xp, lanes[order], window, order)
        tallest = slice_steps(xp, place, height[order]).astype(np.float64)
        steps.append(xp.bincount(number[order[place.first]], weights=tallest, minlength=-(-n // window)))
    # rows in their own order need no names, and keep their neighbours: worth a little padding
    keep = steps[0] <= SLACK * steps[1]
    total = int(xp.where(keep, *steps).sum()) * LANES
    return total, xp.argsort(xp.where(keep[number], as_they_are, sorted_), kind="stable")


def slice_steps(xp: Any, place: Place, height: Any) -> Any:
    """Steps of every slice: those of its longest row."""
    steps = xp.zeros(place.number, dtype=np.int64)
    xp.maximum.at(steps, place.slice, height)
    return steps


class Place(NamedTuple):
    """Slice and place in the slice of every row, and of every slice its first row, lanes per row and rows."""

    slice: Any
    within: Any
    first: Any
    number: int


def place_rows(xp: Any, lanes: Any, window: int, order: Any) -> Place:
    """Fill slices of 32/k rows with rows of one window and one k."""
    n = lanes.shape[0]
    group_key = order // window * 64 + lanes
    new = xp.ones(n, dtype=bool)
    new[1:] = group_key[1:] != group_key[:-1]
    starts = xp.flatnonzero(new)
    group = xp.cumsum(new) - 1
    position = xp.arange(n) - starts[group]
    per_slice = LANES // lanes
    within = position % per_slice
    opens = within == 0
    return Place(xp.cumsum(opens) - 1, within, xp.flatnonzero(opens), int(opens.sum()))


def fill(
    xp: Any, rows: Rows, part: Part, lanes: Any, height: Any, place: Place, even: bool = False
) -> Slices:
    first, count = place.first, place.number
    k, steps = lanes[first], slice_steps(xp, place, height)
    step_ptr = _arrays.pointers(steps)
    total = int(step_ptr[-1]) if count else 0
    entry_ptr = _arrays.pointers(part.length)
    owner = _arrays.rows_of(entry_ptr)
    e = xp.arange(owner.shape[0]) - entry_ptr[owner]
    step = step_ptr[place.slice[owner]] + e // lanes[owner]
    lane = place.within[owner] * lanes[owner] + e % lanes[owner]
    source = part.start[owner] + e
    slot = step * LANES + lane
    del e, lane
    data = xp.zeros(total * LANES, dtype=rows.data.dtype)
    data[slot] = rows.data[source]
    column = rows.indices[source].astype(np.int64)
    base, index, width, unit_ptr = relative_columns(
        xp, column, step, slot, steps, step_ptr, place.slice[owner], even
    )
    named, rowmap, names = name_rows(xp, part, place, count)
    members = xp.bincount(place.slice, minlength=count)
    log_k = xp.zeros(count, dtype=np.int64)
    for bit in range(1, 6):
        log_k += k >> bit > 0
    packed = steps | log_k << 16 | width << 19 | named << 21 | members << 22
    words = xp.stack([step_ptr[:-1], unit_ptr[:-1], names, packed], axis=1)
    target, ptr, pieces = piece_rows(xp, part)
    widths = sum(1 << w for w in range(3) if bool((width == w).any())) or 1
    slices = xp.ascontiguousarray(words.astype(np.uint32))
    shape = (int(steps[0]), int(log_k[0])) if even else None
    return Slices(slices, rowmap, base, index, data, count, rows.shape, target, ptr, pieces, widths, shape)


def relative_columns(
    xp: Any, column: Any, step: Any, slot: Any, steps: Any, step_ptr: Any, owner: Any, even: bool
) -> tuple[Any, Any, Any, Any]:
    """Columns as differences to the smallest of their step, as narrow as each slice allows (`even`: as all allow).

    Returns
    -------
    base : int32 array, one per step
    index : uint8 array, all bits set where there is padding
    width : array, 0, 1 or 2 for 1, 2 or 4 bytes, one per slice
    unit_ptr : array
        Where each slice begins in `index`, in units of 32 bytes.
    """
    count, total = steps.shape[0], int(step_ptr[-1]) if steps.shape[0] else 0
    base = xp.full(total, np.iinfo(np.int64).max, dtype=np.int64)
    xp.minimum.at(base, step, column)
    difference = column - base[step]
    width = xp.zeros(count, dtype=np.int64)
    for w, largest in ((1, 0xFF), (2, 0xFFFF)):
        wide = xp.zeros(count, dtype=bool)
        wide[owner[difference >= largest]] = True
        width[wide if not even else wide | wide.any()] = w
    unit_ptr = _arrays.pointers(steps << width)
    index = xp.full(int(unit_ptr[-1]) * 32 if count else 0, 0xFF, dtype=np.uint8)
    local = slot - step_ptr[owner] * LANES
    of_entry = width[owner]
    for w, dtype in enumerate((np.uint8, np.uint16, np.uint32)):
        chosen = xp.flatnonzero(of_entry == w)
        if chosen.shape[0]:
            at = unit_ptr[owner[chosen]] * (32 >> w) + local[chosen]
            index.view(dtype)[at] = difference[chosen].astype(dtype)
    return base.astype(np.int32), index, width, unit_ptr


def name_rows(xp: Any, part: Part, place: Place, count: int) -> tuple[Any, Any, Any]:
    """Which slices need their rows named, the names, and where each slice's names begin (or its first row)."""
    leader = part.row[place.first][place.slice] if count else part.row
    odd = (part.row != leader + place.within) | (part.piece >= 0)
    named = xp.zeros(count, dtype=np.int64)
    named[place.slice[odd]] = 1
    inside = named[place.slice] == 1
    rowmap = xp.where(part.piece >= 0, -1 - part.piece, part.row)[inside].astype(np.int32)
    position = xp.cumsum(inside) - 1
    names = xp.where(named == 1, position[place.first], part.row[place.first]) if count else named
    return named, rowmap, names


def piece_rows(xp: Any, part: Part) -> tuple[Any, Any, int]:
    """The rows that were cut, and where the pieces of each begin."""
    cut = xp.flatnonzero(part.piece >= 0)
    pieces = int(cut.shape[0])
    if not pieces:
        none = xp.zeros(0, dtype=np.int64)
        return none, none, 0
    owner = xp.empty(pieces, dtype=np.int64)
    owner[part.piece[cut]] = part.row[cut]
    new = xp.ones(pieces, dtype=bool)
    new[1:] = owner[1:] != owner[:-1]
    starts = xp.flatnonzero(new)
    return owner[starts], xp.concatenate([starts, xp.asarray([pieces])]).astype(np.int64), pieces
