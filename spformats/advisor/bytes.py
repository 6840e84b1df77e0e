"""Exact storage of every format for a given matrix, computed from its pattern before anything is allocated."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats._arrays import index_dtype, value_dtype
from spformats.formats.pjad import block_widths, sorted_rows, tuned_blocking

POINTER = 8
"""Bytes of one pointer, offset or start: these arrays are always int64."""


def estimate_bytes(csr: Any, format: str, **layout: Any) -> int:
    """Bytes that ``asarray(csr, format=format, **layout)`` would take, found without building it.

    Parameters
    ----------
    csr : CSR or scipy.sparse.csr_array, shape (n, m)
        Canonical: columns sorted within each row, no duplicates.
    format : str
        Any of the library's formats, lower case.
    **layout
        Layout options of that format (``blocksize``, ``bsize``, ``sigma``, ``symmetric``, ...).

    Returns
    -------
    int
        The ``nbytes`` of the result.

    Raises
    ------
    ValueError
        If the format is not known.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from spformats.advisor import estimate_bytes
    >>> n = 20000
    >>> anti = sp.csr_array(sp.eye_array(n, format="csr")[::-1])
    >>> estimate_bytes(anti, "csr"), estimate_bytes(anti, "cds")
    (400008, 3200160000)
    """
    if format not in _BYTES:
        raise ValueError(f"no storage estimate for format {format!r}, known are {', '.join(sorted(_BYTES))}")
    return int(_BYTES[format](csr, value_dtype(csr.data.dtype).itemsize, **layout))


def index_bytes(size: int) -> int:
    """Bytes of one index into an axis of this size."""
    return np.dtype(index_dtype(size)).itemsize


def row_lengths(csr: Any) -> np.ndarray:
    """Stored entries of each row, int64."""
    return np.diff(np.asarray(csr.indptr, dtype=np.int64))


def diagonal_counts(csr: Any) -> tuple[np.ndarray, np.ndarray]:
    """Sorted offsets of the diagonals with a nonzero, and how many each has (diagonal formats drop stored zeros)."""
    n, m = csr.shape
    shifted = csr.indices - np.repeat(np.arange(n, dtype=np.int64), row_lengths(csr)) + n
    live = csr.data != 0
    if not live.all():
        shifted = shifted[live]
    if n + m <= 8 * shifted.size + 2**20:
        counts = np.bincount(shifted, minlength=n + m)
        occupied = np.flatnonzero(counts)
        return occupied - n, counts[occupied]
    occupied, counts = np.unique(shifted, return_counts=True)
    return occupied - n, counts


def count_blocks(csr: Any, blocksize: tuple[int, int]) -> int:
    """Number of R x C blocks with at least one stored entry (blocks over the edge count in full)."""
    r, c = blocksize
    n, m = csr.shape
    rows = np.repeat(np.arange(n, dtype=np.int64) // r, row_lengths(csr))
    key = rows * (-(-m // c)) + csr.indices // c
    if key.size == 0:
        return 0
    key.sort()
    return 1 + int(np.count_nonzero(key[1:] != key[:-1]))


def _csr(csr: Any, item: int) -> int:
    return csr.indices.size * (item + index_bytes(csr.shape[1])) + (csr.shape[0] + 1) * POINTER


def _ell(csr: Any, item: int) -> int:
    lengths, index = row_lengths(csr), index_bytes(csr.shape[1])
    return lengths.size * int(lengths.max(initial=0)) * (item + index) + lengths.size * index


def _jad(csr: Any, item: int) -> int:
    lengths = row_lengths(csr)
    rows, cols = index_bytes(csr.shape[0]), index_bytes(csr.shape[1])
    pointers = (int(lengths.max(initial=0)) + 1) * POINTER
    return csr.indices.size * (item + cols) + pointers + lengths.size * (rows + cols)


def padded_entries(lengths: np.ndarray, bsize: int, sigma: int | None = None) -> int:
    """Slots a PJAD of these row lengths stores, padding included."""
    return int(block_widths(lengths[sorted_rows(lengths, sigma)], bsize).sum()) * bsize


def _pjad(csr: Any, item: int, bsize: int | None = None, sigma: int | None = None) -> int:
    lengths = row_lengths(csr)
    if bsize is None:
        bsize, sigma = tuned_blocking(lengths, "numpy", sigma)
    n, blocks = lengths.size, -(-lengths.size // bsize)
    pointers = int(lengths.max(initial=0)) + 1 if sigma is None else blocks + 1
    rows, cols = index_bytes(csr.shape[0]), index_bytes(csr.shape[1])
    return padded_entries(lengths, bsize, sigma) * (item + cols) + pointers * POINTER + (blocks + n) * cols + n * rows


def _bsr(csr: Any, item: int, blocksize: Any = (1, 1), pad: bool = False) -> int:
    r, c = blocksize
    pointers = (-(-csr.shape[0] // r) + 1) * POINTER
    return count_blocks(csr, (r, c)) * (r * c * item + index_bytes(csr.shape[1])) + pointers


def _cds(csr: Any, item: int, symmetric: bool = False) -> int:
    offsets, _ = diagonal_counts(csr)
    if symmetric:
        offsets = offsets[offsets >= 0]
    return offsets.size * (csr.shape[0] * item + POINTER)


def _hm(csr: Any, item: int) -> int:
    offsets, _ = diagonal_counts(csr)
    return int(np.sum(csr.shape[0] - np.abs(offsets))) * item + offsets.size * 2 * POINTER


def _cdm(csr: Any, item: int) -> int:
    offsets, _ = diagonal_counts(csr)
    n = csr.shape[0]
    rows = np.unique(offsets % max(n, 1)).size
    return rows * n * item + offsets.size * 2 * POINTER


_BYTES = {"csr": _csr, "ell": _ell, "jad": _jad, "pjad": _pjad, "bsr": _bsr, "cds": _cds, "hm": _hm, "cdm": _cdm}
