"""The arrays of a matrix in slices, see `lanes`: values, narrow columns and what names the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spformats.formats import _arrays
from spformats_plugins.cuda.transpose import Rows

LANES = 32


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


class Part(NamedTuple):
    """Rows, or pieces of long rows: the row, its first entry, how many, the number of the piece (-1: a whole row)."""

    row: Any
    start: Any
    length: Any
    piece: Any


class Place(NamedTuple):
    """Slice and place in the slice of every row, and of every slice its first row, lanes per row and rows."""

    slice: Any
    within: Any
    first: Any
    number: int


def slice_steps(xp: Any, place: Place, height: Any) -> Any:
    """Steps of every slice: those of its longest row."""
    steps = xp.zeros(place.number, dtype=np.int64)
    xp.maximum.at(steps, place.slice, height)
    return steps


def fill(xp: Any, rows: Rows, part: Part, lanes: Any, height: Any, place: Place, even: bool = False) -> Slices:
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
    base, index, width, unit_ptr = relative_columns(xp, column, step, slot, steps, step_ptr, place.slice[owner], even)
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
