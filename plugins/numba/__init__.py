"""CPU kernels compiled by Numba, for NumPy arrays: products of every format at the speed of memory."""

from spformats_plugins.numba import bsr, diagonal, diagonal_product, row_formats

__all__ = ["bsr", "diagonal", "diagonal_product", "row_formats"]
