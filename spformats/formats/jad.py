"""JAD: rows sorted by length, the k-th entries of all rows contiguous."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR, first_unsorted


class JAD(SparseArray):
    """Jagged diagonals.

    Row i of the matrix sorted by falling row length is row ``perm[i]`` of A and has ``rlen[i]`` entries; its entry j is
    ``data[jd_ptr[j] + i]`` in column ``indices[jd_ptr[j] + i]``. No padding.

    Parameters
    ----------
    data, indices : arrays, shape (nnz,)
    jd_ptr : integer array, shape (width + 1,)
        Where each jagged diagonal begins (the papers' ``ia``).
    perm : integer array, shape (n,)
    shape : (int, int)

    References
    ----------
    Y. Saad, *Iterative Methods for Sparse Linear Systems*, SIAM 2003, section 3.4; K. Stec, P. Stpiczyński,
    *Performance of Portable Sparse Matrix-Vector Product Implemented Using OpenACC*.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.asarray(np.array([[7., 0, 1, 0], [0, 4, 2, 3], [1, 8, 0, 0], [0, 9, 0, 0]]), format="jad")
    >>> A.data.tolist(), A.jd_ptr.tolist(), A.perm.tolist()
    ([4.0, 7.0, 1.0, 9.0, 2.0, 1.0, 8.0, 3.0], [0, 4, 7, 8], [1, 0, 2, 3])
    """

    format = "jad"
    components = ("data", "indices", "jd_ptr", "perm", "rlen")

    def __init__(self, data: Any, indices: Any, jd_ptr: Any, perm: Any, *, shape: tuple[int, int]):
        n, m = shape = _arrays.check_shape(shape)
        data, indices, jd_ptr, perm = _arrays.as_arrays(data, indices, jd_ptr, perm)
        xp = _arrays.xp_of(data)
        data = _arrays.as_values(data)
        if data.ndim != 1 or indices.shape != data.shape:
            raise ValueError(f"data and indices must be 1-D of one length, got shapes {data.shape} and {indices.shape}")
        _arrays.check_pointers("jd_ptr", _arrays.check_integers("jd_ptr", jd_ptr), jd_ptr.shape[0], data.shape[0])
        _arrays.check_range("indices", _arrays.check_integers("indices", indices), m)
        check_permutation(perm, n)
        counts = xp.diff(jd_ptr)
        if counts.shape[0] and (int(counts[0]) > n or bool((counts[1:] > counts[:-1]).any())):
            raise ValueError(
                f"jagged diagonals must not grow and the first has at most {n} entries, "
                f"got lengths {counts[:8].tolist()}…"
            )
        idx = _arrays.index_dtype(m)
        rlen = row_lengths(counts, n).astype(idx)
        parts = {
            "data": data,
            "indices": indices.astype(idx),
            "jd_ptr": jd_ptr.astype(np.int64),
            "perm": perm.astype(_arrays.index_dtype(n)),
            "rlen": rlen,
        }
        made = self._build(parts, shape)
        csr = made.to_csr()
        if first_unsorted(csr.indices, csr.indptr) is not None:
            raise ValueError("indices must rise along each row; spformats.asarray sorts and sums duplicates")
        self.__dict__.update(made.__dict__)

    @classmethod
    def from_csr(cls, csr: CSR, *, force: bool = False) -> Self:
        """Convert from CSR; JAD has no padding, so there is no memory guard to lift by ``force``."""
        xp, n = csr._library, csr.shape[0]
        lengths = xp.diff(csr.indptr)
        width = int(lengths.max()) if n else 0
        perm = xp.argsort(width - lengths, kind="stable")
        counts = n - xp.cumsum(xp.bincount(lengths, minlength=width + 1))[:width]
        jd_ptr = _arrays.pointers(counts)
        rank = xp.empty(n, dtype=np.int64)
        rank[perm] = xp.arange(n)
        rows = _arrays.rows_of(csr.indptr)
        slot = jd_ptr[_arrays.position_in_row(csr.indptr, rows)] + rank[rows]
        data, indices = xp.empty_like(csr.data), xp.empty_like(csr.indices)
        data[slot], indices[slot] = csr.data, csr.indices
        parts = {
            "data": data,
            "indices": indices,
            "jd_ptr": jd_ptr,
            "perm": perm.astype(_arrays.index_dtype(n)),
            "rlen": lengths[perm].astype(csr.indices.dtype),
        }
        return cls._build(parts, csr.shape)

    def to_csr(self) -> CSR:
        """Convert to CSR. Explicit zeros stay."""
        xp, n = self._library, self.shape[0]
        lengths = xp.empty(n, dtype=np.int64)
        rank = xp.empty(n, dtype=np.int64)
        lengths[self.perm], rank[self.perm] = self.rlen, xp.arange(n)
        indptr = _arrays.pointers(lengths)
        rows = _arrays.rows_of(indptr)
        slot = self.jd_ptr[_arrays.position_in_row(indptr, rows)] + rank[rows]
        return CSR._made(self.data[slot], self.indices[slot], indptr, self.shape)

    def _count(self) -> int:
        return int(self.data.shape[0])


def row_lengths(counts: Any, n: int) -> Any:
    """Lengths of the sorted rows from the lengths of the jagged diagonals (the papers' formula for ``rlen``)."""
    xp = _arrays.xp_of(counts)
    # row i is as long as the number of diagonals with more than i entries; the counts fall, so search them reversed
    return counts.shape[0] - xp.searchsorted(counts[::-1].copy(), xp.arange(n), side="right")


def check_permutation(perm: Any, n: int) -> None:
    """Raise ValueError unless ``perm`` holds each of 0 … n−1 once."""
    if perm.shape != (n,):
        raise ValueError(f"perm must have shape ({n},), got {tuple(perm.shape)}")
    _arrays.check_range("perm", _arrays.check_integers("perm", perm), n)
    xp = _arrays.xp_of(perm)
    twice = xp.flatnonzero(xp.bincount(perm, minlength=n) > 1)
    if twice.shape[0]:
        raise ValueError(f"perm must be a permutation, but holds {int(twice[0])} more than once")
