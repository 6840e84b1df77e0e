"""Writing diagonals straight into the three diagonal layouts, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats.formats._arrays import pointers
from spformats.formats.cdm import CDM, compact_rows
from spformats.formats.cds import CDS
from spformats.formats.diagonal import canonical_order, diagonal_range, require_square
from spformats.formats.hm import HM

NATIVE = ("cds", "hm", "cdm")


def diagonal_length(shape: tuple[int, int], offset: int) -> int:
    """Entries of a diagonal; 0 or less where it misses the matrix."""
    n, m = shape
    return min(n, m - offset) - max(0, -offset)


def build(
    offsets: np.ndarray, values: Callable[[int], Any], shape: tuple[int, int], dtype: np.dtype[Any], format: str
) -> CDS | HM | CDM:
    """A diagonal format from sorted distinct offsets inside the matrix.

    ``values(k)`` gives the entries of diagonal ``offsets[k]`` from its first row on (or one number for all); it is
    called once for each k in rising order, so random values do not depend on the format.
    """
    n = shape[0]
    flat_offsets = offsets.tolist()
    if format == "cds":
        data = np.zeros((len(flat_offsets), n), dtype=dtype)
        for k, offset in enumerate(flat_offsets):
            lo, hi = diagonal_range(offset, *shape)
            data[k, lo:hi] = values(k)
        return CDS._build({"data": data, "offsets": offsets}, shape, symmetric=False)
    require_square(format, shape)
    ordered = canonical_order(offsets)
    rank = np.argsort(ordered)
    if format == "hm":
        lengths = n - np.abs(ordered)
        starts = pointers(lengths)
        flat = np.empty(int(starts[-1]), dtype=dtype)
        for k in range(len(flat_offsets)):
            flat[starts[rank[k]] : starts[rank[k] + 1]] = values(k)
        return HM._build({"data": flat, "offsets": ordered, "starts": starts[:-1]}, shape)
    rows, count = compact_rows(ordered, n)
    packed = np.zeros((count, n), dtype=dtype)
    for k, offset in enumerate(flat_offsets):
        lo, hi = diagonal_range(offset, n, n)
        packed[rows[rank[k]], lo:hi] = values(k)
    return CDM._build({"data": packed, "offsets": ordered, "rows": rows}, shape, transposed=False)
