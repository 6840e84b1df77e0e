"""The matrices a format or a kernel usually trips over: empty, flat, one long row, duplicates, corner diagonals, …"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

#: The value types of every format and kernel.
DTYPES = tuple(np.dtype(c) for c in "fdFD")


class EdgeMatrix(NamedTuple):
    """A named test matrix. `matrix` may hold duplicates (they add up) and explicit zeros."""

    name: str
    matrix: sp.coo_array

    def dense(self) -> np.ndarray:
        """The matrix as a NumPy array, made without any sparse conversion."""
        return scatter(self.matrix)


def scatter(matrix: sp.coo_array) -> np.ndarray:
    """Dense array of a COO array, duplicates added in the order they are stored."""
    out = np.zeros(matrix.shape, dtype=matrix.dtype)
    np.add.at(out, matrix.coords, matrix.data)
    return out


def random_values(rng: np.random.Generator, size: Any, dtype: Any) -> np.ndarray:
    """Normal values of any of the value types; complex ones have both parts."""
    dtype = np.dtype(dtype)
    values = rng.standard_normal(size)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(size)
    return np.asarray(values).astype(dtype)


def edge_matrices(dtype: Any = np.float64, *, nonfinite: bool = False) -> list[EdgeMatrix]:
    """Test matrices that cover the edges of every layout.

    Parameters
    ----------
    dtype : dtype
        One of float32, float64, complex64, complex128.
    nonfinite : bool
        Whether to add a matrix that stores NaN and infinities.

    Returns
    -------
    list of EdgeMatrix
        Pairs ``(name, matrix)``, the matrix a `scipy.sparse.coo_array`. The same call always gives the same values.

    Examples
    --------
    >>> from spformats.testing import edge_matrices
    >>> cases = {name: m for name, m in edge_matrices("float32")}
    >>> cases["no_rows"].shape, cases["one_long_row"].dtype
    ((0, 5), dtype('float32'))
    """
    rng = np.random.default_rng(20240229)
    cases: list[EdgeMatrix] = []

    def add(name: str, shape: tuple[int, int], rows: Any, cols: Any, values: Any = None) -> None:
        rows, cols = np.asarray(rows, dtype=np.int64).ravel(), np.asarray(cols, dtype=np.int64).ravel()
        if values is None:
            values = random_values(rng, rows.size, dtype)
        data = np.asarray(values).astype(dtype)
        cases.append(EdgeMatrix(name, sp.coo_array((data, (rows, cols)), shape=shape)))

    def add_mask(name: str, mask: np.ndarray) -> None:
        add(name, mask.shape, *np.nonzero(mask))

    add("empty", (0, 0), [], [])
    add("no_rows", (0, 5), [], [])
    add("no_columns", (4, 0), [], [])
    add("all_zero", (4, 6), [], [])
    add("one_by_one", (1, 1), [0], [0])
    add("one_by_one_zero", (1, 1), [], [])
    add("single_row", (1, 7), [0, 0, 0], [1, 2, 6])
    add("single_column", (7, 1), [0, 3, 6], [0, 0, 0])
    add("last_corner", (5, 5), [4], [4])
    add("far_corners", (6, 6), [0, 5], [5, 0])  # the outermost diagonals

    i = np.arange(9)
    add("diagonal", (9, 9), i, i)
    add("bidiagonal_gap", (9, 9), np.r_[i, i[3:]], np.r_[i, i[3:] - 3])  # a diagonal is missing between two others
    i = np.arange(24)
    near, d = np.abs(i[:, None] - i) <= 1, np.abs(i[:, None] - i)
    add_mask("poisson", near & ~((d == 1) & (np.minimum(i[:, None], i) % 6 == 5)) | (d == 6))
    add_mask("dense", np.ones((6, 6), dtype=bool))
    add_mask("wide", rng.random((5, 23)) < 0.3)
    add_mask("tall", rng.random((29, 4)) < 0.3)
    add_mask("square", rng.random((37, 37)) < 0.15)

    mask = np.eye(41, dtype=bool)
    mask[17] = True
    add_mask("one_long_row", mask)
    add_mask("one_long_column", mask.T.copy())
    mask = rng.random((20, 20)) < 0.25
    mask[[0, 7, 8, 9, 19]] = False
    mask[:, [0, 5, 19]] = False
    add_mask("empty_rows_and_columns", mask)
    mask = np.zeros((135, 50), dtype=bool)  # lengths 0 … 50 in no order, over several blocks of sorted rows
    lengths = (50 * rng.random(135) ** 4).astype(int)
    for row, length in enumerate(lengths):
        mask[row, rng.choice(50, size=length, replace=False)] = True
    add_mask("irregular", mask)
    blocks = np.kron(rng.random((8, 7)) < 0.3, np.ones((3, 2), dtype=bool))
    add_mask("blocks", blocks)

    # whole numbers, so that they add up to the same in every order
    add("duplicates", (5, 4), [0, 2, 2, 4, 2, 0], [1, 3, 3, 0, 3, 1], rng.integers(-9, 9, 6))
    add("unsorted", (4, 6), [3, 0, 0, 3, 1], [5, 4, 0, 1, 2])
    values = random_values(rng, 5, dtype)
    values[[1, 4]] = 0
    add("explicit_zeros", (4, 4), [0, 1, 2, 3, 3], [0, 2, 1, 0, 3], values)
    add("only_explicit_zeros", (3, 3), [0, 1], [1, 1], [0, 0])
    if nonfinite:
        add("nonfinite", (6, 6), [0, 1, 2, 3, 3, 5], [0, 2, 5, 1, 4, 5], [np.nan, np.inf, -np.inf, np.inf, 2, 1])
    return cases


def fitted(case: EdgeMatrix, layout: dict[str, Any]) -> EdgeMatrix:
    """The case changed as far as a layout demands: symmetric for ``symmetric=``, divisible for ``blocksize=``."""
    name, matrix = case
    if layout.get("symmetric"):
        n = min(matrix.shape)
        inside = (matrix.coords[0] < n) & (matrix.coords[1] < n)
        rows, cols = (c[inside] for c in matrix.coords)
        data, coords = np.tile(matrix.data[inside], 2), (np.r_[rows, cols], np.r_[cols, rows])
        return EdgeMatrix(f"{name}, made symmetric", sp.coo_array((data, coords), shape=(n, n)))
    block = layout.get("blocksize")
    if block is not None and not layout.get("pad"):
        shape = (matrix.shape[0] + -matrix.shape[0] % block[0], matrix.shape[1] + -matrix.shape[1] % block[1])
        return EdgeMatrix(name, sp.coo_array((matrix.data, matrix.coords), shape=shape))
    return case
