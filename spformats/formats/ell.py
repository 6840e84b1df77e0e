"""ELL: every row padded to the longest, columns of entries contiguous."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats._guard import check_storage
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR, first_unsorted


class ELL(SparseArray):
    """ELLPACK: two n × width arrays, width the number of entries of the longest row.

    Row i has the values ``data[i, :rlen[i]]`` in the columns ``indices[i, :rlen[i]]``; the slots beyond are padding
    (value 0, index 0) that never shows in a result: a NaN in x[0] stays out of rows that do not touch it. Both arrays
    are Fortran-ordered: the j-th entries of all rows are contiguous, as the papers store them.

    Parameters
    ----------
    data, indices : arrays, shape (n, width)
    rlen : integer array, shape (n,)
        Number of entries of each row.
    shape : (int, int)

    References
    ----------
    R. Grimes, D. Kincaid, D. Young, *ITPACK 2.0 User's Guide*, 1979; K. Stec, P. Stpiczyński, *Performance of Portable
    Sparse Matrix-Vector Product Implemented Using OpenACC*.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.asarray(np.array([[7., 0, 1, 0], [0, 4, 2, 3], [1, 8, 0, 0], [0, 9, 0, 0]]), format="ell")
    >>> A.data
    array([[7., 1., 0.],
           [4., 2., 3.],
           [1., 8., 0.],
           [9., 0., 0.]])
    """

    format = "ell"
    components = ("data", "indices", "rlen")

    def __init__(self, data: Any, indices: Any, rlen: Any, *, shape: tuple[int, int]):
        n, m = shape = _arrays.check_shape(shape)
        data, indices, rlen = _arrays.as_arrays(data, indices, rlen)
        xp = _arrays.xp_of(data)
        data = _arrays.as_values(data)
        if data.ndim != 2 or data.shape[0] != n or indices.shape != data.shape:
            raise ValueError(
                f"data and indices must both have shape ({n}, width), got {data.shape} and {indices.shape}"
            )
        _arrays.check_integers("indices", indices)
        if rlen.shape != (n,):
            raise ValueError(f"rlen must have shape ({n},), got {tuple(rlen.shape)}")
        _arrays.check_range("rlen", _arrays.check_integers("rlen", rlen), data.shape[1] + 1)
        stored = xp.arange(data.shape[1]) < rlen[:, None]
        flat = indices[stored]
        _arrays.check_range("indices (of stored entries, row by row)", flat, m)
        unsorted = first_unsorted(flat, _arrays.pointers(rlen))
        if unsorted is not None:
            raise ValueError(f"indices must rise inside each row; entry {unsorted} of the rows in order does not")
        # padding holds (0, 0) whatever the caller left there
        values = xp.where(stored, data, xp.zeros((), dtype=data.dtype))
        columns = xp.where(stored, indices, 0).astype(_arrays.index_dtype(m), copy=False)
        parts = {
            "data": xp.asfortranarray(values),
            "indices": xp.asfortranarray(columns),
            "rlen": rlen.astype(columns.dtype),
        }
        self.__dict__.update(self._build(parts, shape).__dict__)

    @classmethod
    def from_csr(cls, csr: CSR, *, force: bool = False) -> Self:
        """Convert from CSR; ``force`` lifts the memory guard."""
        xp, n = csr._library, csr.shape[0]
        lengths = xp.diff(csr.indptr)
        width = int(lengths.max()) if n else 0
        nbytes = n * width * (csr.data.itemsize + csr.indices.itemsize)
        check_storage(
            "ell",
            nbytes,
            csr.nbytes,
            f"its longest row has {width} entries, the mean {csr._stored / max(n, 1):.1f}",
            "JAD or PJAD",
            force,
        )
        rows = _arrays.rows_of(csr.indptr)
        slot = _arrays.position_in_row(csr.indptr, rows) * n + rows
        data = xp.zeros(width * n, dtype=csr.dtype)
        indices = xp.zeros(width * n, dtype=csr.indices.dtype)
        data[slot], indices[slot] = csr.data, csr.indices
        parts = {
            "data": data.reshape(width, n).T,
            "indices": indices.reshape(width, n).T,
            "rlen": lengths.astype(csr.indices.dtype),
        }
        return cls._build(parts, csr.shape)

    def to_csr(self) -> CSR:
        """Convert to CSR. Explicit zeros stay, padding goes."""
        xp, n = self._library, self.shape[0]
        indptr = _arrays.pointers(self.rlen)
        rows = _arrays.rows_of(indptr)
        slot = _arrays.position_in_row(indptr, rows) * n + rows
        return CSR._made(xp.ravel(self.data.T)[slot], xp.ravel(self.indices.T)[slot], indptr, self.shape)

    def _count(self) -> int:
        return int(self.rlen.sum(dtype=np.int64))
