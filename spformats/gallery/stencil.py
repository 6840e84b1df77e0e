"""Any constant stencil on a box of grid points, written straight into diagonal storage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.formats._arrays import value_dtype
from spformats.formats.cds import CDS
from spformats.gallery._sizes import whole

if TYPE_CHECKING:
    from spformats import SparseArray


def stencil(
    weights: Any, grid: Sequence[int], *, dtype: Any = np.float64, format: str = "cds", **layout: Any
) -> SparseArray:
    """Matrix of a constant stencil on a regular grid with zero values outside.

    Parameters
    ----------
    weights : array_like, odd length along every axis
        ``weights[c + o]`` (c the centre) multiplies the unknown at grid offset o. Zeros make no diagonal.
    grid : sequence of int
        Points along each axis, as many as ``weights`` has dimensions; the last axis is numbered fastest.
    dtype : dtype
    format : str
        ``"cds"`` is built directly; others are converted from it. ``symmetric=True`` builds only the upper half.

    Returns
    -------
    SparseArray, shape (prod(grid), prod(grid))

    Raises
    ------
    ValueError
        If the dimensions differ, a length of ``weights`` is even, or ``symmetric=True`` does not hold.
    TypeError
        If a length of the grid is no integer.

    References
    ----------
    N. Bell, L. Olson, J. Schroder, B. Southworth, *PyAMG: Algebraic Multigrid Solvers in Python*, JOSS 8 (2023),
    whose ``gallery.stencil_grid`` this follows.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.gallery.stencil([-1, 2, -1], (4,)).todense()
    array([[ 2., -1.,  0.,  0.],
           [-1.,  2., -1.,  0.],
           [ 0., -1.,  2., -1.],
           [ 0.,  0., -1.,  2.]])
    """
    weights = np.asarray(weights)
    grid = tuple(whole(f"grid[{axis}]", points) for axis, points in enumerate(grid))
    if weights.ndim != len(grid):
        raise ValueError(f"weights have {weights.ndim} dimensions, but the grid {grid} has {len(grid)}")
    if any(length % 2 == 0 for length in weights.shape):
        raise ValueError(f"weights must have an odd length along every axis, got shape {weights.shape}")
    if any(points < 0 for points in grid):
        raise ValueError(f"grid must have no negative length, got {grid}")
    symmetric = format == "cds" and bool(layout.get("symmetric", False))
    if symmetric and not np.array_equal(weights, weights[(slice(None, None, -1),) * weights.ndim]):
        raise ValueError("symmetric=True needs weights that equal their mirror image")
    n = math.prod(grid)
    strides = [math.prod(grid[axis + 1 :]) for axis in range(len(grid))]
    steps: dict[int, list[tuple[tuple[int, ...], Any]]] = {}
    for index in np.argwhere(weights):
        step = tuple(int(i) - length // 2 for i, length in zip(index, weights.shape, strict=True))
        offset = sum(s * stride for s, stride in zip(step, strides, strict=True))
        if all(abs(s) < points for s, points in zip(step, grid, strict=True)) and not (symmetric and offset < 0):
            # two steps may share a diagonal on a narrow grid; the points they start from are never the same
            steps.setdefault(offset, []).append((step, weights[tuple(index)]))
    offsets = np.array(sorted(steps), dtype=np.int64)
    data = np.zeros((offsets.size, *grid), dtype=value_dtype(dtype))
    for diagonal, offset in zip(data, offsets.tolist(), strict=True):
        for step, weight in steps[offset]:
            inside = tuple(slice(max(0, -s), points - max(0, s)) for s, points in zip(step, grid, strict=True))
            diagonal[inside] = weight
    matrix = CDS._build({"data": data.reshape(offsets.size, n), "offsets": offsets}, (n, n), symmetric=symmetric)
    return matrix if symmetric else matrix.asformat(format, **layout)
