"""Rows whose lengths follow a power law: graphs, circuits, and the hard case for padded formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from spformats.formats._arrays import value_dtype
from spformats.gallery._sizes import whole
from spformats.interop.asarray import asarray

if TYPE_CHECKING:
    from spformats import SparseArray


def power_law(
    n: int,
    mean: float = 8.0,
    *,
    exponent: float = 2.2,
    seed: int | None = 0,
    dtype: Any = np.float64,
    format: str = "csr",
    **layout: Any,
) -> SparseArray:
    """Square matrix whose row lengths and column popularity follow a power law; diagonal stored.

    Parameters
    ----------
    n : int
    mean : float
        Entries of a row on average, about (repeated draws fall together).
    exponent : float
        Of the degree distribution, above 1; smaller means longer longest rows.
    seed : int, optional
    dtype : dtype
        Values are uniform in [-1, 1), the diagonal dominates its row.
    format : str
        The format to return, with its layout options.

    Returns
    -------
    SparseArray, shape (n, n)

    References
    ----------
    A. Clauset, C. R. Shalizi, M. E. J. Newman, *Power-law distributions in empirical data*, SIAM Review 51 (2009).

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.power_law(2000)
    >>> A.shape
    (2000, 2000)
    """
    n = whole("n", n)
    if exponent <= 1:
        raise ValueError(f"exponent must be above 1, got {exponent}")
    if mean < 1:
        raise ValueError(f"mean must be at least 1, got {mean}")
    rng = np.random.default_rng(seed)
    weight = (1 - rng.random(n)) ** (-1 / (exponent - 1))
    lengths = np.minimum(rng.poisson(weight * ((mean - 1) * n / max(weight.sum(), 1.0))), max(n - 1, 0))
    rows = np.repeat(np.arange(n), lengths)
    cols = rng.permutation(n)[np.minimum(n * rng.random(rows.size) ** 2, n - 1).astype(np.int64)]
    off = rows != cols
    values = rng.uniform(-1, 1, np.count_nonzero(off)).astype(value_dtype(dtype))
    matrix = sp.coo_array((values, (rows[off], cols[off])), shape=(n, n)).tocsr()
    dominance = np.asarray(abs(matrix).sum(axis=1)).ravel() + 1
    matrix = matrix + sp.dia_array((dominance[None], [0]), shape=(n, n))
    return asarray(matrix.tocsr(), dtype=value_dtype(dtype), format=format, **layout)
