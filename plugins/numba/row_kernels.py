"""Products of the formats that keep rows: CSR, ELL, JAD and both layouts of PJAD.

They differ only in where entry j of row i is stored; `layout` (a constant to the compiler) says which rule holds:

=========  =======================================  ==========================
ROWS       ``ptr[i] + j``                           CSR
STRIDED    ``j*step + i``                           ELL (step = n)
JAGGED     ``ptr[j] + i``                           JAD, PJAD without sigma
BLOCKED    ``ptr[i // step] + j*step + i % step``   PJAD with sigma (step = bsize)
=========  =======================================  ==========================

ROWS times a vector is in `csr_kernels`, BLOCKED in `blocked_source`. All kernels take
``(data, indices, ptr, rlen, perm, step, ...)``; what a layout has no use for is an empty array.
Padding never shows in a result.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .simd import (
    get,
    prefetch,
    put,
    vgather,
    vgreater,
    vload,
    vmuladd,
    vselect,
    vstore,
    vzero,
)

ROWS, STRIDED, JAGGED, BLOCKED = range(4)
WIDTH = 8
STRIP = 4 * WIDTH
AHEAD = 1024  # bytes from a load to the prefetch for a later one: the hardware notices short streams too late
BLOCK = 4096  # rows whose sums stay in the first-level cache
GROUP = 8  # columns read side by side: more streams at once defeat the prefetchers


def make_clean(layout: int):
    """Whether padding is zeros with index 0. With ``mend``, make it so."""

    @kernel
    def clean(data, indices, ptr, rlen, step, width, mend):
        good = True
        for i in range(rlen.size):
            origin = i
            if layout == BLOCKED:
                b = i // step
                origin = get(ptr, b) + i % step
                width = (get(ptr, b + 1) - get(ptr, b)) // step
            for j in range(np.int64(get(rlen, i)), width):
                p = origin + j * step
                if get(indices, p) != 0 or get(data, p) != 0:
                    good = False
                    if mend:
                        put(indices, p, 0)
                        put(data, p, 0)
        return good

    return clean


@kernel
def extremes(rlen, i, rows):
    """Shortest and longest of the rows from i on."""
    shortest = longest = np.int64(get(rlen, i))
    for r in range(1, rows):
        length = np.int64(get(rlen, i + r))
        shortest, longest = min(shortest, length), max(longest, length)
    return shortest, longest


def make_column_spmv(layout: int):
    """ELL, JAD, PJAD without sigma: groups of columns over a block of rows whose sums stay in the cache.

    The padding of ELL must be `clean`: it meets a zero instead of x. The other two layouts have none here.
    """

    @kernel
    def column_spmv(data, indices, ptr, rlen, perm, step, x, y, alpha, beta, lo, hi):
        fresh = beta == 0
        ahead = AHEAD // data.itemsize
        sums = np.empty(BLOCK, y.dtype)
        shortest = np.empty(BLOCK // STRIP, np.int64)
        longest = np.empty(BLOCK // STRIP, np.int64)
        for first in range(lo, hi, BLOCK):
            last = min(first + BLOCK, hi)
            strips = (last - first) // STRIP
            widest = 0
            for c in range(strips):
                low, high = extremes(rlen, first + c * STRIP, STRIP)
                put(shortest, c, low)
                put(longest, c, high)
                widest = max(widest, high)
                for r in range(c * STRIP, (c + 1) * STRIP, WIDTH):
                    vstore(sums, r, vzero(y, WIDTH))
            begin = 0
            while begin < widest:
                end = min(widest, begin + GROUP)
                for c in range(strips):
                    stop = min(end, get(longest, c))
                    if stop <= begin:
                        continue
                    i = first + c * STRIP
                    r = c * STRIP
                    s0 = vload(sums, r, WIDTH)
                    s1 = vload(sums, r + WIDTH, WIDTH)
                    s2 = vload(sums, r + 2 * WIDTH, WIDTH)
                    s3 = vload(sums, r + 3 * WIDTH, WIDTH)
                    full = max(begin, min(stop, get(shortest, c)))
                    for j in range(begin, full):
                        p = (get(ptr, j) if layout == JAGGED else j * step) + i
                        prefetch(data, p + ahead, STRIP)
                        prefetch(indices, p + ahead, STRIP)
                        s0 = vmuladd(s0, vload(data, p, WIDTH), vgather(x, indices, p, WIDTH))
                        p += WIDTH
                        s1 = vmuladd(s1, vload(data, p, WIDTH), vgather(x, indices, p, WIDTH))
                        p += WIDTH
                        s2 = vmuladd(s2, vload(data, p, WIDTH), vgather(x, indices, p, WIDTH))
                        p += WIDTH
                        s3 = vmuladd(s3, vload(data, p, WIDTH), vgather(x, indices, p, WIDTH))
                    if layout == STRIDED:
                        for j in range(full, stop):
                            p = j * step + i
                            prefetch(data, p + ahead, STRIP)
                            prefetch(indices, p + ahead, STRIP)
                            lengths = vload(rlen, i, WIDTH)
                            xs = vselect(vgreater(lengths, j), vgather(x, indices, p, WIDTH))
                            s0 = vmuladd(s0, vload(data, p, WIDTH), xs)
                            p += WIDTH
                            lengths = vload(rlen, i + WIDTH, WIDTH)
                            xs = vselect(vgreater(lengths, j), vgather(x, indices, p, WIDTH))
                            s1 = vmuladd(s1, vload(data, p, WIDTH), xs)
                            p += WIDTH
                            lengths = vload(rlen, i + 2 * WIDTH, WIDTH)
                            xs = vselect(vgreater(lengths, j), vgather(x, indices, p, WIDTH))
                            s2 = vmuladd(s2, vload(data, p, WIDTH), xs)
                            p += WIDTH
                            lengths = vload(rlen, i + 3 * WIDTH, WIDTH)
                            xs = vselect(vgreater(lengths, j), vgather(x, indices, p, WIDTH))
                            s3 = vmuladd(s3, vload(data, p, WIDTH), xs)
                    vstore(sums, r, s0)
                    vstore(sums, r + WIDTH, s1)
                    vstore(sums, r + 2 * WIDTH, s2)
                    vstore(sums, r + 3 * WIDTH, s3)
                begin = end
            for i in range(first, last):
                c = (i - first) // STRIP
                s = y.dtype.type(0)
                done = 0
                if c < strips:
                    s = get(sums, i - first)
                    done = get(longest if layout == STRIDED else shortest, c)
                for j in range(done, np.int64(get(rlen, i))):
                    p = (get(ptr, j) if layout == JAGGED else j * step) + i
                    s += get(data, p) * get(x, get(indices, p))
                target = i if layout == STRIDED else np.int64(get(perm, i))
                put(y, target, alpha * s if fresh else alpha * s + beta * get(y, target))

    return column_spmv


SPMV = {STRIDED: make_column_spmv(STRIDED), JAGGED: make_column_spmv(JAGGED)}
CLEAN = {layout: make_clean(layout) for layout in (STRIDED, BLOCKED)}
