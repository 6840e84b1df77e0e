"""Envelope (variable-band) storage: each row from its first to its last nonzero, zeros between included."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from array_api_compat import array_namespace, device

from spformats import CSR, SparseArray


class Envelope(SparseArray):
    """Rows stored without gaps: row i is ``data[ptr[i]:ptr[i+1]]`` from column ``first[i]`` on.

    References
    ----------
    A. George, J. W. H. Liu, *Computer Solution of Large Sparse Positive Definite Systems*, Prentice-Hall 1981, ch. 4.
    """

    format = "envelope"
    components = ("data", "first", "ptr")

    def __init__(self, data: Any, first: Any, ptr: Any, *, shape: tuple[int, int]):
        n, m = shape
        if ptr.shape != (n + 1,) or first.shape != (n,) or ptr[0] != 0 or ptr[-1] != data.shape[0]:
            raise ValueError(f"ptr and first do not fit {data.shape[0]} values in {n} rows")
        lengths = np.diff(ptr)
        out = np.flatnonzero((lengths < 0) | (first < 0) | (first + lengths > m))
        if out.size:
            i = out[0]
            raise ValueError(
                f"row {i} has {lengths[i]} values from column {first[i]} on, which shape {shape} cannot hold"
            )
        parts = {"data": data, "first": first.astype(np.int64), "ptr": ptr.astype(np.int64)}
        self.__dict__.update(self._build(parts, (n, m)).__dict__)

    @classmethod
    def from_csr(cls, csr: CSR, *, force: bool = False) -> Self:
        n = csr.shape[0]
        filled = np.flatnonzero(np.diff(csr.indptr))
        first, last = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        first[filled] = csr.indices[csr.indptr[filled]]
        last[filled] = csr.indices[csr.indptr[filled + 1] - 1]
        ptr = np.concatenate([[0], np.cumsum(last - first + 1)])
        rows = np.repeat(np.arange(n), np.diff(csr.indptr))
        data = np.zeros(ptr[-1], dtype=csr.dtype)
        data[ptr[rows] + csr.indices - first[rows]] = csr.data
        return cls._build({"data": data, "first": first, "ptr": ptr}, csr.shape)

    def to_csr(self) -> CSR:
        rows, cols = self._slots()
        kept = np.flatnonzero(self.data)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=self.shape[0]))])
        return CSR(self.data[kept], cols[kept], indptr, shape=self.shape)

    def _slots(self) -> tuple[Any, Any]:
        """Row and column of each value, for the reference plugin's products (on any array library) and the suite."""
        xp = array_namespace(self.data)
        places = xp.arange(self.data.shape[0], dtype=xp.int64, device=device(self.data))
        rows = xp.searchsorted(self.ptr[1:], places, side="right")
        return rows, places - xp.take(self.ptr, rows) + xp.take(self.first, rows)

    def _count(self) -> int:
        return int(self.data.size)
