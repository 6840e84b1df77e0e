"""The two-dimensional Poisson problem, five-point stencil."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.gallery._sizes import whole
from spformats.gallery.stencil import stencil

if TYPE_CHECKING:
    from spformats import SparseArray


def poisson2d(
    nx: int, ny: int | None = None, *, dtype: Any = np.float64, format: str = "cds", **layout: Any
) -> SparseArray:
    """Five-point finite differences of -Δu on a rectangle with zero boundary values, times h².

    Parameters
    ----------
    nx, ny : int
        Inner grid points along x (numbered fastest) and y; ``ny`` is ``nx`` when not given.
    dtype : dtype
    format : str
        The format to return, with its layout options; ``symmetric=True`` with ``"cds"`` stores half.

    Returns
    -------
    SparseArray, shape (nx*ny, nx*ny)
        4 on the diagonal, -1 for each neighbour; symmetric positive definite.

    References
    ----------
    *Efficient Matrix Operations and Parallel Programming for the Conjugate Gradient method on the DelftBlue*,
    appendix E (the test case "2D Poisson").

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.poisson2d(1000)
    >>> A.shape, A.offsets.tolist()
    ((1000000, 1000000), [-1000, -1, 0, 1, 1000])
    """
    weights = np.array([[0, -1, 0], [-1, 4, -1], [0, -1, 0]])
    nx = whole("nx", nx)
    ny = nx if ny is None else whole("ny", ny)
    return stencil(weights, (ny, nx), dtype=dtype, format=format, **layout)
