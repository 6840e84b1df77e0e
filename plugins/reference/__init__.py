"""Products of every format in pure array-API calls: slow beside a compiled kernel, right on every array library.

Nothing here names an array library. The kernels use the 2024.12 standard (``take`` with an integer array is part of
it), so they run on NumPy, CuPy, torch, array_api_strict and whatever comes next. A new format with a method
``_slots()`` (see `slots`) has its products at once.
"""

from spformats_plugins.reference import blocks, diagonal_product, diagonals, rows, slots, spgemm

__all__ = ["blocks", "diagonal_product", "diagonals", "rows", "slots", "spgemm"]
