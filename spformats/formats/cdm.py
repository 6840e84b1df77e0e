"""CDM: a superdiagonal and the subdiagonal that completes it share one row of length n."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats._guard import check_storage
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR
from spformats.formats.diagonal import (
    VIEW,
    DiagonalArray,
    canonical_order,
    check_offsets,
    diagonal_range,
    diagonals_of,
    require_square,
)


class CDM(DiagonalArray):
    """Compact diagonal storage; square.

    The k-th compact diagonal is superdiagonal k (length n−k) on top of subdiagonal n−k (length k): a row of length n
    without padding where both exist. With its position counted by rows, entry (i, i+o) of diagonal ``o = offsets[k]``
    is ``data[rows[k], i]``. The transpose reads the same rows by columns: ``A.T`` is a view with ``transposed`` set,
    in which entry (i, i+o) is ``data[rows[k], i+o]``.

    Parameters
    ----------
    data : array, shape (nrows, n)
        One row a compact diagonal.
    offsets : integer array, shape (ndiag,)
        The diagonals that exist, in the order 0, 1 … ku, −1 … −kl.
    rows : integer array, shape (ndiag,)
        Row of ``data`` that holds each; ``o`` and ``o − n`` may share one.
    shape : (int, int)
    transposed : bool

    References
    ----------
    S. A. Haque, M. T. Parvez, S. Hossain, *GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal
    Storage Schemes*, Algorithms 17(1), 2024, sections 3.2 and 4.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.asarray(np.arange(1., 17).reshape(4, 4), format="cdm")
    >>> A.data[3].tolist()  # superdiagonal 3 and subdiagonal 1
    [4.0, 5.0, 10.0, 15.0]
    """

    format = "cdm"
    components = ("data", "offsets", "rows")
    host_components = ("offsets", "rows")
    parameters = ("transposed",)

    rows: Any
    transposed: bool

    def __init__(self, data: Any, offsets: Any, rows: Any, *, shape: tuple[int, int], transposed: bool = False):
        shape = _arrays.check_shape(shape)
        require_square("cdm", shape)
        n = shape[0]
        (data,) = _arrays.as_arrays(data)
        xp = _arrays.xp_of(data)
        data = _arrays.as_values(data)
        if data.ndim != 2 or data.shape[1] != n:
            raise ValueError(f"data must have shape (rows, {n}), got {tuple(data.shape)}")
        offsets = check_offsets(offsets, n, n)
        if not np.array_equal(offsets, canonical_order(offsets)):
            raise ValueError(f"offsets must come in the order 0, 1 … ku, −1 … −kl, got {offsets.tolist()}")
        rows = np.asarray(rows.get() if hasattr(rows, "get") else rows)
        _arrays.check_integers("rows", rows)
        if rows.shape != offsets.shape:
            raise ValueError(f"rows must have shape {offsets.shape}, got {rows.shape}")
        _arrays.check_range("rows", rows, data.shape[0])
        key = offsets % max(n, 1)
        for r in np.unique(rows).tolist():
            if np.unique(key[rows == r]).shape[0] > 1:
                raise ValueError(
                    f"diagonals {offsets[rows == r].tolist()} overlap in row {r} of data; only o and o − n share a row"
                )
        parts = {"data": xp.ascontiguousarray(data), "offsets": offsets, "rows": rows.astype(np.int64)}
        self.__dict__.update(self._build(parts, shape, transposed=bool(transposed)).__dict__)

    @classmethod
    def from_csr(cls, csr: CSR, *, force: bool = False) -> Self:
        """Convert from CSR, of a square matrix; ``force`` lifts the memory guard."""
        require_square("cdm", csr.shape)
        xp, n = csr._library, csr.shape[0]
        offsets, kept, entry_rows = diagonals_of(csr)
        order = canonical_order(offsets)
        rows, count = compact_rows(order, n)
        nbytes = count * n * csr.data.itemsize
        check_storage(
            "cdm",
            nbytes,
            csr.nbytes,
            f"its {csr._stored} entries lie on {count} compact diagonals of {n} slots",
            "CSR or PJAD",
            force,
        )
        row_of = xp.asarray(rows[np.argsort(order)])
        data = xp.zeros(count * n, dtype=csr.dtype)
        slot = row_of[xp.searchsorted(xp.asarray(offsets), csr.indices[kept] - entry_rows)] * n + entry_rows
        data[slot] = csr.data[kept]
        return cls._build({"data": data.reshape(count, n), "offsets": order, "rows": rows}, csr.shape, transposed=False)

    @classmethod
    def from_format(cls, other: SparseArray, *, force: bool = False, **layout: Any) -> Self:
        """Convert from any format; from another diagonal format without a detour through CSR."""
        if not isinstance(other, DiagonalArray):
            return cls.from_csr(other.to_csr(), force=force, **layout)
        require_square("cdm", other.shape)
        if isinstance(other, cls):
            return other
        xp, n = other._library, other.shape[0]
        flat, base, offsets = other._diagonals()
        place = dict(zip(offsets.tolist(), base.tolist(), strict=True))
        order = canonical_order(offsets)
        rows, count = compact_rows(order, n)
        nbytes = count * n * flat.itemsize
        check_storage("cdm", nbytes, other.nbytes, f"{count} compact diagonals take {n} slots each", "HM", force)
        data = xp.zeros((count, n), dtype=other.dtype)
        for o, r in zip(order.tolist(), rows.tolist(), strict=True):
            lo, hi = diagonal_range(o, n, n)
            data[r, lo:hi] = flat[place[o] + lo : place[o] + hi]
        return cls._build({"data": data, "offsets": order, "rows": rows}, other.shape, transposed=False)

    def _table(self) -> tuple[Any, Any, Any]:
        order = np.argsort(self.offsets)
        offsets = self.offsets[order]
        base = self.rows[order] * self.shape[0]
        return self._library.reshape(self.data, (-1,)), base + offsets if self.transposed else base, offsets

    def _transpose_of(self, trans: str) -> Self:
        if trans == "C" and self._is_complex:
            return self._conjugated()._transpose_of("T")
        return self._plan(VIEW, CDM._view_transposed)

    def _view_transposed(self) -> Self:
        offsets = canonical_order(-self.offsets)
        row_of = dict(zip((-self.offsets).tolist(), self.rows.tolist(), strict=True))
        rows = np.array([row_of[o] for o in offsets.tolist()], dtype=np.int64)
        parts = {"data": self.data, "offsets": offsets, "rows": rows}
        return self._build(parts, self.shape, transposed=not self.transposed)


def compact_rows(offsets: np.ndarray[Any, Any], n: int) -> tuple[np.ndarray[Any, Any], int]:
    """Row of ``data`` for each diagonal, one row a compact diagonal in rising order, and the number of rows."""
    keys, rows = np.unique(offsets % max(n, 1), return_inverse=True)
    return rows.astype(np.int64).reshape(-1), int(keys.shape[0])
