"""CPU kernels compiled by Numba, for NumPy arrays: products of every format at the speed of memory."""

from spformats_plugins.numba import diagonal, row_formats

__all__ = ["diagonal", "row_formats"]
