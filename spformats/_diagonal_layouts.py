"""Writing diagonals straight into the three diagonal layouts, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats.formats.diagonal import diagonal_range
from spformats.linalg.diagonal_layout import ResultLayout

NATIVE = ("cds", "hm", "cdm")


def diagonal_length(shape: tuple[int, int], offset: int) -> int:
    """Entries of a diagonal; 0 or less where it misses the matrix."""
    n, m = shape
    return min(n, m - offset) - max(0, -offset)


def build(
    offsets: np.ndarray, values: Callable[[int], Any], shape: tuple[int, int], dtype: np.dtype[Any], format: str
) -> Any:
    """A diagonal format from sorted distinct offsets inside the matrix.

    ``values(k)`` gives the entries of diagonal ``offsets[k]`` from its first row on (or one number for all); it is
    called once for each k in rising order, so random values do not depend on the format.
    """
    layout = ResultLayout(format, shape, offsets)
    layout.check_size(dtype.itemsize, on_host=True)
    flat = np.zeros(layout.size, dtype=dtype)
    for k, (at, offset) in enumerate(zip(layout.base.tolist(), offsets.tolist(), strict=True)):
        lo, hi = diagonal_range(offset, *shape)
        flat[at + lo : at + hi] = values(k)
    return layout.build(flat)
