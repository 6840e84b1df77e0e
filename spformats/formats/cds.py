"""CDS: compressed diagonal storage, one row of an array a diagonal."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats._guard import check_storage
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR
from spformats.formats.diagonal import DiagonalArray, check_offsets, diagonal_range, diagonals_of


class CDS(DiagonalArray):
    """Compressed diagonal storage, any shape.

    ``data[k, i]`` is ``A[i, i + offsets[k]]``, and zero where that lies outside A. Offsets are sorted and distinct.

    Parameters
    ----------
    data : array, shape (ndiag, n)
    offsets : integer array, shape (ndiag,)
    shape : (int, int)
    symmetric : bool
        Only the diagonals with offsets ≥ 0 are stored; those below are their mirror images (``A == A.T``; for complex
        values too, without conjugation). Half the bytes of a product.

    References
    ----------
    P. de la Court, *Efficient Matrix Operations and Parallel Programming for the Conjugate Gradient method on the
    DelftBlue*, TU Delft 2025, section 3.1.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.asarray(np.array([[2., 1, 0], [4, 2, 1], [0, 4, 2]]), format="cds")
    >>> A.offsets.tolist()
    [-1, 0, 1]
    >>> A.data
    array([[0., 4., 4.],
           [2., 2., 2.],
           [1., 1., 0.]])
    """

    format = "cds"
    components = ("data", "offsets")
    host_components = ("offsets",)
    parameters = ("symmetric",)
    layout_options = ("symmetric",)

    symmetric: bool

    def __init__(self, data: Any, offsets: Any, *, shape: tuple[int, int], symmetric: bool = False):
        n, m = shape = _arrays.check_shape(shape)
        (data,) = _arrays.as_arrays(data)
        xp = _arrays.xp_of(data)
        data = _arrays.as_values(data)
        offsets = check_offsets(offsets, n, m)
        if data.ndim != 2 or data.shape != (offsets.shape[0], n):
            raise ValueError(f"data must have shape (ndiag, n) = ({offsets.shape[0]}, {n}), got {tuple(data.shape)}")
        if bool((offsets[1:] < offsets[:-1]).any()):
            k = int(np.flatnonzero(offsets[1:] < offsets[:-1])[0])
            raise ValueError(f"offsets must rise, got offsets[{k}] = {offsets[k]}, offsets[{k + 1}] = {offsets[k + 1]}")
        if symmetric:
            if n != m:
                raise ValueError(f"a symmetric array must be square, got shape {shape}")
            if offsets.shape[0] and offsets[0] < 0:
                raise ValueError(f"a symmetric array stores offsets of at least 0 only, got {offsets[0]}")
        for k, o in enumerate(offsets.tolist()):
            lo, hi = diagonal_range(o, n, m)
            if bool(xp.any(data[k, :lo])) or bool(xp.any(data[k, hi:])):
                raise ValueError(
                    f"data[{k}] must be zero outside rows [{lo}, {hi}), where diagonal {o} leaves the matrix"
                )
        parts = {"data": xp.ascontiguousarray(data), "offsets": offsets}
        self.__dict__.update(self._build(parts, shape, symmetric=bool(symmetric)).__dict__)

    @classmethod
    def from_csr(cls, csr: CSR, *, symmetric: bool = False, force: bool = False) -> Self:
        """Convert from CSR; ``symmetric`` stores half of a symmetric matrix, ``force`` lifts the memory guard."""
        xp, n = csr._library, csr.shape[0]
        offsets, kept, rows = diagonals_of(csr)
        nbytes = offsets.shape[0] * n * csr.data.itemsize
        check_storage(
            "cds",
            nbytes,
            csr.nbytes,
            f"its {csr._stored} entries lie on {offsets.shape[0]} diagonals of {n} slots",
            "CSR or PJAD",
            force,
        )
        number = xp.asarray(offsets)
        data = xp.zeros(offsets.shape[0] * n, dtype=csr.dtype)
        data[xp.searchsorted(number, csr.indices[kept] - rows) * n + rows] = csr.data[kept]
        full = cls._build({"data": data.reshape(offsets.shape[0], n), "offsets": offsets}, csr.shape, symmetric=False)
        return full._halved() if symmetric else full

    @classmethod
    def from_format(cls, other: SparseArray, *, symmetric: bool = False, force: bool = False, **layout: Any) -> Self:
        """Convert from any format; from another diagonal format without a detour through CSR."""
        if not isinstance(other, DiagonalArray):
            return cls.from_csr(other.to_csr(), symmetric=symmetric, force=force, **layout)
        if isinstance(other, cls) and other.symmetric == symmetric:
            return other
        xp, (n, m) = other._library, other.shape
        flat, base, offsets = other._diagonals()
        nbytes = offsets.shape[0] * n * flat.itemsize
        check_storage("cds", nbytes, other.nbytes, f"{offsets.shape[0]} diagonals are padded to {n} slots", "HM", force)
        data = xp.zeros((offsets.shape[0], n), dtype=other.dtype)
        for k, (b, o) in enumerate(zip(base.tolist(), offsets.tolist(), strict=True)):
            lo, hi = diagonal_range(o, n, m)
            data[k, lo:hi] = flat[b + lo : b + hi]
        full = cls._build({"data": data, "offsets": offsets}, other.shape, symmetric=False)
        return full._halved() if symmetric else full

    def _halved(self) -> Self:
        """The symmetric storage of an array that is symmetric, or ValueError naming an entry that is not."""
        xp, (n, m) = self._library, self.shape
        if n != m:
            raise ValueError(f"symmetric=True needs a square matrix, got shape {self.shape}")
        for o in self.offsets.tolist():
            below, above = self._diagonal(-abs(o)), self._diagonal(abs(o))
            if below is None or above is None:
                one = above if below is None else below
                differs = xp.flatnonzero(one)
            else:
                differs = xp.flatnonzero((below != above) & ~((below != below) & (above != above)))
            if differs.shape[0]:
                i = int(differs[0])
                raise ValueError(f"symmetric=True, but A[{i}, {i + abs(o)}] differs from A[{i + abs(o)}, {i}]")
        upper = self.offsets >= 0
        data = self.data[int(np.flatnonzero(upper)[0]) if upper.any() else len(upper) :]
        return self._build({"data": data, "offsets": self.offsets[upper]}, self.shape, symmetric=True)

    def _table(self) -> tuple[Any, Any, Any]:
        n = self.shape[0]
        base = np.arange(self.offsets.shape[0], dtype=np.int64) * n
        flat = self._library.reshape(self.data, (-1,))
        if not self.symmetric:
            return flat, base, self.offsets
        lower = self.offsets > 0
        mirrored = (base - self.offsets)[lower][::-1], -self.offsets[lower][::-1]
        return flat, np.concatenate([mirrored[0], base]), np.concatenate([mirrored[1], self.offsets])

    def _transposed(self, conjugate: bool) -> Self:
        xp, (n, m) = self._library, self.shape
        if self.symmetric:
            return self._conjugated() if conjugate else self
        flat, base, offsets = self._diagonals("T")
        data = xp.zeros((offsets.shape[0], m), dtype=self.dtype)
        for k, (b, o) in enumerate(zip(base.tolist(), offsets.tolist(), strict=True)):
            lo, hi = diagonal_range(o, m, n)
            data[k, lo:hi] = flat[b + lo : b + hi]
        if conjugate and self._is_complex:
            data = xp.conj(data)
        return self._build({"data": data, "offsets": offsets}, (m, n), symmetric=False)

    def _transpose_of(self, trans: str) -> Self:
        if self._source is None and self.symmetric and (trans == "T" or not self._is_complex):
            return self
        return super()._transpose_of(trans)

    def _count(self) -> int:
        stored = super()._count()
        if not self.symmetric:
            return stored
        on = self.shape[0] if 0 in self.offsets.tolist() else 0
        return 2 * stored - on
