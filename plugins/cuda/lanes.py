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

from typing import Any

import numpy as np

from spformats.formats import _arrays
from spformats_plugins.cuda.slices import LANES, Part, Place, Slices, fill, slice_steps
from spformats_plugins.cuda.transpose import Rows

#: Padding, as a factor, that a window may keep to leave its rows in their own order.
SLACK = 1.03
#: Padding, as a factor, with which the search for a window ends.
SPARE = 1.08


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
