"""PJAD: jagged diagonals padded block by block."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spformats.formats import _arrays
from spformats.formats._guard import check_storage
from spformats.formats.base import SparseArray
from spformats.formats.csr import CSR, first_unsorted
from spformats.formats.jad import check_permutation

#: Slots for each entry, from which rows are sorted in the next wider window, and slots for each slot of the smallest
#: blocks, from which those are taken: one very long row fills the slots of its whole block.
LOOSE, WIDE = 1.15, 32768
#: Rows a block, the larger the better where rows are alike, and rows a sort window of the tuned layout. On the CPU a
#: block is summed in one pass by its SIMD registers, on a GPU 32 rows are a warp. The narrowest window that leaves
#: little padding is best: neighbours in x stay neighbours.
TUNED = {"numpy": ((32, 16, 8), (128, 256, WIDE)), "cupy": ((32,), (1024,))}
#: Least share of the slots that entries must fill for the larger blocks.
FILLED = 0.94
#: Mean row length up to which blocks of 32 rows pay on the CPU: they halve the work around a block, not inside it.
SHORT = 32
#: Slots of padding a row, up to which rows keep their order on the CPU: reading a permutation costs as much.
IN_ORDER = 1.5


class PJAD(SparseArray):
    """Block-padded jagged diagonals.

    Rows are sorted by falling length and put into blocks of ``bsize`` rows; each block is padded to its longest row,
    ``brlen[b]``. Sorted row ``i = b*bsize + r`` is row ``perm[i]`` of A and has ``rlen[i]`` entries; the slots beyond
    are padding (value 0, index 0) and never show in a result. Two layouts:

    * ``sigma=None``, the papers': rows are sorted over the whole matrix and the j-th entries of all blocks that have
      them are contiguous; entry j of sorted row i is at ``jd_ptr[j] + i``.
    * ``sigma=s``: rows are sorted only inside windows of s rows, so that neighbouring rows stay close and read the same
      part of x, and each block is contiguous; the entry is at ``block_ptr[b] + j*bsize + r``. With ``sigma=1``
      they keep their order.

    `asarray` takes the papers' layout when ``bsize`` is given without ``sigma``, and a tuned one when neither is.

    Parameters
    ----------
    data, indices : arrays
    jd_ptr : integer array, shape (width + 1,), or empty with ``sigma``
    block_ptr : integer array, shape (nblocks + 1,), or empty without ``sigma``
    brlen : integer array, shape (nblocks,)
    rlen, perm : integer arrays, shape (n,)
    shape : (int, int)
    bsize : int
    sigma : int or None

    References
    ----------
    P. Stpiczyński, *Semiautomatic Acceleration of Sparse Matrix-Vector Product Using OpenACC*, PPAM 2015; K. Stec,
    P. Stpiczyński, *Performance of Portable Sparse Matrix-Vector Product Implemented Using OpenACC*.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.asarray(np.array([[7., 0, 1, 0], [0, 4, 2, 3], [1, 8, 0, 0], [0, 9, 0, 0]]), format="pjad", bsize=2)
    >>> A.data.tolist()
    [4.0, 7.0, 1.0, 9.0, 2.0, 1.0, 8.0, 0.0, 3.0, 0.0]
    >>> A.jd_ptr.tolist(), A.brlen.tolist()
    ([0, 4, 8, 10], [3, 2])
    """

    format = "pjad"
    components = ("data", "indices", "jd_ptr", "block_ptr", "brlen", "rlen", "perm")
    parameters = ("bsize", "sigma")
    layout_options = ("bsize", "sigma")

    bsize: int
    sigma: int | None

    def __init__(
        self,
        data: Any,
        indices: Any,
        jd_ptr: Any,
        block_ptr: Any,
        brlen: Any,
        rlen: Any,
        perm: Any,
        *,
        shape: tuple[int, int],
        bsize: int,
        sigma: int | None = None,
    ):
        n, m = shape = _arrays.check_shape(shape)
        bsize, sigma = check_blocking(bsize, sigma)
        data, indices, jd_ptr, block_ptr = _arrays.as_arrays(data, indices, jd_ptr, block_ptr)
        brlen, rlen, perm = _arrays.as_arrays(brlen, rlen, perm)
        xp = _arrays.xp_of(data)
        data = _arrays.as_values(data)
        if data.ndim != 1 or indices.shape != data.shape:
            raise ValueError(f"data and indices must be 1-D of one length, got shapes {data.shape} and {indices.shape}")
        check_permutation(perm, n)
        nblocks = -(-n // bsize)
        if brlen.shape != (nblocks,) or rlen.shape != (n,):
            raise ValueError(
                f"brlen and rlen must have shapes ({nblocks},) and ({n},), got {brlen.shape} and {rlen.shape}"
            )
        longest = block_widths(rlen, bsize)
        if not bool((brlen == longest).all()):
            b = int(xp.flatnonzero(brlen != longest)[0])
            raise ValueError(
                f"brlen must hold the longest row of each block, got brlen[{b}] = {int(brlen[b])}, "
                f"longest {int(longest[b])}"
            )
        wanted_jd, wanted_block = block_pointers(longest, bsize, sigma)
        for name, got, wanted in (("jd_ptr", jd_ptr, wanted_jd), ("block_ptr", block_ptr, wanted_block)):
            if got.shape != wanted.shape or not bool((got == wanted).all()):
                raise ValueError(
                    f"{name} does not fit brlen and bsize: expected {wanted[:8].tolist()}…, got {got[:8].tolist()}…"
                )
        total = int(longest.sum()) * bsize
        if data.shape[0] != total:
            raise ValueError(f"data must have {total} slots for these block widths, got {data.shape[0]}")
        if sigma is None and bool((rlen[1:] > rlen[:-1]).any()):
            raise ValueError("without sigma rows must be sorted by falling length, but rlen rises")
        idx = _arrays.index_dtype(m)
        parts = {
            "data": data,
            "indices": indices.astype(idx),
            "jd_ptr": wanted_jd,
            "block_ptr": wanted_block,
            "brlen": brlen.astype(idx),
            "rlen": rlen.astype(idx),
            "perm": perm.astype(_arrays.index_dtype(n)),
        }
        made = self._build(parts, shape, bsize=bsize, sigma=sigma)
        csr = made.to_csr()
        _arrays.check_range("indices (of stored entries, row by row)", csr.indices, m)
        if first_unsorted(csr.indices, csr.indptr) is not None:
            raise ValueError("indices must rise along each row; spformats.asarray sorts and sums duplicates")
        self.__dict__.update(made.__dict__)

    @classmethod
    def from_csr(cls, csr: CSR, *, bsize: int | None = None, sigma: int | None = None, force: bool = False) -> Self:
        """Convert from CSR to blocks of ``bsize`` rows, sorted in windows of ``sigma`` rows.

        Without either, to the layout tuned for where the values live. ``force`` lifts the memory guard.
        """
        xp, n = csr._library, csr.shape[0]
        lengths = xp.diff(csr.indptr)
        if bsize is None:
            bsize, sigma = tuned_blocking(lengths, csr._namespace, sigma)
        bsize, sigma = check_blocking(bsize, sigma)
        perm = sorted_rows(lengths, sigma)
        rlen = lengths[perm]
        longest = int(lengths.max()) if n else 0
        brlen = block_widths(rlen, bsize)
        jd_ptr, block_ptr = block_pointers(brlen, bsize, sigma)
        total = int(brlen.sum()) * bsize
        nbytes = total * (csr.data.itemsize + csr.indices.itemsize)
        check_storage(
            "pjad", nbytes, csr.nbytes, f"blocks of {bsize} rows are padded to {longest} entries", "CSR or JAD", force
        )
        rank = xp.empty(n, dtype=np.int64)
        rank[perm] = xp.arange(n)
        rows = _arrays.rows_of(csr.indptr)
        slot = slots(jd_ptr, block_ptr, bsize, rank, rows, _arrays.position_in_row(csr.indptr, rows))
        data = xp.zeros(total, dtype=csr.dtype)
        indices = xp.zeros(total, dtype=csr.indices.dtype)
        data[slot], indices[slot] = csr.data, csr.indices
        idx = csr.indices.dtype
        parts = {
            "data": data,
            "indices": indices,
            "jd_ptr": jd_ptr,
            "block_ptr": block_ptr,
            "brlen": brlen.astype(idx),
            "rlen": rlen.astype(idx),
            "perm": perm.astype(_arrays.index_dtype(n)),
        }
        return cls._build(parts, csr.shape, bsize=bsize, sigma=sigma)

    def to_csr(self) -> CSR:
        """Convert to CSR. Explicit zeros stay, padding goes."""
        xp, n = self._library, self.shape[0]
        lengths = xp.empty(n, dtype=np.int64)
        rank = xp.empty(n, dtype=np.int64)
        lengths[self.perm], rank[self.perm] = self.rlen, xp.arange(n)
        indptr = _arrays.pointers(lengths)
        rows = _arrays.rows_of(indptr)
        slot = slots(self.jd_ptr, self.block_ptr, self.bsize, rank, rows, _arrays.position_in_row(indptr, rows))
        return CSR._made(self.data[slot], self.indices[slot], indptr, self.shape)

    def _own_layout(self) -> dict[str, Any]:
        # the rows' own order suits these rows: those of the transpose or of a sum may need another layout
        return {} if self.sigma == 1 else super()._own_layout()

    def _count(self) -> int:
        return int(self.rlen.sum(dtype=np.int64))


def check_blocking(bsize: Any, sigma: Any) -> tuple[int, int | None]:
    """The two numbers as ints, or ValueError."""
    if isinstance(bsize, bool) or not isinstance(bsize, (int, np.integer)) or bsize < 1:
        raise ValueError(f"bsize must be an integer of at least 1, got {bsize!r}")
    if sigma is None:
        return int(bsize), None
    whole = isinstance(sigma, (int, np.integer)) and not isinstance(sigma, bool)
    if not whole or sigma < 1 or (sigma > 1 and sigma % bsize):
        raise ValueError(
            f"sigma must be a multiple of bsize = {bsize}, 1 (rows keep their order) or None, got {sigma!r}"
        )
    return int(bsize), int(sigma)


def sorted_rows(lengths: Any, sigma: int | None) -> Any:
    """The rows by falling length, inside windows of ``sigma`` rows; rows of one length keep their order."""
    xp, n = _arrays.xp_of(lengths), lengths.shape[0]
    if sigma == 1:
        return xp.arange(n)
    longest = int(lengths.max()) if n else 0
    key = longest - lengths
    if sigma is not None:
        key = key + xp.arange(n) // sigma * (longest + 1)
    return xp.argsort(key, kind="stable")


def tuned_blocking(lengths: Any, namespace: str, sigma: int | None = None) -> tuple[int, int]:
    """``(bsize, sigma)`` of the tuned layout for rows of these lengths; ``sigma`` stays."""
    sizes, windows = TUNED[namespace]
    entries = int(lengths.sum())
    if namespace == "numpy" and entries > SHORT * lengths.shape[0]:
        sizes = sizes[1:]
    if sigma is None and namespace == "numpy":
        padding = sizes[0] * int(block_widths(lengths, sizes[0]).sum()) - entries
        if padding <= IN_ORDER * lengths.shape[0]:
            return sizes[0], 1
    windows = windows if sigma is None else (sigma,)
    for rows in windows:
        check_blocking(1, rows)
        fitting = [size for size in sizes if rows == 1 or rows % size == 0]
        fitting = fitting or [max(size for size in range(1, sizes[-1] + 1) if rows % size == 0)]
        if len(fitting) == 1:
            break
        rlen = lengths[sorted_rows(lengths, rows)]
        taken = [size * int(block_widths(rlen, size).sum()) for size in fitting]
        for size, filled in zip(fitting[:-1], taken, strict=False):
            if entries >= FILLED * filled:
                return size, rows
        if taken[-2] <= LOOSE * (taken[-1] if rows == windows[-1] else entries):
            return fitting[-2], rows
    return fitting[-1], rows


def block_widths(rlen: Any, bsize: int) -> Any:
    """Longest of each ``bsize`` rows."""
    xp, n = _arrays.xp_of(rlen), rlen.shape[0]
    padded = xp.zeros(-(-n // bsize) * bsize, dtype=np.int64)
    padded[:n] = rlen
    return padded.reshape(-1, bsize).max(axis=1)


def block_pointers(brlen: Any, bsize: int, sigma: int | None) -> tuple[Any, Any]:
    """``(jd_ptr, block_ptr)`` of these block widths; the one the layout has no use for is empty."""
    xp = _arrays.xp_of(brlen)
    none = xp.zeros(0, dtype=np.int64)
    if sigma is not None:
        return none, _arrays.pointers(brlen * bsize)
    width = int(brlen.max()) if brlen.shape[0] else 0
    blocks = brlen.shape[0] - xp.cumsum(xp.bincount(brlen, minlength=width + 1))[:width]
    return _arrays.pointers(blocks * bsize), none


def slots(jd_ptr: Any, block_ptr: Any, bsize: int, rank: Any, rows: Any, j: Any) -> Any:
    """Where entry ``j`` of each of these ``rows`` is stored; ``rank`` is the place of each row after sorting."""
    if block_ptr.shape[0]:
        first = block_ptr[rank // bsize] + rank % bsize
        return first[rows] + j * bsize
    return jd_ptr[j] + rank[rows]
