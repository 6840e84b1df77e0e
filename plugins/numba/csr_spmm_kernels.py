"""CSR times a matrix of k columns."""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .simd import get, put, vload, vmuladd, vupdate, vzero

WIDTH = 8


@kernel
def spmm(data, indices, ptr, rlen, perm, step, x, y, k, alpha, beta, lo, hi):
    """Rows lo to hi: a row's entries are read once per panel of 32 columns, later panels find them in the cache."""
    fresh = beta == 0
    for i in range(lo, hi):
        begin, end = get(ptr, i), get(ptr, i + 1)
        target = i * k
        c = 0
        while c + 4 * WIDTH <= k:
            s0 = vzero(y, WIDTH)
            s1 = vzero(y, WIDTH)
            s2 = vzero(y, WIDTH)
            s3 = vzero(y, WIDTH)
            for p in range(begin, end):
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
            for p in range(begin, end):
                s = vmuladd(s, get(data, p), vload(x, np.int64(get(indices, p)) * k + c, WIDTH))
            vupdate(y, target + c, s, alpha, beta, fresh)
            c += WIDTH
        if c + 4 <= k:
            t = vzero(y, 4)
            for p in range(begin, end):
                t = vmuladd(t, get(data, p), vload(x, np.int64(get(indices, p)) * k + c, 4))
            vupdate(y, target + c, t, alpha, beta, fresh)
            c += 4
        while c < k:
            u = y.dtype.type(0)
            for p in range(begin, end):
                u += get(data, p) * get(x, np.int64(get(indices, p)) * k + c)
            put(y, target + c, alpha * u if fresh else alpha * u + beta * get(y, target + c))
            c += 1
