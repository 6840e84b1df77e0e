"""Diagonals and sums: dense results of a sparse array."""

from __future__ import annotations

from typing import Any

from spformats.formats import DiagonalArray, SparseArray, _arrays


def diagonal(A: SparseArray, k: int = 0) -> Any:
    """The k-th diagonal as a dense vector; empty where k lies outside the shape."""
    xp, (n, m) = A._xp, A.shape
    length = max(0, min(n + min(k, 0), m - max(k, 0)))
    out = xp.zeros(length, dtype=A.dtype)
    if not length:
        return out
    if isinstance(A, DiagonalArray):
        stored = A._diagonal(k)
        return out if stored is None else xp.asarray(stored, copy=True)
    if A._namespace not in ("numpy", "cupy"):
        import numpy as np

        return xp.asarray(diagonal(A.to_namespace(np), k))
    csr = A.to_csr()
    rows = _arrays.rows_of(csr.indptr)
    on = xp.flatnonzero(csr.indices - rows == k)
    out[rows[on] - max(0, -k)] = csr.data[on]
    return out


def sum(A: SparseArray, axis: int | None = None, dtype: Any = None) -> Any:
    """Sum of all entries, or along axis 0 (over the rows) or 1; a product with a vector of ones, so no format is
    converted."""
    if dtype is not None:
        A = A.astype(dtype)
    xp, (n, m) = A._xp, A.shape
    if axis in (0, -2):
        return A.T @ xp.ones(n, dtype=A.dtype)
    rows = A @ xp.ones(m, dtype=A.dtype)
    if axis in (1, -1):
        return rows
    if axis is not None:
        raise ValueError(f"axis must be None, 0 or 1 (or -1, -2), got {axis!r}")
    return xp.sum(rows)
