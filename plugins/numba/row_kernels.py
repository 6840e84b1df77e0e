"""Products of the formats that keep rows: CSR, ELL, JAD and both layouts of PJAD.

They differ only in where entry j of row i is stored; `layout` (a constant to the compiler) says which rule holds:

=========  =======================================  ==========================
ROWS       ``ptr[i] + j``                           CSR
STRIDED    ``j*step + i``                           ELL (step = n)
JAGGED     ``ptr[j] + i``                           JAD, PJAD without sigma
BLOCKED    ``ptr[i // step] + j*step + i % step``   PJAD with sigma (step = bsize)
=========  =======================================  ==========================

All kernels take ``(data, indices, ptr, rlen, perm, step, ...)``; what a layout has no use for is an empty array.
Padding is never read.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .simd import get, put, vgather, vload, vmuladd, vstore, vsum, vupdate, vzero

ROWS, STRIDED, JAGGED, BLOCKED = range(4)
WIDTH = 8
BLOCK = 1024  # rows whose sums stay in the first-level cache
GROUP = 8  # columns read side by side: more streams at once defeat the prefetchers


@kernel
def csr_spmv(data, indices, ptr, rlen, perm, step, x, y, alpha, beta, lo, hi):
    """Rows lo to hi; long rows in eight partial sums."""
    fresh = beta == 0
    p = get(ptr, lo)
    for i in range(lo, hi):
        end = get(ptr, i + 1)
        s = y.dtype.type(0)
        if end - p >= 2 * WIDTH:
            acc = vzero(y, WIDTH)
            while p + WIDTH <= end:
                acc = vmuladd(acc, vload(data, p, WIDTH), vgather(x, indices, p, WIDTH))
                p += WIDTH
            s = vsum(acc)
        while p < end:
            s += get(data, p) * get(x, get(indices, p))
            p += 1
        put(y, i, alpha * s if fresh else alpha * s + beta * get(y, i))


def make_column_spmv(layout: int):
    """SIMD across rows: eight rows at a time over the columns all eight have, then each row's rest."""

    @kernel
    def column_spmv(data, indices, ptr, rlen, perm, step, x, y, alpha, beta, lo, hi):
        fresh = beta == 0
        block = step if layout == BLOCKED else BLOCK
        group = 1 << 62 if layout == BLOCKED else GROUP
        sums = np.empty(block, y.dtype)
        common = np.empty(block // WIDTH + 1, np.int64)
        for first in range(lo, hi, block):
            last = min(first + block, hi)
            origin = get(ptr, first // step) - first if layout == BLOCKED else 0
            chunks = (last - first) // WIDTH
            widest = 0
            for c in range(chunks):
                shortest = np.int64(get(rlen, first + c * WIDTH))
                for r in range(1, WIDTH):
                    shortest = min(shortest, np.int64(get(rlen, first + c * WIDTH + r)))
                put(common, c, shortest)
                widest = max(widest, shortest)
                vstore(sums, c * WIDTH, vzero(y, WIDTH))
            begin = 0
            while begin < widest:
                end = min(widest, begin + group)
                for c in range(chunks):
                    stop = min(end, get(common, c))
                    if stop > begin:
                        i = first + c * WIDTH
                        acc = vload(sums, c * WIDTH, WIDTH)
                        for j in range(begin, stop):
                            if layout == JAGGED:
                                p = get(ptr, j) + i
                            else:
                                p = origin + j * step + i
                            acc = vmuladd(acc, vload(data, p, WIDTH), vgather(x, indices, p, WIDTH))
                        vstore(sums, c * WIDTH, acc)
                begin = end
            for i in range(first, last):
                r = i - first
                begin = 0
                s = y.dtype.type(0)
                if r < chunks * WIDTH:
                    begin = get(common, r // WIDTH)
                    s = get(sums, r)
                for j in range(begin, np.int64(get(rlen, i))):
                    if layout == JAGGED:
                        p = get(ptr, j) + i
                    else:
                        p = origin + j * step + i
                    s += get(data, p) * get(x, get(indices, p))
                target = i if layout == STRIDED else np.int64(get(perm, i))
                put(y, target, alpha * s if fresh else alpha * s + beta * get(y, target))

    return column_spmv


def make_spmm(layout: int):
    """Rows lo to hi of the product with k columns: a row's entries are read once per panel of 32 columns."""

    @kernel
    def spmm(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi):
        fresh = beta == 0
        for i in range(lo, hi):
            stride = 1 if layout == ROWS else step
            if layout == ROWS:
                p0 = get(ptr, i)
                count = get(ptr, i + 1) - p0
            else:
                p0 = get(ptr, i // step) + i % step if layout == BLOCKED else i
                count = np.int64(get(rlen, i))
            target = (i if layout == ROWS or layout == STRIDED else np.int64(get(perm, i))) * k
            c = 0
            while c + 4 * WIDTH <= k:
                s0 = vzero(y, WIDTH)
                s1 = vzero(y, WIDTH)
                s2 = vzero(y, WIDTH)
                s3 = vzero(y, WIDTH)
                for j in range(count):
                    p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                    v = get(data, p)
                    q = np.int64(get(indices, p)) * k + c
                    s0 = vmuladd(s0, v, vload(x, q, WIDTH))
                    s1 = vmuladd(s1, v, vload(x, q + WIDTH, WIDTH))
                    s2 = vmuladd(s2, v, vload(x, q + 2 * WIDTH, WIDTH))
                    s3 = vmuladd(s3, v, vload(x, q + 3 * WIDTH, WIDTH))
                vupdate(y, target + c, s0, alpha, beta, fresh)
                vupdate(y, target + c + WIDTH, s1, alpha, beta, fresh)
                vupdate(y, target + c + 2 * WIDTH, s2, alpha, beta, fresh)
                vupdate(y, target + c + 3 * WIDTH, s3, alpha, beta, fresh)
                c += 4 * WIDTH
            while c + WIDTH <= k:
                s = vzero(y, WIDTH)
                for j in range(count):
                    p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                    s = vmuladd(s, get(data, p), vload(x, np.int64(get(indices, p)) * k + c, WIDTH))
                vupdate(y, target + c, s, alpha, beta, fresh)
                c += WIDTH
            if c + 4 <= k:
                t = vzero(y, 4)
                for j in range(count):
                    p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                    t = vmuladd(t, get(data, p), vload(x, np.int64(get(indices, p)) * k + c, 4))
                vupdate(y, target + c, t, alpha, beta, fresh)
                c += 4
            while c < k:
                u = y.dtype.type(0)
                for j in range(count):
                    p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                    u += get(data, p) * get(x, np.int64(get(indices, p)) * k + c)
                put(y, target + c, alpha * u if fresh else alpha * u + beta * get(y, target + c))
                c += 1

    return spmm


SPMV = {ROWS: csr_spmv, **{layout: make_column_spmv(layout) for layout in (STRIDED, JAGGED, BLOCKED)}}
SPMM = {layout: make_spmm(layout) for layout in (ROWS, STRIDED, JAGGED, BLOCKED)}
