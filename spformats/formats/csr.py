"""CSR, compressed sparse rows: the format every other converts through."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats.base import SparseArray


class CSR(SparseArray):
    """Compressed sparse rows.

    Row i has the values ``data[indptr[i]:indptr[i+1]]`` in the columns ``indices[indptr[i]:indptr[i+1]]``. Always
    canonical: columns sorted inside each row, no duplicates; explicit zeros may be stored.

    Parameters
    ----------
    data : array, shape (nnz,)
    indices : integer array, shape (nnz,)
    indptr : integer array, shape (n + 1,)
    shape : (int, int)

    Raises
    ------
    ValueError
        If the arrays do not describe a canonical CSR matrix; the message gives the first offending value.

    References
    ----------
    Y. Saad, *Iterative Methods for Sparse Linear Systems*, SIAM 2003, section 3.4.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.CSR(np.array([7., 1, 4]), np.array([0, 2, 1]), np.array([0, 2, 3]), shape=(2, 3))
    >>> A @ np.ones(3)
    array([8., 4.])
    """

    format = "csr"
    components = ("data", "indices", "indptr")

    def __init__(self, data: Any, indices: Any, indptr: Any, *, shape: tuple[int, int]):
        n, m = shape = _arrays.check_shape(shape)
        data, indices, indptr = _arrays.as_arrays(data, indices, indptr)
        data = _arrays.as_values(data)
        if data.ndim != 1 or indices.shape != data.shape:
            raise ValueError(f"data and indices must be 1-D of one length, got shapes {data.shape} and {indices.shape}")
        _arrays.check_pointers("indptr", _arrays.check_integers("indptr", indptr), n + 1, data.shape[0])
        _arrays.check_range("indices", _arrays.check_integers("indices", indices), m)
        unsorted = first_unsorted(indices, indptr)
        if unsorted is not None:
            raise ValueError(
                "indices must rise inside each row (sorted, no duplicates), got "
                f"indices[{unsorted}] = {int(indices[unsorted])}, "
                f"indices[{unsorted + 1}] = {int(indices[unsorted + 1])}; "
                "spformats.asarray sorts and sums duplicates"
            )
        self.__dict__.update(self._made(data, indices, indptr, shape).__dict__)

    @classmethod
    def _made(cls, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Self:
        """Build from canonical arrays, with index arrays of the library's types."""
        parts = {
            "data": data,
            "indices": indices.astype(_arrays.index_dtype(shape[1]), copy=False),
            "indptr": indptr.astype(np.int64, copy=False),
        }
        return cls._build(parts, shape)

    @classmethod
    def from_csr(cls, csr: CSR, *, force: bool = False) -> CSR:
        """The array itself."""
        return csr

    def to_csr(self) -> CSR:
        """The array itself."""
        return self

    def _count(self) -> int:
        return int(self.data.shape[0])

    def _transposed(self, conjugate: bool) -> CSR:
        n, m = self.shape
        data = self._library.conj(self.data) if conjugate and self._is_complex else self.data
        if self._namespace == "numpy":
            from scipy.sparse import csr_array

            # SciPy's counting sort is the fastest there is; its CSC arrays are the transpose's CSR arrays
            csc = csr_array((data, self.indices, self.indptr), shape=(n, m)).tocsc()
            return CSR._made(csc.data, csc.indices, csc.indptr, (m, n))
        xp = self._library
        rows = _arrays.rows_of(self.indptr, _arrays.index_dtype(n))
        order = xp.argsort(self.indices.astype(np.int64) * max(n, 1) + rows)
        counts = xp.bincount(self.indices, minlength=m)
        return CSR._made(data[order], rows[order], _arrays.pointers(counts), (m, n))


def csr_by_rows(data: Any, rows: Any, cols: Any, shape: tuple[int, int]) -> CSR:
    """CSR of entries whose columns rise inside each row, wherever the rows come."""
    xp = _arrays.xp_of(data)
    if xp is np:
        from scipy.sparse import coo_array

        csr = coo_array((data, (rows, cols)), shape=shape).tocsr()  # a counting sort that keeps the order inside rows
        return CSR._made(csr.data, csr.indices, csr.indptr, shape)
    order = xp.argsort(rows, kind="stable")
    return CSR._made(data[order], cols[order], _arrays.pointers(xp.bincount(rows, minlength=shape[0])), shape)


def first_unsorted(indices: Any, indptr: Any) -> int | None:
    """Position of the first entry whose successor in the same row does not lie in a later column, or None."""
    xp = _arrays.xp_of(indices)
    falls = indices[1:] <= indices[:-1]
    starts = indptr[1:-1]  # a fall is fine where the next entry begins a row
    starts = starts[(starts > 0) & (starts < indices.shape[0])]
    falls[starts - 1] = False
    bad = xp.flatnonzero(falls)
    return int(bad[0]) if bad.shape[0] else None
