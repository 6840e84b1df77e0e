"""What CDS, HM and CDM share: a table of diagonals that looks the same to every kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats import _arrays
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR, csr_by_rows

#: Where HM and CDM keep their transpose, which shares the values, and where that of HM says that it does.
VIEW, BORROWED = "T", "borrowed"


class DiagonalArray(SparseArray):
    """Base of the formats that store whole diagonals.

    Zeros inside a stored diagonal are multiplied like any other value, so a NaN or inf in x reaches every row whose
    stored diagonal meets its column.
    """

    offsets: Any

    def _table(self) -> tuple[Any, Any, Any]:
        """``(flat, base, offsets)`` of the untransposed array, see `_diagonals`."""
        raise NotImplementedError

    def _diagonals(self, trans: str = "N") -> tuple[Any, Any, Any]:
        """The table of diagonals of op(A).

        Parameters
        ----------
        trans : {"N", "T", "C"}
            ``"C"`` gives the table of ``"T"``: the kernel conjugates.

        Returns
        -------
        flat : array, 1-D
            All values.
        base, offsets : numpy.ndarray of int64
            Entry ``(i, i + offsets[k])`` of op(A) is ``flat[base[k] + i]``. Offsets are sorted; both live on the host.
        """
        flat, base, offsets = self._table()
        if trans == "N":
            return flat, base, offsets
        # entry (i, i-o) of the transpose is entry (i-o, i) of A, which A's table has at base + (i - o)
        return flat, (base - offsets)[::-1].copy(), (-offsets)[::-1].copy()

    def to_csr(self) -> CSR:
        """Convert to CSR. Zeros inside a stored diagonal go: nothing tells which of them were entries."""
        xp, shape = self._library, self.shape
        flat, base, offsets = self._diagonals()
        rows, cols = [xp.zeros(0, dtype=np.int64)], [xp.zeros(0, dtype=np.int64)]
        values = [xp.zeros(0, dtype=self.dtype)]
        for b, o in zip(base.tolist(), offsets.tolist(), strict=True):
            lo, hi = diagonal_range(o, *shape)
            diagonal = flat[b + lo : b + hi]
            stored = xp.flatnonzero(diagonal)
            values.append(diagonal[stored])
            rows.append(stored + lo)
            cols.append(rows[-1] + o)
        # diagonals come in order, so columns rise inside each row
        return csr_by_rows(xp.concatenate(values), xp.concatenate(rows), xp.concatenate(cols), shape)

    def _count(self) -> int:
        n, m = self.shape
        return sum(max(hi - lo, 0) for lo, hi in (diagonal_range(o, n, m) for o in self.offsets.tolist()))

    def _diagonal(self, k: int) -> Any:
        """A view of diagonal ``k``'s values, or None where it is not stored."""
        flat, base, offsets = self._diagonals()
        found = np.flatnonzero(offsets == k)
        if not found.shape[0]:
            return None
        lo, hi = diagonal_range(k, *self.shape)
        start = int(base[found[0]])
        return flat[start + lo : start + hi]


def diagonal_range(offset: int, n: int, m: int) -> tuple[int, int]:
    """Rows ``lo <= i < hi`` in which diagonal ``offset`` of an n × m matrix has entries; empty ranges have hi = lo."""
    lo = max(0, -offset)
    return lo, max(lo, min(n, m - offset))


def canonical_order(offsets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Paper 004's order of diagonals: 0, 1 … ku, then −1 … −kl."""
    offsets = np.sort(offsets)
    return np.concatenate([offsets[offsets >= 0], offsets[offsets < 0][::-1]])


def diagonals_of(csr: CSR) -> tuple[np.ndarray[Any, Any], Any, Any]:
    """The diagonals of a CSR matrix that hold a nonzero.

    Returns
    -------
    offsets : numpy.ndarray of int64, sorted
    kept : array
        Positions of the entries on those diagonals (an explicit zero alone on its diagonal is left out).
    rows : array
        Row of each kept entry.
    """
    xp, (n, m) = csr._library, csr.shape
    rows = _arrays.rows_of(csr.indptr)
    offset = csr.indices - rows
    live = csr.data != 0
    if n + m <= 8 * csr._stored + 2**20:
        occupied = xp.zeros(n + m, dtype=bool)
        occupied[offset[live] + n] = True
        offsets = xp.flatnonzero(occupied) - n
    else:  # a very large shape with few entries: sorting them is cheaper than a table of all diagonals
        offsets = xp.unique(offset[live])
    host = offsets.get() if csr._namespace == "cupy" else offsets
    if bool(live.all()):
        return host.astype(np.int64), slice(None), rows
    kept = xp.flatnonzero(live | xp.isin(offset, offsets))
    return host.astype(np.int64), kept, rows[kept]


def check_offsets(offsets: Any, n: int, m: int) -> np.ndarray[Any, Any]:
    """Offsets as a host int64 array, or an error naming the first that is wrong."""
    offsets = np.asarray(offsets.get() if hasattr(offsets, "get") else offsets)
    _arrays.check_integers("offsets", offsets)
    if offsets.ndim != 1:
        raise ValueError(f"offsets must be 1-D, got shape {offsets.shape}")
    offsets = offsets.astype(np.int64)
    out = np.flatnonzero((offsets <= -max(n, 1)) | (offsets >= max(m, 1)))
    if out.shape[0]:
        raise ValueError(f"offsets[{out[0]}] = {offsets[out[0]]} lies outside the shape ({n}, {m})")
    values, counts = np.unique(offsets, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"offsets must be distinct, but {values[counts > 1][0]} occurs more than once")
    return offsets


def require_square(name: str, shape: tuple[int, int]) -> None:
    """Raise ValueError unless the shape is square."""
    if shape[0] != shape[1]:
        raise ValueError(
            f"format {name!r} holds square matrices only, got shape {shape}; use 'cds' for rectangular ones"
        )
