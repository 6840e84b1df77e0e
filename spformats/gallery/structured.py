"""A random set of full diagonals, as in the diagonal-storage paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.gallery._random_diagonals import random_diagonals
from spformats.gallery._sizes import whole

if TYPE_CHECKING:
    from spformats import SparseArray


def structured(
    n: int, ndiags: int, *, seed: int | None = 0, dtype: Any = np.float64, format: str = "hm", **layout: Any
) -> SparseArray:
    """Square matrix of randomly placed full diagonals with entries uniform in [0, 1).

    Parameters
    ----------
    n : int
    ndiags : int
        Diagonals, drawn from all 2n-1 without repetition.
    seed : int, optional
        The same seed gives the same matrix in every format.
    dtype : dtype
        Complex types get imaginary parts too.
    format : str
        ``"hm"``, ``"cdm"`` and ``"cds"`` are written directly.

    Returns
    -------
    SparseArray, shape (n, n)

    Raises
    ------
    ValueError
        If there are not that many diagonals.

    References
    ----------
    S. A. Haque, M. T. Parvez, S. Hossain, *GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal
    Storage Schemes*, Algorithms 17(1) (2024), section 7.2.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.structured(1000, 20, seed=3)
    >>> A.offsets.size, A.format
    (20, 'hm')
    """
    n, ndiags = whole("n", n), whole("ndiags", ndiags)
    most = max(2 * n - 1, 0)
    if not 0 <= ndiags <= most:
        raise ValueError(f"ndiags must be in 0..{most} for n = {n}, got {ndiags}")
    rng = np.random.default_rng(seed)
    offsets = np.sort(rng.choice(most, size=ndiags, replace=False)) - (n - 1)
    return random_diagonals(n, offsets, rng, dtype, format, layout)
