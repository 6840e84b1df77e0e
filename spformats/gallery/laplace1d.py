"""The one-dimensional Laplace operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.gallery._sizes import whole
from spformats.gallery.stencil import stencil

if TYPE_CHECKING:
    from spformats import SparseArray


def laplace1d(n: int, *, dtype: Any = np.float64, format: str = "cds", **layout: Any) -> SparseArray:
    """Tridiagonal matrix with 2 on the diagonal and -1 beside it: finite differences of -u'' with zero ends.

    Parameters
    ----------
    n : int
        Number of inner points.
    dtype : dtype
    format : str
        The format to return, with its layout options.

    Returns
    -------
    SparseArray, shape (n, n)
        Symmetric positive definite, eigenvalues ``2 - 2*cos(k*pi/(n+1))``.

    References
    ----------
    *Efficient Matrix Operations and Parallel Programming for the Conjugate Gradient method on the DelftBlue*,
    appendix E (the test case "1D Laplace").

    Examples
    --------
    >>> import spformats as sf
    >>> sf.gallery.laplace1d(3).todense()
    array([[ 2., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  2.]])
    """
    return stencil([-1, 2, -1], (whole("n", n),), dtype=dtype, format=format, **layout)
