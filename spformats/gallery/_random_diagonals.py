"""Random values on given full diagonals; what `banded` and `structured` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats import _diagonal_layouts
from spformats.formats._arrays import value_dtype

if TYPE_CHECKING:
    from spformats import SparseArray


def random_diagonals(
    n: int, offsets: np.ndarray, seed: Any, dtype: Any, format: str, layout: dict[str, Any]
) -> SparseArray:
    """Square matrix with the given sorted offsets; values uniform in [0, 1), the same in every format."""
    dtype = value_dtype(dtype)
    rng = np.random.default_rng(seed)
    lengths = n - np.abs(offsets)

    def values(k: int) -> np.ndarray:
        real = rng.random(lengths[k])
        return real + 1j * rng.random(lengths[k]) if dtype.kind == "c" else real

    native = format if format in _diagonal_layouts.NATIVE else "cds"
    built = _diagonal_layouts.build(offsets.astype(np.int64), values, (n, n), dtype, native)
    return built.asformat(format, **layout)
