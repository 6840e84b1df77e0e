"""CUDA kernels for every format, over CuPy arrays.

Importing this package registers the kernels and needs no CuPy: NVRTC compiles them, through CuPy, when a product of
CuPy arrays first runs.
"""

from spformats_plugins.cuda import atomics, blocks, diagonal_product, diagonals, jagged, paper003, rows, spgemm

__all__ = ["atomics", "blocks", "diagonal_product", "diagonals", "jagged", "paper003", "rows", "spgemm"]
