"""BSR: small dense blocks, square or rectangular."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats._guard import check_storage, fits
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR, csr_by_rows, first_unsorted
from spformats.formats.device import at_home

#: Rows looked at when `asarray` must find a block size itself.
SAMPLE = 4096
#: Blocks, empty ones counted, that an int64 numbers.
MOST_BLOCKS = 2**62


class BSR(SparseArray):
    """Block sparse rows: CSR of dense R × C blocks.

    Block row I has the blocks ``data[indptr[I]:indptr[I+1]]`` (each C-ordered, R × C) in the block columns
    ``indices[indptr[I]:indptr[I+1]]``, sorted. Zeros inside a block are multiplied like any other value, so a NaN or
    inf in x reaches every row of a block that covers its column.

    Parameters
    ----------
    data : array, shape (nblocks, R, C)
    indices : integer array, shape (nblocks,)
    indptr : integer array, shape (n/R + 1,)
    shape : (int, int)
    pad : bool
        Let the last blocks reach over the edge where the block size does not divide the shape; they hold zeros there.

    Attributes
    ----------
    blocksize : (int, int)
    ptrB, ptrE : arrays
        Beginning and end of each block row, as the papers and MKL name them (views of ``indptr``).
    vals : array
        The values column by column inside each block, as paper 001 prints them (a copy).

    References
    ----------
    R. W. Vuduc, H. J. Moon, *Fast Sparse Matrix-Vector Multiplication by Exploiting Variable Block Structure*, HPCC
    2005; A. Chirilă, *Architectural-Aware Optimization of Sparse Matrix-Vector Multiplication on GPUs*, 2025.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> M = np.array([[7., 0, 1, 0], [0, 4, 2, 3], [1, 8, 0, 0], [0, 9, 0, 0]])
    >>> A = sf.asarray(M, format="bsr", blocksize=(2, 2))
    >>> A.vals.tolist()
    [7.0, 0.0, 0.0, 4.0, 1.0, 2.0, 0.0, 3.0, 1.0, 0.0, 8.0, 9.0]
    >>> A.ptrB.tolist(), A.ptrE.tolist()
    ([0, 2], [2, 3])
    """

    format = "bsr"
    components = ("data", "indices", "indptr")
    parameters = ("blocksize",)
    layout_options = ("blocksize", "pad")

    blocksize: tuple[int, int]

    def __init__(self, data: Any, indices: Any, indptr: Any, *, shape: tuple[int, int], pad: bool = False):
        shape = _arrays.check_shape(shape)
        data, indices, indptr = _arrays.as_arrays(data, indices, indptr)
        data = _arrays.as_values(data)
        if data.ndim != 3:
            raise ValueError(f"data must have shape (nblocks, R, C), got {tuple(data.shape)}")
        R, C = check_blocksize(tuple(data.shape[1:]), shape, pad)
        if indices.shape != data.shape[:1]:
            raise ValueError(f"indices must have one entry a block, {data.shape[0]}, got shape {tuple(indices.shape)}")
        brows, bcols = -(-shape[0] // R), -(-shape[1] // C)
        _arrays.check_pointers("indptr", _arrays.check_integers("indptr", indptr), brows + 1, data.shape[0])
        _arrays.check_range("indices", _arrays.check_integers("indices", indices), bcols)
        unsorted = first_unsorted(indices, indptr)
        if unsorted is not None:
            raise ValueError(
                f"block columns must rise inside each block row, got indices[{unsorted}] = {int(indices[unsorted])}, "
                f"indices[{unsorted + 1}] = {int(indices[unsorted + 1])}"
            )
        xp = _arrays.xp_of(data)
        for axis, over, edge in ((1, brows * R - shape[0], None), (2, bcols * C - shape[1], bcols - 1)):
            if over:
                last = data[int(indptr[-2]) :] if edge is None else data[indices == edge]
                if bool(xp.any(last[:, -over:, :] if axis == 1 else last[:, :, -over:])):
                    raise ValueError(f"blocks reach over the edge of shape {shape} and must hold zeros there")
        parts = {
            "data": xp.ascontiguousarray(data),
            "indices": indices.astype(_arrays.index_dtype(shape[1]), copy=False),
            "indptr": indptr.astype(np.int64, copy=False),
        }
        self.__dict__.update(self._build(parts, shape, blocksize=(R, C)).__dict__)

    @classmethod
    def from_csr(
        cls, csr: CSR, *, blocksize: tuple[int, int] | None = None, pad: bool = False, force: bool = False
    ) -> Self:
        """Convert from CSR to blocks of ``blocksize``, by default one that suits the pattern.

        ``pad`` lets blocks reach over the edge, ``force`` lifts the memory guard.
        """
        xp, shape = csr._library, csr.shape
        R, C = best_blocksize(csr) if blocksize is None else check_blocksize(blocksize, shape, pad)
        brows, bcols = -(-shape[0] // R), -(-shape[1] // C)
        if brows * bcols > MOST_BLOCKS:  # they could not be numbered: leave out the block columns without an entry
            return cls._from_csr_without_empty_columns(csr, R, C, force)
        most = csr._stored * (R * C * csr.data.itemsize + csr.indices.itemsize) + (brows + 1) * 8
        # SciPy's way needs no count of the blocks first, but memory for every block column
        if xp is np and (force or fits(most, csr.nbytes)) and bcols <= brows + 8 * csr._stored + SAMPLE:
            return cls._from_csr_by_scipy(csr, R, C)
        rows = _arrays.rows_of(csr.indptr)
        key = rows // R * bcols + csr.indices // C
        order = xp.argsort(key, kind="stable")  # nearly sorted already: R sorted runs a block row
        key = key[order]
        first = xp.ones(key.shape[0], dtype=bool)
        first[1:] = key[1:] != key[:-1]
        blocks = key[first]
        nblocks = int(blocks.shape[0])
        index = _arrays.index_dtype(shape[1])
        nbytes = nblocks * (R * C * csr.data.itemsize + np.dtype(index).itemsize) + (brows + 1) * 8
        why = f"its blocks of {R}×{C} are {100 * csr._stored / max(nblocks * R * C, 1):.1f} % full"
        check_storage("bsr", nbytes, csr.nbytes, why, "CSR, PJAD or a smaller block", force)
        data = xp.zeros(nblocks * R * C, dtype=csr.dtype)
        block = xp.cumsum(first) - 1
        data[block * (R * C) + rows[order] % R * C + csr.indices[order] % C] = csr.data[order]
        counts = xp.bincount(blocks // max(bcols, 1), minlength=brows)
        parts = {
            "data": data.reshape(nblocks, R, C),
            "indices": (blocks % max(bcols, 1)).astype(index),
            "indptr": _arrays.pointers(counts),
        }
        return cls._build(parts, shape, blocksize=(R, C))

    @classmethod
    def _from_csr_without_empty_columns(cls, csr: CSR, R: int, C: int, force: bool) -> Self:
        used, found = csr._library.unique(csr.indices // C, return_inverse=True)
        narrow = CSR._made(csr.data, found * C + csr.indices % C, csr.indptr, (csr.shape[0], int(used.shape[0]) * C))
        made = cls.from_csr(narrow, blocksize=(R, C), pad=True, force=force)
        indices = used[made.indices].astype(_arrays.index_dtype(csr.shape[1]))
        return cls._build({**made._parts(), "indices": indices}, csr.shape, blocksize=(R, C))

    @classmethod
    def _from_csr_by_scipy(cls, csr: CSR, R: int, C: int) -> Self:
        from scipy.sparse import csr_array

        n, m = csr.shape
        brows, bcols = -(-n // R), -(-m // C)
        indptr = np.full(brows * R + 1, csr._stored, dtype=np.int64)
        indptr[: n + 1] = csr.indptr
        whole = csr_array((csr.data, csr.indices, indptr), shape=(brows * R, bcols * C))
        blocks = whole.tobsr(blocksize=(R, C), copy=True)
        if first_unsorted(blocks.indices, blocks.indptr) is not None:  # SciPy puts a block where its first entry comes
            blocks.sort_indices()
        parts = {
            "data": blocks.data.reshape(-1, R, C),
            "indices": blocks.indices.astype(_arrays.index_dtype(m), copy=False),
            "indptr": blocks.indptr.astype(np.int64, copy=False),
        }
        return cls._build(parts, csr.shape, blocksize=(R, C))

    def to_csr(self) -> CSR:
        """Convert to CSR. Zeros inside the blocks go: nothing tells which of them were entries."""
        xp, (R, C) = self._library, self.blocksize
        if xp is np:
            return self._to_csr_by_scipy()
        brow = _arrays.rows_of(self.indptr)
        block, r, c = xp.nonzero(self.data)
        rows, cols = brow[block] * R + r, self.indices[block].astype(np.int64) * C + c
        return csr_by_rows(self.data[block, r, c], rows, cols, self.shape)  # blocks are sorted, so columns rise

    def _to_csr_by_scipy(self) -> CSR:
        from scipy.sparse import bsr_array

        (n, m), (R, C) = self.shape, self.blocksize
        whole = (-(-n // R) * R, -(-m // C) * C)
        csr = bsr_array((self.data, self.indices, self.indptr), shape=whole).tocsr()
        csr.eliminate_zeros()
        return CSR._made(csr.data, csr.indices, csr.indptr[: n + 1], self.shape)

    def _transposed(self, conjugate: bool) -> BSR:
        xp, (R, C) = self._library, self.blocksize
        n, m = self.shape
        bcols = -(-m // C)
        brow = _arrays.rows_of(self.indptr)
        order = xp.argsort(self.indices.astype(np.int64) * max(self.indptr.shape[0] - 1, 1) + brow, kind="stable")
        data = xp.ascontiguousarray(self.data[order].transpose(0, 2, 1))
        parts = {
            "data": xp.conj(data) if conjugate and self._is_complex else data,
            "indices": brow[order].astype(_arrays.index_dtype(n)),
            "indptr": _arrays.pointers(xp.bincount(self.indices, minlength=bcols)),
        }
        return BSR._build(parts, (m, n), blocksize=(C, R))

    def _own_layout(self) -> dict[str, Any]:
        return {"blocksize": self.blocksize, "pad": self.padded}

    def _transposed_layout(self) -> dict[str, Any]:
        return {"blocksize": self.blocksize[::-1], "pad": self.padded}

    @at_home
    def _count(self) -> int:
        (n, m), (R, C) = self.shape, self.blocksize
        if not self.padded:
            return int(self.data.size)
        heights = R - xp_edge(self._library, _arrays.rows_of(self.indptr), R, n)
        widths = C - xp_edge(self._library, self.indices, C, m)
        return int((heights * widths).sum())

    @property
    def padded(self) -> bool:
        """Whether the last blocks reach over the edge."""
        return bool(self.shape[0] % self.blocksize[0] or self.shape[1] % self.blocksize[1])

    @property
    def ptrB(self) -> Any:
        """Where each block row begins."""
        return self.indptr[:-1]

    @property
    def ptrE(self) -> Any:
        """Where each block row ends."""
        return self.indptr[1:]

    @property
    def vals(self) -> Any:
        """The values column by column inside each block (a copy)."""
        return self.data.transpose(0, 2, 1).reshape(-1)


def xp_edge(xp: Any, blocks: Any, size: int, length: int) -> Any:
    """How many rows (or columns) of each block lie over the edge."""
    return xp.maximum((blocks.astype(np.int64) + 1) * size - length, 0)


def check_blocksize(blocksize: Any, shape: tuple[int, int], pad: bool) -> tuple[int, int]:
    """The block size as two ints, or an error that names it and the shape."""
    try:
        R, C = blocksize
        whole = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in (R, C))
    except (TypeError, ValueError):
        whole = False
    if not whole or R < 1 or C < 1:
        raise ValueError(f"blocksize must be two integers of at least 1, got blocksize={blocksize!r} for shape {shape}")
    if not pad and (shape[0] % R or shape[1] % C):
        raise ValueError(
            f"blocksize={(int(R), int(C))} does not divide shape {shape}; choose one that does, or pass pad=True to "
            "let the last blocks reach over the edge"
        )
    return int(R), int(C)


def best_blocksize(csr: CSR) -> tuple[int, int]:
    """The square block of 1 … 8 that divides the shape and takes the fewest bytes, judged by a sample of the rows."""
    xp, (n, m) = csr._library, csr.shape
    take = min(n, SAMPLE)
    start = (n - take) // 2 // 840 * 840  # a multiple of every candidate, so that blocks begin where they do in A
    lo, hi = int(csr.indptr[start]), int(csr.indptr[start + take])
    rows = _arrays.rows_of(csr.indptr[start : start + take + 1] - lo)
    cols = csr.indices[lo:hi].astype(np.int64)
    best, least = (1, 1), (hi - lo) * (csr.data.itemsize + csr.indices.itemsize)
    for b in range(2, 9):
        if n % b or m % b or not hi - lo:
            continue
        blocks = int(xp.unique(rows // b * (m // b) + cols // b).shape[0])
        nbytes = blocks * (b * b * csr.data.itemsize + csr.indices.itemsize)
        if nbytes < least:
            best, least = (b, b), nbytes
    return best
