"""Kernels of BSR that run for any block size."""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .scatter_kernels import opened
from .simd import get, put, vload, vmuladd, vstore

WIDTH = 8


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
