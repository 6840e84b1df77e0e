"""CSR times a vector."""

from __future__ import annotations

from functools import cache

import numpy as np

from .jit import kernel
from .registers import works_by_halves
from .simd import get, prefetch, put, vadd, vgather, vgreater, vload, vmuladd, vselect, vsum, vzero

WIDTH = 8
#: Mean row length from which rows are summed by vectors of this width to their end. Where rows are shorter still, only
#: long ones are, and what is left goes entry by entry.
WIDTHS = ((12, 8), (4, 4), (0, 0))
#: The width of doubles that fill half of a register of this many bytes.
HALF, REGISTER = 4, 64
#: What is left of a row, r entries, fills the places of a vector where ``width - r`` is less than these numbers.
_PLACES = {width: np.arange(width, 0, -1) for _, width in WIDTHS}


def width_for(rows: int, entries: int, itemsize: int) -> int:
    """The `spmv` width for a matrix of this many rows and entries.

    Where the CPU works by halves, the last vector of a row is half as wide: less is gathered in vain.
    """
    width = next(width for mean, width in WIDTHS if entries >= mean * rows)
    return min(width, HALF) if width * itemsize > REGISTER // 2 and works_by_halves() else width


@cache
def spmv(width: int, far: int):
    """Rows lo to hi. ``far`` is the prefetch distance in bytes, 0 for none.

    The rest of a row is a vector like the others, of whose products only those of the row are added: a loop over what
    is left would end in a mispredicted jump for every row. With ``width`` 0 it is that loop, for rows so short that it
    is all there is.
    """
    step = width or WIDTH
    places = _PLACES[width]

    @kernel
    def csr_spmv(data, indices, ptr, x, y, alpha, beta, lo, hi):
        fresh = beta == 0
        ahead = far // data.itemsize
        entries = get(ptr, ptr.size - 1)
        p = get(ptr, lo)
        for i in range(lo, hi):
            end = get(ptr, i + 1)
            s = y.dtype.type(0)
            if far:
                prefetch(data, p + ahead, step)
                prefetch(indices, p + ahead, step)
            if width or end - p >= 2 * step:
                acc = vzero(y, step)
                while p + step <= end:
                    acc = vmuladd(acc, vload(data, p, step), vgather(x, indices, p, step))
                    p += step
                    if far:
                        prefetch(data, p + ahead, step)
                        prefetch(indices, p + ahead, step)
                if width and p < end and p + step <= entries:
                    rest = vmuladd(vzero(y, step), vload(data, p, step), vgather(x, indices, p, step))
                    acc = vadd(acc, vselect(vgreater(vload(places, 0, step), step - (end - p)), rest))
                    p = end
                s = vsum(acc)
            while p < end:
                s += get(data, p) * get(x, get(indices, p))
                p += 1
            put(y, i, alpha * s if fresh else alpha * s + beta * get(y, i))

    return csr_spmv
