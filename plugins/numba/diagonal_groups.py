"""Group the result diagonals of a product by four, so that pairs which share a diagonal of A can share its loads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: Result diagonals that are summed together.
GROUP = 4


class Groups(NamedTuple):
    """Which pairs of a plan share A's diagonal among the four result diagonals of a group.

    Attributes
    ----------
    shared : int64[m, GROUP]
        Numbers of pairs with one ``left``, one pair of each result diagonal of the group.
    shared_ptr : int64[groups + 1]
        Rows of ``shared`` of each group.
    rest : int64
        Numbers of the other pairs, result diagonal by result diagonal.
    rest_ptr : int64[diagonals + 1]
    first_row, last_row : int64[groups]
        Rows for which every pair and every result diagonal of the group has an entry.
    """

    shared: np.ndarray
    shared_ptr: np.ndarray
    rest: np.ndarray
    rest_ptr: np.ndarray
    first_row: np.ndarray
    last_row: np.ndarray


def groups(pairs: Any) -> Groups:
    """Group the pairs of a `spformats.linalg.diagonal_plan.DiagonalPairs`."""
    rows, inner, cols = pairs.shape
    count = len(pairs.offsets)
    number = -(-count // GROUP)
    diagonal = np.repeat(np.arange(count), np.diff(pairs.ptr))
    group = diagonal // GROUP
    key = group * max(len(pairs.a_offsets), 1) + pairs.left
    order = np.argsort(key, kind="stable")  # inside a key, by result diagonal
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    lengths = np.diff(np.append(begins, len(order)))
    whole = begins[lengths == GROUP]
    shared = order[whole[:, None] + np.arange(GROUP)]
    alone = np.ones(len(key), dtype=bool)
    alone[shared.ravel()] = False
    shift = pairs.a_offsets[pairs.left]
    first = np.zeros(number, dtype=np.int64)
    last = np.full(number, rows, dtype=np.int64)
    for at, low, high in (
        (group, -shift, inner - shift),
        (np.arange(count) // GROUP, -pairs.offsets, cols - pairs.offsets),
    ):
        np.maximum.at(first, at, low)
        np.minimum.at(last, at, high)
    return Groups(
        shared,
        _pointers(np.bincount(group[shared[:, 0]], minlength=number)),
        np.flatnonzero(alone),
        _pointers(np.bincount(diagonal[alone], minlength=count)),
        first,
        last,
    )


def _pointers(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
