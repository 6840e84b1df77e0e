"""Vectors and matrices in every memory layout and array library, and the places a format stores."""

from __future__ import annotations

import importlib
from typing import Any

import array_api_compat
import numpy as np

#: Ways an operand may lie in memory. Where a library has no such array, the plain one stands in.
ARRANGEMENTS = ("contiguous", "strided", "reversed", "fortran", "read-only")


def arranged(values: np.ndarray, how: str, xp: Any) -> Any:
    """The same values as an array of the library `xp`, in another memory layout. Gaps hold NaN."""
    if how == "strided":
        wide = np.full(tuple(2 * s for s in values.shape), np.nan, dtype=values.dtype)
        every_other = tuple(slice(0, 2 * s, 2) for s in values.shape)
        wide[every_other] = values
        return xp.asarray(wide)[every_other]
    if how == "reversed" and not xp.__name__.endswith("torch"):  # torch has no negative strides
        backwards = (slice(None, None, -1), ...)
        return xp.asarray(values[backwards].copy())[backwards]
    if how == "fortran" and values.ndim == 2:
        return xp.asarray(values.T.copy()).T
    out = xp.asarray(values.copy())
    if how == "read-only" and isinstance(out, np.ndarray):
        out.flags.writeable = False
    return out


def namespace_module(name: str) -> Any:
    """The array library of this name, in the standard's spelling; ImportError where it is not installed."""
    return array_api_compat.array_namespace(importlib.import_module(name).zeros(1) if name != "numpy" else np.zeros(1))


def to_numpy(array: Any) -> np.ndarray:
    """A copy in NumPy."""
    from spformats.interop import devices

    return np.array(devices.to_numpy(array))


def stored_slots(A: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of all the places inside the matrix that A stores, zeros included.

    Diagonal formats are read through their diagonal table, block formats through `blocksize`. Any other format that
    stores zeros inside its structure says where by a method ``_slots() -> (rows, cols)``.
    """
    n, m = A.shape
    if hasattr(A, "_slots"):
        rows, cols = A._slots()
    elif hasattr(A, "_diagonals"):
        offsets = [int(o) for o in A._diagonals("N")[2]]
        none = [np.zeros(0, dtype=np.int64)]
        rows = np.concatenate(none + [np.arange(max(0, -o), min(n, m - o)) for o in offsets])
        cols = np.concatenate(none + [np.arange(max(0, o), min(m, n + o)) for o in offsets])
    elif "blocksize" in A.parameters:
        height, width = A.blocksize
        block_rows = np.repeat(np.arange(A.indptr.shape[0] - 1), np.diff(A.indptr))
        r, c = np.divmod(np.arange(height * width), width)
        rows = (block_rows[:, None] * height + r).ravel()
        cols = (A.indices.astype(np.int64)[:, None] * width + c).ravel()
    else:
        csr = A.to_csr()
        return np.repeat(np.arange(n), np.diff(csr.indptr)), csr.indices.astype(np.int64)
    inside = (rows < n) & (cols < m)
    return rows[inside], cols[inside]
