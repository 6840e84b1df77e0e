"""A dense symmetric positive definite matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.formats._arrays import index_dtype, value_dtype
from spformats.formats.bsr import BSR
from spformats.gallery._sizes import whole

if TYPE_CHECKING:
    from spformats import SparseArray


def dense_spd(
    n: int, *, shift: float = 1e-3, seed: int | None = 0, dtype: Any = np.float64, format: str = "bsr", **layout: Any
) -> SparseArray:
    """Random full matrix Cᴴ C + shift·I, C uniform in [0, 1).

    Parameters
    ----------
    n : int
    shift : float
        Added to the diagonal; the smallest eigenvalue in exact arithmetic is at least this.
    seed : int, optional
    dtype : dtype
        The product is formed in double precision. Complex types make C complex and the matrix Hermitian.
    format : str
        ``"bsr"`` is built directly, by default with the largest square blocks up to 8 that divide n.

    Returns
    -------
    SparseArray, shape (n, n)
        Every entry is stored.

    References
    ----------
    *Efficient Matrix Operations and Parallel Programming for the Conjugate Gradient method on the DelftBlue*,
    appendix E (the test case "Dense SPD").

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.gallery.dense_spd(16)
    >>> A.nnz, bool(np.linalg.eigvalsh(A.todense())[0] > 0)
    (256, True)
    """
    n, dtype = whole("n", n), value_dtype(dtype)
    rng = np.random.default_rng(seed)
    c = rng.random((n, n))
    if dtype.kind == "c":
        c = c + 1j * rng.random((n, n))
    full = c.conj().T @ c
    full = (full + full.conj().T) / 2  # rounding alone may leave it not quite Hermitian
    full[np.diag_indices(n)] += shift
    b = max(size for size in range(1, 9) if n % size == 0)
    blocks = n // b
    parts = {
        "data": np.ascontiguousarray(
            full.astype(dtype).reshape(blocks, b, blocks, b).swapaxes(1, 2).reshape(blocks * blocks, b, b)
        ),
        "indices": np.tile(np.arange(blocks, dtype=index_dtype(n)), blocks),
        "indptr": np.arange(blocks + 1, dtype=np.int64) * blocks,
    }
    matrix = BSR._build(parts, (n, n), blocksize=(b, b))
    return matrix if format == "bsr" and not layout else matrix.asformat(format, **layout)
