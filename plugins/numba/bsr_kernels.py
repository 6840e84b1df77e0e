"""Kernels of BSR that run for any block size."""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .scatter_kernels import opened
from .simd import get, put, vload, vmuladd, vstore, vsum, vzero

WIDTH = 8


@kernel
def spmv(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi):
    """Block rows lo to hi: four rows of the blocks at a time, SIMD along them."""
    fresh = beta == 0
    wide = C // WIDTH * WIDTH
    for i in range(lo, hi):
        begin, end = get(ptr, i), get(ptr, i + 1)
        r = 0
        while r + 4 <= R:
            a0 = vzero(y, WIDTH)
            a1 = vzero(y, WIDTH)
            a2 = vzero(y, WIDTH)
            a3 = vzero(y, WIDTH)
            s0 = s1 = s2 = s3 = y.dtype.type(0)
            for p in range(begin, end):
                j = np.int64(get(indices, p)) * C
                q = (p * R + r) * C
                for c in range(0, wide, WIDTH):
                    xc = vload(x, j + c, WIDTH)
                    a0 = vmuladd(a0, vload(data, q + c, WIDTH), xc)
                    a1 = vmuladd(a1, vload(data, q + C + c, WIDTH), xc)
                    a2 = vmuladd(a2, vload(data, q + 2 * C + c, WIDTH), xc)
                    a3 = vmuladd(a3, vload(data, q + 3 * C + c, WIDTH), xc)
                for c in range(wide, C):
                    xs = get(x, j + c)
                    s0 += get(data, q + c) * xs
                    s1 += get(data, q + C + c) * xs
                    s2 += get(data, q + 2 * C + c) * xs
                    s3 += get(data, q + 3 * C + c) * xs
            t = i * R + r
            s0, s1, s2, s3 = s0 + vsum(a0), s1 + vsum(a1), s2 + vsum(a2), s3 + vsum(a3)
            put(y, t, alpha * s0 if fresh else alpha * s0 + beta * get(y, t))
            put(y, t + 1, alpha * s1 if fresh else alpha * s1 + beta * get(y, t + 1))
            put(y, t + 2, alpha * s2 if fresh else alpha * s2 + beta * get(y, t + 2))
            put(y, t + 3, alpha * s3 if fresh else alpha * s3 + beta * get(y, t + 3))
            r += 4
        while r < R:
            a = vzero(y, WIDTH)
            s = y.dtype.type(0)
            for p in range(begin, end):
                j = np.int64(get(indices, p)) * C
                q = (p * R + r) * C
                for c in range(0, wide, WIDTH):
                    a = vmuladd(a, vload(data, q + c, WIDTH), vload(x, j + c, WIDTH))
                for c in range(wide, C):
                    s += get(data, q + c) * get(x, j + c)
            s += vsum(a)
            t = i * R + r
            put(y, t, alpha * s if fresh else alpha * s + beta * get(y, t))
            r += 1


@kernel
def window(indices, ptr, C, lo, hi):
    """First column and one past the last column that block rows lo to hi touch; (0, 0) if none."""
    first, last = np.int64(1 << 62), np.int64(-1)
    for p in range(get(ptr, lo), get(ptr, hi)):
        j = np.int64(get(indices, p))
        first = min(first, j)
        last = max(last, j)
    return (first * C, (last + 1) * C) if last >= 0 else (np.int64(0), np.int64(0))


def make_scatter(conj: bool):
    """Ranges of a transposed product with k right-hand sides, see `spformats_plugins.numba.scatter`."""

    @kernel
    def scatter(data, indices, ptr, R, C, cuts, starts, shifts, x, y, sums, k, alpha, beta, lo, hi):
        a = y.dtype.type(alpha)
        for t in range(lo, hi):
            target, shift = opened(y, sums, starts, t, k, beta), get(shifts, t)
            for i in range(get(cuts, t), get(cuts, t + 1)):
                for p in range(get(ptr, i), get(ptr, i + 1)):
                    j = np.int64(get(indices, p)) * C + shift
                    for b in range(C):
                        to = (j + b) * k
                        c = 0
                        while c + WIDTH <= k:
                            acc = vload(target, to + c, WIDTH)
                            for r in range(R):
                                v = get(data, (p * R + r) * C + b)
                                acc = vmuladd(
                                    acc, a * (np.conj(v) if conj else v), vload(x, (i * R + r) * k + c, WIDTH)
                                )
                            vstore(target, to + c, acc)
                            c += WIDTH
                        while c < k:
                            s = get(target, to + c)
                            for r in range(R):
                                v = get(data, (p * R + r) * C + b)
                                s += a * (np.conj(v) if conj else v) * get(x, (i * R + r) * k + c)
                            put(target, to + c, s)
                            c += 1

    return scatter


scatter, scatter_conj = make_scatter(False), make_scatter(True)
