"""LAPACK's band form, for `scipy.linalg.solve_banded` and the band routines of LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.interop.asarray import asarray


def bandwidth(A: Any) -> tuple[int, int]:
    """Lower and upper bandwidth: how far nonzeros reach below and above the main diagonal.

    Parameters
    ----------
    A : SparseArray or anything :func:`spformats.asarray` takes, shape (n, m)

    Returns
    -------
    (int, int)
        ``(l, u)``, the first argument of :func:`scipy.linalg.solve_banded`; (0, 0) without entries.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.linalg.bandwidth(sf.from_diagonals([1, 2, 3], [-2, 0, 1], shape=(4, 4)))
    (2, 1)
    """
    rows, cols, _ = _entries(A)
    reach = cols.astype(np.int64) - rows
    return max(0, -int(reach.min(initial=0))), max(0, int(reach.max(initial=0)))


def to_banded(A: Any, bands: tuple[int, int] | None = None) -> np.ndarray:
    """The array that LAPACK's band solvers take.

    Parameters
    ----------
    A : SparseArray or anything :func:`spformats.asarray` takes, shape (n, n)
    bands : (int, int), optional
        Bandwidths ``(l, u)`` to store, at least those of A; :func:`bandwidth` when not given.

    Returns
    -------
    numpy.ndarray, shape (l + u + 1, n)
        ``ab[u + i - j, j] == A[i, j]``, zero elsewhere; same dtype as A.

    Raises
    ------
    ValueError
        If A is not square, or has a nonzero outside ``bands``.

    References
    ----------
    E. Anderson et al., *LAPACK Users' Guide*, 3rd ed., SIAM (1999), section "Band Storage".

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> from scipy.linalg import solve_banded
    >>> A = sf.gallery.laplace1d(4)
    >>> sf.linalg.to_banded(A)
    array([[ 0., -1., -1., -1.],
           [ 2.,  2.,  2.,  2.],
           [-1., -1., -1.,  0.]])
    >>> x = solve_banded(sf.linalg.bandwidth(A), sf.linalg.to_banded(A), np.ones(4))
    >>> bool(np.allclose(A @ x, 1))
    True
    """
    n, m = A.shape
    if n != m:
        raise ValueError(f"the band form is for square matrices, got shape {A.shape}")
    lower, upper = needed = bandwidth(A)
    if bands is not None:
        lower, upper = bands
        if lower < needed[0] or upper < needed[1]:
            raise ValueError(f"bands = {bands} are too narrow: the matrix has bandwidths {needed}")
    rows, cols, values = _entries(A)
    ab = np.zeros((lower + upper + 1, n), dtype=values.dtype)
    ab[upper + rows.astype(np.int64) - cols, cols] = values
    return ab


def _entries(A: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and values of the nonzeros."""
    coo = asarray(A).to_scipy_sparse().tocoo()
    live = coo.data != 0
    rows, cols = coo.coords
    return rows[live], cols[live], coo.data[live]
