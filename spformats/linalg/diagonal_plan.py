"""The symbolic step of a diagonal product: which pairs of diagonals meet in which diagonal of the result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

Offsets = np.ndarray[Any, Any]
#: Plans of at most this many pairs are kept for the next product of the same structure.
CACHED_PAIRS = 2**20


class DiagonalPairs:
    """Pairs of diagonals per diagonal of C = op(A) op(B).

    Attributes
    ----------
    shape : (rows, inner, cols)
    a_offsets, b_offsets : int64, sorted
        The operands' diagonals.
    offsets : int64, sorted
        The diagonals of the result: the sums ``a + b`` of which at least one entry exists.
    ptr : int64[len(offsets) + 1]
    left, right : int32[ptr[-1]]
        Diagonal ``c`` of the result sums the products of diagonals ``left[t]`` of A and ``right[t]`` of B for
        ``ptr[c] <= t < ptr[c+1]``: entry (i, i+oc) takes A's entry of row i times B's entry of row i+oa, for rows
        ``max(0, -oa, -oc) <= i < min(rows, inner - oa, cols - oc)``.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        a_offsets: Offsets,
        b_offsets: Offsets,
        offsets: Offsets,
        ptr: Offsets,
        left: Offsets,
        right: Offsets,
    ):
        self.shape, self.a_offsets, self.b_offsets = shape, a_offsets, b_offsets
        self.offsets, self.ptr, self.left, self.right = offsets, ptr, left, right
        self._derived: dict[Any, Any] = {}
        #: Launches of kernels for these pairs, see `spformats.linalg.diagonal_run.launch_for`.
        self.launches: dict[Any, Any] = {}

    def derived(self, key: Any, factory: Callable[[DiagonalPairs], Any]) -> Any:
        """Something a kernel derives from the pairs (a copy on a device, say), made once."""
        if key not in self._derived:
            self._derived[key] = factory(self)
        return self._derived[key]

    def select(self, keep: np.ndarray[Any, Any]) -> DiagonalPairs:
        """The pairs of some of the result's diagonals (a boolean per diagonal): one triangle, say."""
        counts = np.diff(self.ptr)
        pairs = np.repeat(keep, counts)
        ptr = np.concatenate([[0], np.cumsum(counts[keep])]).astype(np.int64)
        return DiagonalPairs(
            self.shape, self.a_offsets, self.b_offsets, self.offsets[keep], ptr, self.left[pairs], self.right[pairs]
        )

    def embed(self, offsets: Offsets) -> DiagonalPairs:
        """The pairs for a result that stores other diagonals too; those have no pairs.

        Raises
        ------
        ValueError
            If ``offsets`` lacks a diagonal of the product.
        """
        if np.array_equal(offsets, self.offsets):
            return self
        missing = np.setdiff1d(self.offsets, offsets)
        if len(missing):
            raise ValueError(
                f"the output does not store diagonal {missing[0]}, where the product has entries ({len(missing)} "
                "diagonals are missing); give it the plan's offsets or more"
            )

        def make(self: DiagonalPairs) -> DiagonalPairs:
            counts = np.zeros(len(offsets), dtype=np.int64)
            counts[np.searchsorted(offsets, self.offsets)] = np.diff(self.ptr)
            ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            return DiagonalPairs(self.shape, self.a_offsets, self.b_offsets, offsets, ptr, self.left, self.right)

        return self.derived(("embedded", offsets.tobytes()), make)

    @property
    def multiplications(self) -> int:
        """Multiplications of one product: entries of A times the entries of B they meet."""
        rows, inner, cols = self.shape
        a = self.a_offsets[self.left]
        c = np.repeat(self.offsets, np.diff(self.ptr))
        lo = np.maximum(np.maximum(-a, -c), 0)
        hi = np.minimum(np.minimum(inner - a, cols - c), rows)
        return int(np.maximum(hi - lo, 0).sum())


def diagonal_pairs(a_offsets: Offsets, b_offsets: Offsets, shape: tuple[int, int, int]) -> DiagonalPairs:
    """The pairs of a product; kept for the next product of the same structure.

    Parameters
    ----------
    a_offsets, b_offsets : int64 arrays, sorted and distinct
    shape : (rows, inner, cols)
    """
    if len(a_offsets) * len(b_offsets) > CACHED_PAIRS:
        return _find_pairs(a_offsets, b_offsets, shape)
    return _cached_pairs(a_offsets.tobytes(), b_offsets.tobytes(), shape)


@functools.lru_cache(maxsize=64)
def _cached_pairs(a: bytes, b: bytes, shape: tuple[int, int, int]) -> DiagonalPairs:
    return _find_pairs(np.frombuffer(a, dtype=np.int64).copy(), np.frombuffer(b, dtype=np.int64).copy(), shape)


def _find_pairs(a_offsets: Offsets, b_offsets: Offsets, shape: tuple[int, int, int]) -> DiagonalPairs:
    rows, inner, cols = shape
    sums = a_offsets[:, None] + b_offsets
    lo = np.maximum(np.maximum(-a_offsets, 0)[:, None], -sums)
    hi = np.minimum(np.minimum(inner - a_offsets, rows)[:, None], cols - sums)
    meets = (lo < hi).ravel()
    sums = sums.ravel()
    pairs = np.arange(sums.shape[0]) if meets.all() else np.flatnonzero(meets)
    sums = sums[pairs]
    order = _stable_order(sums)
    sums = sums[order]
    first = np.flatnonzero(np.diff(sums, prepend=sums[:1] - 1))
    left, right = np.divmod(pairs[order], max(len(b_offsets), 1))
    ptr = np.append(first, len(sums)).astype(np.int64)
    return DiagonalPairs(shape, a_offsets, b_offsets, sums[first], ptr, left.astype(np.int32), right.astype(np.int32))


def _stable_order(sums: Offsets) -> Offsets:
    lowest = int(sums.min(initial=0))
    if int(sums.max(initial=0)) - lowest < 2**16:  # NumPy sorts 16-bit integers by radix, several times faster
        return np.argsort((sums - lowest).astype(np.uint16), kind="stable")
    return np.argsort(sums, kind="stable")
