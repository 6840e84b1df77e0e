"""Products of every format in pure array-API calls: slow beside a compiled kernel, right on every array library.

Nothing here names an array library. The kernels use the 2024.12 standard (``take`` with an integer array is part of
it), so they run on NumPy, CuPy, torch, array_api_strict and whatever comes next. A new row or diagonal format that
follows one of the three readings below gets its products by one registration.
"""

from spformats_plugins.reference import blocks, diagonals, rows

__all__ = ["blocks", "diagonals", "rows"]
