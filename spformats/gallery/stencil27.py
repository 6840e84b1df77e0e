"""The 27-point stencil of the HPCG benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.gallery._sizes import whole
from spformats.gallery.stencil import stencil

if TYPE_CHECKING:
    from spformats import SparseArray


def stencil27(
    nx: int,
    ny: int | None = None,
    nz: int | None = None,
    *,
    dtype: Any = np.float64,
    format: str = "cds",
    **layout: Any,
) -> SparseArray:
    """27-point stencil on a box: 26 on the diagonal, -1 for each of up to 26 neighbours.

    Parameters
    ----------
    nx, ny, nz : int
        Grid points along x (numbered fastest), y and z; ``ny`` and ``nz`` are ``nx`` when not given.
    dtype : dtype
    format : str
        The format to return, with its layout options; ``symmetric=True`` with ``"cds"`` stores half.

    Returns
    -------
    SparseArray, shape (nx*ny*nz, nx*ny*nz)
        Symmetric positive definite, 27 diagonals.

    References
    ----------
    J. Dongarra, M. A. Heroux, P. Luszczek, *HPCG Benchmark*, UT-EECS-15-736 (2015).

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.stencil27(8)
    >>> A.offsets.size, float(A.diagonal()[0])
    (27, 26.0)
    """
    weights = np.full((3, 3, 3), -1)
    weights[1, 1, 1] = 26
    nx = whole("nx", nx)
    ny = nx if ny is None else whole("ny", ny)
    nz = nx if nz is None else whole("nz", nz)
    return stencil(weights, (nz, ny, nx), dtype=dtype, format=format, **layout)
