"""HM: the diagonals end to end in one array, without padding."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats._guard import check_storage
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR
from spformats.formats.diagonal import (
    BORROWED,
    VIEW,
    DiagonalArray,
    canonical_order,
    check_offsets,
    diagonals_of,
    require_square,
)


class HM(DiagonalArray):
    """Hossain and Mahmud's diagonal storage: unpadded diagonals in one 1-D array; square.

    The diagonals come in the order 0, 1 … ku, −1 … −kl (those that are stored). The entry of row i and column j on
    diagonal ``offsets[k]`` is ``data[starts[k] + min(i, j)]``. The transpose is the same ``data`` read with offsets
    of the other sign: ``A.T`` is a view and moves nothing.

    Parameters
    ----------
    data : array, shape (sum of the diagonals' lengths,)
    offsets : integer array, shape (ndiag,), in the order above
    starts : integer array, shape (ndiag,), optional
        Where each diagonal begins; by default one after the other.
    shape : (int, int)

    References
    ----------
    S. A. Haque, M. T. Parvez, S. Hossain, *GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal
    Storage Schemes*, Algorithms 17(1), 2024, section 3.1; S. Hossain, M. S. Mahmud, *On Computing with Diagonally
    Structured Matrices*, HPEC 2019.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> M = np.array([[1., 5, 8, 0], [10, 2, 6, 9], [0, 11, 3, 7], [0, 0, 12, 4]])
    >>> A = sf.asarray(M, format="hm")
    >>> A.data.tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    >>> A.offsets.tolist()
    [0, 1, 2, -1]
    >>> bool(np.shares_memory(A.T.data, A.data))
    True
    """

    format = "hm"
    components = ("data", "offsets", "starts")
    host_components = ("offsets", "starts")

    starts: Any

    def __init__(self, data: Any, offsets: Any, starts: Any = None, *, shape: tuple[int, int]):
        shape = _arrays.check_shape(shape)
        require_square("hm", shape)
        n = shape[0]
        (data,) = _arrays.as_arrays(data)
        data = _arrays.as_values(data)
        offsets = check_offsets(offsets, n, n)
        if not np.array_equal(offsets, canonical_order(offsets)):
            raise ValueError(f"offsets must come in the order 0, 1 … ku, −1 … −kl, got {offsets.tolist()}")
        lengths = n - np.abs(offsets)
        if data.ndim != 1 or (starts is None and data.shape[0] != lengths.sum()):
            raise ValueError(
                f"data must be 1-D of length {int(lengths.sum())}, the diagonals' lengths, "
                f"got shape {tuple(data.shape)}"
            )
        if starts is None:
            starts = _arrays.pointers(lengths)[:-1]
        else:
            starts = np.asarray(starts.get() if hasattr(starts, "get") else starts)
            _arrays.check_integers("starts", starts)
            if starts.shape != offsets.shape:
                raise ValueError(f"starts must have shape {offsets.shape}, got {starts.shape}")
            out = np.flatnonzero((starts < 0) | (starts + lengths > data.shape[0]))
            if out.shape[0]:
                raise ValueError(f"starts[{out[0]}] = {starts[out[0]]} puts diagonal {offsets[out[0]]} outside data")
        parts = {"data": data, "offsets": offsets, "starts": starts.astype(np.int64)}
        self.__dict__.update(self._build(parts, shape).__dict__)

    @classmethod
    def from_csr(cls, csr: CSR, *, force: bool = False) -> Self:
        """Convert from CSR, of a square matrix; ``force`` lifts the memory guard."""
        require_square("hm", csr.shape)
        xp, n = csr._library, csr.shape[0]
        offsets, kept, rows = diagonals_of(csr)
        order = canonical_order(offsets)
        starts = _arrays.pointers(n - np.abs(order))
        nbytes = int(starts[-1]) * csr.data.itemsize
        why = f"its {csr._stored} entries lie on {offsets.shape[0]} diagonals"
        check_storage("hm", nbytes, csr.nbytes, why, "CSR or PJAD", force)
        start_of = xp.asarray(starts[:-1][np.argsort(order)])
        data = xp.zeros(int(starts[-1]), dtype=csr.dtype)
        cols = csr.indices[kept]
        data[start_of[xp.searchsorted(xp.asarray(offsets), cols - rows)] + xp.minimum(rows, cols)] = csr.data[kept]
        return cls._build({"data": data, "offsets": order, "starts": starts[:-1]}, csr.shape)

    @classmethod
    def from_format(cls, other: SparseArray, *, force: bool = False, **layout: Any) -> Self:
        """Convert from any format; from another diagonal format without a detour through CSR."""
        if not isinstance(other, DiagonalArray):
            return cls.from_csr(other.to_csr(), force=force, **layout)
        require_square("hm", other.shape)
        if isinstance(other, cls):
            return other
        xp, n = other._library, other.shape[0]
        flat, base, offsets = other._diagonals()
        place = dict(zip(offsets.tolist(), base.tolist(), strict=True))
        order = canonical_order(offsets)
        pieces = [flat[place[o] + max(0, -o) : place[o] + n - max(0, o)] for o in order.tolist()]
        data = xp.concatenate(pieces) if pieces else xp.zeros(0, dtype=other.dtype)
        starts = _arrays.pointers(n - np.abs(order))[:-1]
        return cls._build({"data": data, "offsets": order, "starts": starts}, other.shape)

    def _table(self) -> tuple[Any, Any, Any]:
        # min(i, j) is i on and above the main diagonal and i + o below it
        order = np.argsort(self.offsets)
        offsets = self.offsets[order]
        return self.data, self.starts[order] + np.minimum(offsets, 0), offsets

    def _transpose_of(self, trans: str) -> Self:
        if trans == "C" and self._is_complex:
            return self._conjugated()._transpose_of("T")
        return self._plan(VIEW, HM._view_transposed)

    def _view_transposed(self) -> Self:
        offsets = canonical_order(-self.offsets)
        place = dict(zip((-self.offsets).tolist(), self.starts.tolist(), strict=True))
        starts = np.array([place[o] for o in offsets.tolist()], dtype=np.int64)
        view = self._build({"data": self.data, "offsets": offsets, "starts": starts}, self.shape)
        view._plans[BORROWED] = True  # in-place products write to the array that the values belong to
        return view
