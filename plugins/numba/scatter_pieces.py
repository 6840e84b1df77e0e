"""Which rows of a transposed product may add into y itself, and which need a buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

#: Parts of a range that are looked at one by one.
PARTS = 64
#: Share of the buffer of a whole range up to which several smaller ones pay.
SMALLER = 0.75

Window = tuple[int, int]


class Piece(NamedTuple):
    """Rows ``begin`` to ``end``, which add into a buffer for columns ``first`` to ``last``; into y if both are 0."""

    begin: int
    end: int
    first: int = 0
    last: int = 0


def pieces_of(
    window: Callable[[int, int], Window], ranges: Sequence[Window], align: int, weights: np.ndarray
) -> list[list[Piece]]:
    """The pieces of every range, in the order of the rows.

    The first range adds into y. Of any other, a run of parts that lies outside the windows of all other ranges does,
    too, if what is left needs smaller buffers than the whole: of a matrix with a band, all but what is next to the
    range before and after.

    Parameters
    ----------
    window : callable
        ``window(lo, hi)``: the first column and one past the last that these rows touch, (0, 0) if none.
    ranges : sequence of (lo, hi)
    align : int
        Pieces begin at multiples of it, as the ranges do.
    weights : ndarray
        Monotone; ``weights[hi] - weights[lo]`` is the work of these rows.
    """
    if len(ranges) == 1:
        return [[Piece(*ranges[0])]]
    parts = [_parts(window, lo, hi, align) for lo, hi in ranges]
    windows = [_together(those) for those in parts]
    found = [[Piece(*ranges[0])]]
    for t in range(1, len(ranges)):
        others = [w for s, w in enumerate(windows) if s != t and w != (0, 0)]
        before = max((last for first, last in others if first <= windows[t][0]), default=0)
        behind = min((first for first, _ in others if first > windows[t][0]), default=windows[t][1])
        alone = [(before <= p.first and p.last <= behind) or p.last == 0 for p in parts[t]]
        begin, end = _heaviest_run(alone, parts[t], weights)
        head, own, tail = parts[t][:begin], parts[t][begin:end], parts[t][end:]
        kinds = ((head, _together(head)), (own, (0, 0)), (tail, _together(tail)))
        pieces = [Piece(rows[0].begin, rows[-1].end, *columns) for rows, columns in kinds if rows]
        whole = Piece(*ranges[t], *windows[t])
        found.append(pieces if sum(map(_width, pieces)) <= SMALLER * _width(whole) else [whole])
    return found


def _parts(window: Callable[[int, int], Window], lo: int, hi: int, align: int) -> list[Piece]:
    cuts = np.unique(np.append(np.linspace(lo, hi, PARTS + 1).astype(np.int64)[:-1] // align * align, hi)).tolist()
    return [Piece(begin, end, *window(begin, end)) for begin, end in pairwise(cuts)]


def _together(parts: Sequence[Piece]) -> Window:
    """The columns of all parts, (0, 0) if there are none."""
    windows = [(p.first, p.last) for p in parts if p.last]
    return (min(w[0] for w in windows), max(w[1] for w in windows)) if windows else (0, 0)


def _width(piece: Piece) -> int:
    return piece.last - piece.first


def _heaviest_run(flags: Sequence[bool], parts: Sequence[Piece], weights: np.ndarray) -> Window:
    """Begin and end of the run of true flags whose rows have the most work."""
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(np.int8)))
    runs = edges.reshape(-1, 2).tolist()
    work = [weights[parts[end - 1].end] - weights[parts[begin].begin] for begin, end in runs]
    begin, end = runs[int(np.argmax(work))] if runs else (0, 0)
    return begin, end
