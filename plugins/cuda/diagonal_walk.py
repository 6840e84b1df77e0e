"""How the warps of our diagonal product go through the pairs: their tables, and the shape of the work."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Shape(NamedTuple):
    """Launch parameters of our kernel; the names are the macros of ``diagonal_product.cuh``.

    A lane sums RUN rows of each of DIAGS diagonals, at most 8; WARPS warps are a block.
    """

    RUN: int
    DIAGS: int
    WARPS: int


#: What products use instead of choosing, for tuning.
FIXED: Shape | None = None


def shape_for(pairs: Any, itemsize: int) -> Shape:
    """Launch parameters for a product whose result has values of ``itemsize`` bytes.

    Measured on an H200: neighbouring diagonals of a band need the same diagonals of A at the same time, so a warp each
    is best; scattered diagonals have few pairs, so a warp takes two, and blocks are large where that lets them share.
    """
    if FIXED is not None:
        return FIXED
    count = max(1, len(pairs.offsets))
    mean = len(pairs.left) / count
    if 4 * mean >= len(pairs.a_offsets):
        return Shape(4, 1, 32 if count <= 32 and itemsize <= 8 else 8)
    return Shape(4, 2, 4 if mean < 10 else 32 if itemsize <= 8 else 8)


def walk(pairs: Any, a_base: Any, b_base: Any, diags: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The pairs in the order in which warps of ``diags`` diagonals each walk through them.

    Returns
    -------
    table : int64[pairs, 4]
        Where A and B keep row 0 of the pair, the first row, and 8 times the row behind the last plus the number of the
        diagonal inside the warp's group.
    ptr : int64[groups + 1]
        Where the pairs of each group begin.
    """
    rows, inner, cols = pairs.shape
    of = np.repeat(np.arange(len(pairs.offsets)), np.diff(pairs.ptr))
    left, right = pairs.left, pairs.right
    if diags > 1:  # by A's diagonal inside each group
        order = np.argsort(of // diags * max(len(pairs.a_offsets), 1) + left, kind="stable")
        of, left, right = of[order], left[order], right[order]
    shift, offset = pairs.a_offsets[left], pairs.offsets[of]
    table = np.empty((len(of), 4), dtype=np.int64)
    table[:, 0] = a_base[left]
    table[:, 1] = b_base[right] + shift
    table[:, 2] = np.maximum(np.maximum(-shift, -offset), 0)
    table[:, 3] = np.minimum(np.minimum(inner - shift, cols - offset), rows) * 8 + of % diags
    return table, np.append(pairs.ptr[:-1:diags], pairs.ptr[-1])
