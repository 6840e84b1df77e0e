"""Full bands with random values, as in the diagonal-storage paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.gallery._random_diagonals import random_diagonals
from spformats.gallery._sizes import whole

if TYPE_CHECKING:
    from spformats import SparseArray


def banded(
    n: int,
    kl: int,
    ku: int,
    *,
    seed: int | None = 0,
    dtype: Any = np.float64,
    format: str = "cdm",
    **layout: Any,
) -> SparseArray:
    """Square band matrix with random entries, uniform in [0, 1).

    Parameters
    ----------
    n : int
    kl, ku : int
        Diagonals below and above the main one, both less than n.
    seed : int, optional
        The same seed gives the same matrix in every format.
    dtype : dtype
        Complex types get imaginary parts too.
    format : str
        ``"cdm"``, ``"hm"`` and ``"cds"`` are written directly.

    Returns
    -------
    SparseArray, shape (n, n)

    Raises
    ------
    ValueError
        If a bandwidth is negative or at least n.

    References
    ----------
    S. A. Haque, M. T. Parvez, S. Hossain, *GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal
    Storage Schemes*, Algorithms 17(1) (2024), section 7.1.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.banded(100, 2, 1)
    >>> sorted(A.offsets.tolist()), A.format
    ([-2, -1, 0, 1], 'cdm')
    """
    n, kl, ku = whole("n", n), whole("kl", kl), whole("ku", ku)
    for name, width in (("kl", kl), ("ku", ku)):
        if not 0 <= width < max(n, 1):
            raise ValueError(f"{name} must be in 0..{max(n - 1, 0)} for n = {n}, got {width}")
    return random_diagonals(n, np.arange(-kl, ku + 1 if n else 0), seed, dtype, format, layout)
