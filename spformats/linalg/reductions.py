"""Diagonals: dense vectors of a sparse array; sums are the array API's."""

from __future__ import annotations

import operator
from typing import Any

from spformats.formats import DiagonalArray, SparseArray, _arrays
from spformats.formats.device import at_home


@at_home
def diagonal(A: SparseArray, k: int = 0) -> Any:
    """The k-th diagonal as a dense vector; empty where k lies outside the shape."""
    try:
        k = operator.index(k)
    except TypeError:
        raise TypeError(f"k must be an integer, got {k!r}") from None
    if A._source is not None and not isinstance(A, DiagonalArray):  # the same diagonal, mirrored
        base, taken = A._source
        found = diagonal(base, -k)
        return base._library.conj(found) if taken == "C" else found
    xp, (n, m) = A._library, A.shape
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
