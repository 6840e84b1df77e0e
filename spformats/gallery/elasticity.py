"""Linear elasticity on a box of bilinear or trilinear elements: small dense blocks on a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.formats._arrays import index_dtype, value_dtype
from spformats.formats.bsr import BSR
from spformats.gallery._sizes import whole

if TYPE_CHECKING:
    from spformats import SparseArray


def elasticity(
    grid: Sequence[int],
    *,
    young: float = 1.0,
    poisson: float = 0.3,
    dtype: Any = np.float64,
    format: str = "bsr",
    **layout: Any,
) -> SparseArray:
    """Stiffness matrix of linear elasticity on unit square or cube elements, clamped all around.

    Parameters
    ----------
    grid : sequence of 2 or 3 int
        Free nodes along each axis; the last axis is numbered fastest. In two dimensions the strain is plane.
    young, poisson : float
        Young's modulus and Poisson's ratio, the latter in (-1, 0.5).
    dtype : dtype
    format : str
        ``"bsr"`` is built directly, with 2x2 or 3x3 blocks: the displacements of a node stay together. Some entries
        inside the blocks are zero by symmetry; conversion to CSR drops them.

    Returns
    -------
    SparseArray, shape (d*prod(grid), d*prod(grid))
        Symmetric positive definite; 9 or 27 blocks in a full block row.

    Raises
    ------
    ValueError
        If the grid is not two- or three-dimensional, or Poisson's ratio is out of range.

    References
    ----------
    T. J. R. Hughes, *The Finite Element Method*, Dover (2000), chapter 2.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.elasticity((10, 10, 10))
    >>> A.shape, A.blocksize
    ((3000, 3000), (3, 3))
    """
    grid = tuple(whole(f"grid[{axis}]", points) for axis, points in enumerate(grid))
    d = len(grid)
    if d not in (2, 3):
        raise ValueError(f"grid must have 2 or 3 lengths, got {grid}")
    if not -1 < poisson < 0.5:
        raise ValueError(f"poisson must be in (-1, 0.5), got {poisson}")
    steps = np.array(list(itertools.product((-1, 0, 1), repeat=d)))
    weights = _node_blocks(steps, young, poisson).astype(value_dtype(dtype))
    strides = np.array([math.prod(grid[axis + 1 :]) for axis in range(d)])
    nodes = math.prod(grid)
    place = np.stack(np.unravel_index(np.arange(nodes), grid), axis=-1) if nodes else np.empty((0, d), dtype=np.int64)
    inside = np.ones((nodes, len(steps)), dtype=bool)
    for axis in range(d):
        reached = place[:, axis, None] + steps[:, axis]
        inside &= (reached >= 0) & (reached < grid[axis])
    node, which = np.nonzero(inside)
    parts = {
        "data": weights[which],
        "indices": (node + (steps @ strides)[which]).astype(index_dtype(d * nodes)),
        "indptr": np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int64),
    }
    matrix = BSR._build(parts, (d * nodes, d * nodes), blocksize=(d, d))
    return matrix if format == "bsr" and not layout else matrix.asformat(format, **layout)


def _node_blocks(steps: np.ndarray, young: float, poisson: float) -> np.ndarray:
    """The d x d block that couples a node with its neighbour at each step, summed over the elements they share."""
    d = steps.shape[1]
    lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    shear = young / (2 * (1 + poisson))
    mass = np.array([[2, 1], [1, 2]]) / 6
    slope = np.array([[1, -1], [-1, 1]])
    mixed = np.array([[-1, -1], [1, 1]]) / 2  # integral of (d/dx shape a) * shape b on [0, 1]

    def gradients(a: Sequence[int], b: Sequence[int], i: int, j: int) -> float:
        """Integral over the element of (d/dx_i shape a) * (d/dx_j shape b)."""
        factors = (
            slope[p, q] if axis == i == j else mixed[p, q] if axis == i else mixed[q, p] if axis == j else mass[p, q]
            for axis, (p, q) in enumerate(zip(a, b, strict=True))
        )
        return math.prod(factors)

    corners = list(itertools.product((0, 1), repeat=d))
    blocks = np.zeros((len(steps), d, d))
    for block, step in zip(blocks, steps, strict=True):
        for a in corners:
            b = tuple(int(p + s) for p, s in zip(a, step, strict=True))
            if b not in corners:
                continue
            stiff = shear * sum(gradients(a, b, k, k) for k in range(d))
            for i, j in itertools.product(range(d), repeat=2):
                block[i, j] += lame * gradients(a, b, i, j) + shear * gradients(a, b, j, i) + (stiff if i == j else 0)
    return blocks
