"""Reduce the stored entries of each row of a CSR array."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats import CSR, _arrays

_UFUNCS = {"max": "maximum", "min": "minimum", "prod": "multiply", "sum": "add"}


def reduce_rows(csr: CSR, operation: str, data: Any, empty: Any) -> Any:
    """``max``, ``min``, ``prod`` or ``sum`` of ``data`` (one value an entry) over each row; ``empty`` where a row has
    none."""
    xp = csr._library
    ufunc = getattr(xp, _UFUNCS[operation])
    lengths = csr.indptr[1:] - csr.indptr[:-1]
    out = xp.full(csr.shape[0], empty, dtype=data.dtype)
    filled = xp.flatnonzero(lengths)
    if not filled.shape[0]:
        return out
    if xp is np:
        # rows without entries take no room, so the filled rows' starts cut the data into exactly their segments
        out[filled] = ufunc.reduceat(data, csr.indptr[:-1][filled])
        return out
    out[filled] = _halving(xp, ufunc, data, lengths[filled])
    return out


def _halving(xp: Any, ufunc: Any, data: Any, lengths: Any) -> Any:
    """Combine neighbours in each segment until one value is left: log2(longest) steps over whole arrays."""
    while int(lengths.max()) > 1:
        pointers = _arrays.pointers(lengths)
        rows = _arrays.rows_of(pointers)
        place = _arrays.position_in_row(pointers, rows)
        even = xp.flatnonzero(place % 2 == 0)
        paired = even[place[even] + 1 < lengths[rows[even]]]
        combined = data.copy()
        combined[paired] = ufunc(data[paired], data[paired + 1])
        data, lengths = combined[even], (lengths + 1) // 2
    return data
