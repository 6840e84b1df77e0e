"""Structure of a matrix in numbers: row lengths, diagonals, block fill, symmetry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from spformats.advisor.bytes import count_blocks, diagonal_counts, padded_entries, row_lengths, tuned_blocking

BLOCK_SIZES = tuple((k, k) for k in range(2, 9)) + ((3, 2), (2, 3), (6, 3), (3, 6), (4, 2), (2, 4), (5, 4), (4, 5))
WINDOW = 840
"""Rows of one sample window: a multiple of every block height in BLOCK_SIZES."""
SAMPLE_ENTRIES = 400_000


@dataclass(frozen=True)
class Features:
    """What `features` found; the fields are described there."""

    shape: tuple[int, int]
    nnz: int
    dtype: np.dtype[Any]
    row_min: int
    row_max: int
    row_mean: float
    row_std: float
    empty_rows: int
    n_diagonals: int
    diagonal_fill: float
    cds_fill: float
    lower_bandwidth: int
    upper_bandwidth: int
    ell_fill: float
    pjad_fill: float
    pjad_bsize: int
    symmetry: str
    pattern_symmetric: bool
    block_fill: dict[tuple[int, int], float] = field(repr=False)

    @property
    def best_block(self) -> tuple[tuple[int, int], float]:
        """The candidate block with the fewest bytes an entry (8-byte values, 4-byte indices), and its fill."""
        best = min(self.block_fill, key=lambda b: (8 + 4 / (b[0] * b[1])) / max(self.block_fill[b], 1e-9))
        return best, self.block_fill[best]

    def __str__(self) -> str:
        n, m = self.shape
        block, fill = self.best_block
        blocks = f"best candidate {block[0]}x{block[1]}, filled to {fill:.3f}" if self.nnz else "none"
        return "\n".join(
            [
                f"shape            {n} x {m}, {self.nnz} stored entries, {self.dtype}",
                f"rows             {self.row_min}..{self.row_max} entries, mean {self.row_mean:.2f}, "
                f"standard deviation {self.row_std:.2f}, {self.empty_rows} empty",
                f"diagonals        {self.n_diagonals} occupied, filled to {self.diagonal_fill:.3f}; "
                f"bandwidths {self.lower_bandwidth} below, {self.upper_bandwidth} above",
                f"blocks           {blocks}",
                f"padding          ELL filled to {self.ell_fill:.3f}, PJAD (blocks of {self.pjad_bsize} rows) to "
                f"{self.pjad_fill:.3f}",
                f"symmetry         {self.symmetry}" + (", pattern symmetric" if self.pattern_symmetric else ""),
            ]
        )


def host_csr(A: Any) -> sp.csr_array:
    """A canonical SciPy CSR of anything matrix-like; the caller's object is never changed."""
    if hasattr(A, "to_scipy_sparse"):
        A = A.to_scipy_sparse()
    elif not sp.issparse(A) and (hasattr(A, "matvec") or np.asarray(A).dtype.kind in "OSUMmV"):
        from spformats.interop.asarray import asarray

        A = asarray(A).to_scipy_sparse()  # or its word on what is no matrix
    elif not sp.issparse(A) and np.ndim(A) != 2:
        raise ValueError(f"only a matrix has a format: give a sparse or 2-D array, got shape {np.shape(A)}")
    csr = sp.csr_array(A)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def features(A: Any) -> Features:
    """Measure the structure that decides which format suits a matrix.

    Parameters
    ----------
    A : SparseArray, SciPy sparse or 2-D array, shape (n, m)

    Returns
    -------
    Features
        ``row_min, row_max, row_mean, row_std, empty_rows`` : lengths of the rows.
        ``n_diagonals`` : diagonals with a stored entry; ``diagonal_fill`` : share of their slots inside the matrix that
        are stored; ``cds_fill`` : the same with CDS's padding counted; ``lower_bandwidth, upper_bandwidth``.
        ``ell_fill, pjad_fill`` : stored share of those formats' slots, PJAD's in the layout tuned for the CPU, with
        blocks of ``pjad_bsize`` rows.
        ``symmetry`` : ``"symmetric"``, ``"skew-symmetric"``, ``"hermitian"`` or ``"none"``; ``pattern_symmetric``.
        ``block_fill`` : for each candidate block size, the stored share of the slots of its blocks. Above 400 000
        entries it is measured on evenly spaced windows of 840 rows.

    Examples
    --------
    >>> import spformats as sf
    >>> f = sf.advisor.features(sf.gallery.poisson2d(30))
    >>> f.n_diagonals, f.symmetry, f.row_max
    (5, 'symmetric', 5)
    """
    csr = host_csr(A)
    n, m = csr.shape
    lengths = row_lengths(csr)
    longest = int(lengths.max(initial=0))
    offsets, counts = diagonal_counts(csr)
    inside = int(np.sum(np.minimum(n, m - offsets) - np.maximum(0, -offsets)))
    symmetry, pattern = _symmetry(csr)
    sample = _sample(csr)
    bsize, sigma = tuned_blocking(lengths, "numpy")
    return Features(
        shape=(n, m),
        nnz=csr.nnz,
        dtype=csr.dtype,
        row_min=int(lengths.min(initial=longest)),
        row_max=longest,
        row_mean=float(lengths.mean()) if n else 0.0,
        row_std=float(lengths.std()) if n else 0.0,
        empty_rows=int(np.count_nonzero(lengths == 0)),
        n_diagonals=offsets.size,
        diagonal_fill=_share(int(counts.sum()), inside),
        cds_fill=_share(csr.nnz, offsets.size * n),
        lower_bandwidth=int(max(-offsets.min(initial=0), 0)),
        upper_bandwidth=int(max(offsets.max(initial=0), 0)),
        ell_fill=_share(csr.nnz, n * longest),
        pjad_fill=_share(csr.nnz, padded_entries(lengths, bsize, sigma)),
        pjad_bsize=bsize,
        symmetry=symmetry,
        pattern_symmetric=pattern,
        block_fill={b: _share(sample.nnz, count_blocks(sample, b) * b[0] * b[1]) for b in BLOCK_SIZES},
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _sample(csr: sp.csr_array) -> sp.csr_array:
    """The matrix, or evenly spaced windows of its rows with about SAMPLE_ENTRIES entries in all."""
    windows = csr.shape[0] // WINDOW
    keep = max(4, int(windows * SAMPLE_ENTRIES / max(csr.nnz, 1)))
    if csr.nnz <= SAMPLE_ENTRIES or keep >= windows:
        return csr
    starts = np.unique(np.linspace(0, windows - 1, keep).astype(np.int64)) * WINDOW
    rows = (starts[:, None] + np.arange(WINDOW)).ravel()
    return csr[rows]


def _symmetry(csr: sp.csr_array) -> tuple[str, bool]:
    """Exact symmetry of the values, and of the pattern of stored entries."""
    if csr.shape[0] != csr.shape[1]:
        return "none", False
    turned = csr.T.tocsr()
    same = np.array_equal(csr.indptr, turned.indptr) and np.array_equal(csr.indices, turned.indices)
    if not same:
        return "none", False
    if np.array_equal(csr.data, turned.data):
        return "symmetric", True
    if csr.dtype.kind == "c" and np.array_equal(csr.data, turned.data.conj()):
        return "hermitian", True
    if np.array_equal(csr.data, -turned.data):
        return "skew-symmetric", True
    return "none", True
