"""Dense two-dimensional arrays to CSR."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats import CSR, SparseArray, _arrays
from spformats.formats.device import home_of


def from_dense(obj: Any, *, dtype: Any = None, keep_dtype: bool = False, signed_zeros: bool = False) -> SparseArray:
    """CSR of the nonzeros of a dense 2-D array (NaN counts as one), in the array's own library.

    The values get ``dtype``; without one they keep theirs if ``keep_dtype``, else integers and bool become floats.
    With ``signed_zeros`` a -0.0 is stored too.
    """
    if hasattr(obj, "matvec"):
        raise TypeError(
            f"a {type(obj).__name__} only multiplies: its entries cannot be read; pass the matrix it was made from"
        )
    given = type(obj).__name__
    if not hasattr(obj, "shape") or isinstance(obj, np.ndarray):
        obj = _arrays.unmasked(obj)
    if obj.dtype.kind in "OSUMmV" and obj.ndim != 2:
        raise TypeError(f"a {given} is no matrix; pass a sparse matrix, a dense array or a nested list of numbers")
    if obj.ndim != 2:
        raise ValueError(
            f"a sparse array has two dimensions, got an input of shape {tuple(obj.shape)}; reshape it first"
        )
    xp = _arrays.xp_of(obj)
    if xp.__name__ not in ("numpy", "cupy"):
        from spformats.interop.devices import to_numpy

        return from_dense(to_numpy(obj), dtype=dtype, keep_dtype=keep_dtype, signed_zeros=signed_zeros).to_namespace(xp)
    with home_of(obj):
        if dtype is not None:
            values = obj.astype(dtype)
        elif keep_dtype and obj.dtype.kind in "biu":
            values = obj.astype(obj.dtype.newbyteorder("="), copy=False)
        else:
            values = _arrays.as_values(obj)
        return _compressed(xp, values, signed_zeros)


def _compressed(xp: Any, values: Any, signed_zeros: bool) -> CSR:
    rows, cols = xp.nonzero(_not_positive_zero(xp, values) if signed_zeros else values)
    counts = xp.bincount(rows, minlength=values.shape[0])
    return CSR._made(values[rows, cols], cols, _arrays.pointers(counts), (int(values.shape[0]), int(values.shape[1])))


def _not_positive_zero(xp: Any, values: Any) -> Any:
    stored = values != 0
    if values.dtype.kind == "f":
        stored |= xp.signbit(values)
    elif values.dtype.kind == "c":
        stored |= xp.signbit(values.real) | xp.signbit(values.imag)
    return stored
