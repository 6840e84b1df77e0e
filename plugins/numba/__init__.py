"""CPU kernels compiled by Numba, for NumPy arrays: products of every format at the speed of memory."""

from spformats_plugins.numba import bsr, bsr_paper, diagonal, diagonal_product, row_formats
from spformats_plugins.numba.warmup import warmup

__all__ = ["bsr", "bsr_paper", "diagonal", "diagonal_product", "row_formats", "warmup"]
