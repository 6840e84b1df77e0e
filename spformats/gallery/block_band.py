"""The stochastic block-band matrix of the BSR paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.formats._arrays import index_dtype, value_dtype
from spformats.formats.bsr import BSR
from spformats.gallery._sizes import whole

if TYPE_CHECKING:
    from spformats import SparseArray


def block_band(
    n: int = 32000,
    *,
    blocksize: tuple[int, int] = (5, 5),
    density: float = 0.05,
    seed: int | None = 0,
    dtype: Any = np.float64,
    format: str = "bsr",
    **layout: Any,
) -> SparseArray:
    """Square band of full blocks, all entries positive, every row summing to 1.

    Every block row has the same number of neighbouring blocks, ``round(density * n / C)``, centred on the diagonal and
    moved inwards at the ends: the defaults give the paper's 2 048 000 blocks exactly.

    Parameters
    ----------
    n : int
        A multiple of both block lengths.
    blocksize : (int, int)
        Rows R and columns C of a block.
    density : float
        Share of stored entries, in (0, 1].
    seed : int, optional
    dtype : dtype
    format : str
        ``"bsr"`` is built directly.

    Returns
    -------
    SparseArray, shape (n, n)

    Raises
    ------
    ValueError
        If a block length does not divide n, or ``density`` is outside (0, 1].

    References
    ----------
    A. Chirilă, *Architectural-Aware Optimization of Sparse Matrix-Vector Multiplication on GPUs* (2025), section 5.1.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.block_band(1000)
    >>> A.blocksize, A.nnz / 1000**2
    ((5, 5), 0.05)
    """
    n = whole("n", n)
    r, c = (whole("blocksize", length) for length in blocksize)
    if r < 1 or c < 1 or n % r or n % c:
        raise ValueError(f"blocksize must divide n = {n}, got {blocksize}")
    if not 0 < density <= 1:
        raise ValueError(f"density must be in (0, 1], got {density}")
    dtype = value_dtype(dtype)
    rows, cols = n // r, n // c
    width = min(max(round(density * cols), 1), cols)
    middle = (np.arange(rows) * r + r // 2) // c
    first = np.clip(middle - width // 2, 0, cols - width)
    rng = np.random.default_rng(seed)
    # (0, 1]: a zero would not be an entry of the band
    values = 1 - rng.random((rows, width, r, c), dtype=np.float32 if dtype.char in "fF" else np.float64)
    values /= values.sum(axis=(1, 3), keepdims=True)
    parts = {
        "data": values.reshape(rows * width, r, c).astype(dtype, copy=False),
        "indices": (first[:, None] + np.arange(width)).ravel().astype(index_dtype(n)),
        "indptr": np.arange(rows + 1, dtype=np.int64) * width,
    }
    matrix = BSR._build(parts, (n, n), blocksize=(r, c))
    return matrix if format == "bsr" and not layout else matrix.asformat(format, **layout)
