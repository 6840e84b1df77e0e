"""The three-dimensional Poisson problem, seven-point stencil."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.gallery._sizes import whole
from spformats.gallery.stencil import stencil

if TYPE_CHECKING:
    from spformats import SparseArray


def poisson3d(
    nx: int,
    ny: int | None = None,
    nz: int | None = None,
    *,
    dtype: Any = np.float64,
    format: str = "cds",
    **layout: Any,
) -> SparseArray:
    """Seven-point finite differences of -Δu on a box with zero boundary values, times h².

    Parameters
    ----------
    nx, ny, nz : int
        Inner grid points along x (numbered fastest), y and z; ``ny`` and ``nz`` are ``nx`` when not given.
    dtype : dtype
    format : str
        The format to return, with its layout options; ``symmetric=True`` with ``"cds"`` stores half.

    Returns
    -------
    SparseArray, shape (nx*ny*nz, nx*ny*nz)
        6 on the diagonal, -1 for each neighbour; symmetric positive definite.

    References
    ----------
    Y. Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., SIAM (2003), section 2.2.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.gallery.poisson3d(4, 3, 2).offsets.tolist()
    [-12, -4, -1, 0, 1, 4, 12]
    """
    weights = np.zeros((3, 3, 3))
    weights[1, 1, :] = weights[1, :, 1] = weights[:, 1, 1] = -1
    weights[1, 1, 1] = 6
    nx = whole("nx", nx)
    ny = nx if ny is None else whole("ny", ny)
    nz = nx if nz is None else whole("nz", nz)
    return stencil(weights, (nz, ny, nx), dtype=dtype, format=format, **layout)
