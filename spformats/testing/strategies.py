"""Hypothesis strategies for sparse matrices (needs the package `hypothesis`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from spformats.testing.matrices import DTYPES, EdgeMatrix, edge_matrices, fitted, random_values
from spformats.testing.operands import ARRANGEMENTS, arranged

value_types = st.sampled_from(DTYPES)
_NO_COLUMNS = st.none()


@st.composite
def matrices(
    draw: Any, *, max_side: int = 24, square: bool = False, dtypes: Any = value_types, layout: Any = None
) -> sp.coo_array:
    """COO arrays of any shape and pattern: duplicates, explicit zeros, diagonals, blocks, and the edge matrices.

    Parameters
    ----------
    max_side : int
        Largest number of rows or columns.
    square : bool
        Whether to draw square matrices only.
    dtypes : strategy
        Draws the value type.
    layout : dict, optional
        Layout arguments that the matrix must suit (``{"symmetric": True}``, ``{"blocksize": (2, 3)}``).

    Examples
    --------
    >>> from hypothesis import given
    >>> from spformats.testing import strategies
    >>> @given(strategies.matrices(square=True))
    ... def test_trace(M): ...
    """
    dtype = draw(dtypes)
    side = st.integers(0, max_side)
    n = draw(side)
    m = n if square else draw(side)
    kind = draw(st.sampled_from(["entries", "diagonals", "blocks", "edge"]))
    if kind == "edge":
        cases = [c for c in edge_matrices(dtype) if c.matrix.shape[0] == c.matrix.shape[1] or not square]
        matrix = draw(st.sampled_from(cases)).matrix
    else:
        rows, cols = _PATTERNS[kind](draw, n, m)
        seed = draw(st.integers(0, 2**16))
        values = random_values(np.random.default_rng(seed), rows.size, dtype)
        twice = np.unique(rows * max(m, 1) + cols).size < rows.size
        if twice or draw(st.booleans()):
            values = np.round(values * 2)  # whole numbers: sums exact in any order, explicit zeros now and then
        matrix = sp.coo_array((values.astype(dtype), (rows, cols)), shape=(n, m))
    return fitted(EdgeMatrix("drawn", matrix), layout or {}).matrix


def _entries(draw: Any, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    if n == 0 or m == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))
    pairs = np.array(draw(st.lists(pair, max_size=3 * max(n, m))), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _diagonals(draw: Any, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    offsets = draw(st.sets(st.integers(-max(n - 1, 0), max(m - 1, 0)), max_size=6))
    rows = np.concatenate([np.zeros(0, dtype=np.int64)] + [np.arange(max(0, -o), min(n, m - o)) for o in offsets])
    cols = np.concatenate([np.zeros(0, dtype=np.int64)] + [np.arange(max(0, o), min(m, n + o)) for o in offsets])
    return rows, cols


def _blocks(draw: Any, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    rows, cols = _entries(draw, n // height, m // width)
    r, c = np.divmod(np.arange(height * width), width)
    return (rows[:, None] * height + r).ravel(), (cols[:, None] * width + c).ravel()


_PATTERNS = {"entries": _entries, "diagonals": _diagonals, "blocks": _blocks}


@st.composite
def vectors(draw: Any, length: int, *, dtypes: Any = value_types, columns: Any = _NO_COLUMNS) -> np.ndarray:
    """Vectors of `length` (or matrices, where `columns` draws a number), contiguous, strided, reversed or read-only."""
    k = draw(columns)
    shape = (length,) if k is None else (length, k)
    values = random_values(np.random.default_rng(draw(st.integers(0, 2**16))), shape, draw(dtypes))
    return arranged(values, draw(st.sampled_from(ARRANGEMENTS)), np)
