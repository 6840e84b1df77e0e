"""Steady advection and diffusion in two dimensions: a nonsymmetric five-point matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.gallery._sizes import whole
from spformats.gallery.stencil import stencil

if TYPE_CHECKING:
    from spformats import SparseArray


def advection_diffusion2d(
    nx: int,
    ny: int | None = None,
    *,
    velocity: tuple[float, float] = (1.0, 0.5),
    diffusion: float = 1e-2,
    dtype: Any = np.float64,
    format: str = "cds",
    **layout: Any,
) -> SparseArray:
    """Upwind finite differences of v·∇u - κΔu with zero boundary values and spacing h = 1/(nx+1), times h².

    Parameters
    ----------
    nx, ny : int
        Inner grid points along x (numbered fastest) and y; ``ny`` is ``nx`` when not given.
    velocity : (float, float)
        Along x and y.
    diffusion : float
        κ, at least 0.
    dtype : dtype
    format : str
        The format to return, with its layout options.

    Returns
    -------
    SparseArray, shape (nx*ny, nx*ny)
        An M-matrix, not symmetric: for BiCGSTAB and GMRES.

    References
    ----------
    H. Elman, D. Silvester, A. Wathen, *Finite Elements and Fast Iterative Solvers*, 2nd ed., Oxford (2014), chapter 6.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.advection_diffusion2d(20)
    >>> A.offsets.tolist()
    [-20, -1, 0, 1, 20]
    """
    if diffusion < 0:
        raise ValueError(f"diffusion must be at least 0, got {diffusion}")
    nx = whole("nx", nx)
    ny = nx if ny is None else whole("ny", ny)
    h = 1 / (nx + 1)
    weights = np.zeros((3, 3))
    for line, speed in ((weights[1, :], velocity[0]), (weights[:, 1], velocity[1])):
        # upwind: the difference looks to where the flow comes from
        before, after = diffusion + h * max(speed, 0), diffusion + h * max(-speed, 0)
        line += np.array([-before, before + after, -after])
    return stencil(weights, (ny, nx), dtype=dtype, format=format, **layout)
