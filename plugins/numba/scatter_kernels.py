"""Transposed products of the formats that keep rows, without a transposed copy.

The first range of rows adds into y, every other into a buffer of its own that covers the columns the range touches; the
buffers are added to y in the order of the ranges. So no two threads write to one place, and the result has the same
bits on every run.
Layouts are those of `row_kernels`.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .row_kernels import BLOCKED, JAGGED, ROWS, STRIDED, WIDTH
from .simd import get, put, vload, vmuladd, vstore


def make_window(layout: int):
    """First column and one past the last column that rows lo to hi touch; (0, 0) if none."""

    @kernel
    def window(indices, ptr, rlen, step, lo, hi):
        first, last = np.int64(1 << 62), np.int64(-1)
        for i in range(lo, hi):
            if layout == ROWS:
                p0, count, stride = get(ptr, i), get(ptr, i + 1) - get(ptr, i), 1
            else:
                p0 = get(ptr, i // step) + i % step if layout == BLOCKED else i
                count, stride = np.int64(get(rlen, i)), step
            for j in range(count):
                p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                column = np.int64(get(indices, p))
                first = min(first, column)
                last = max(last, column)
        return (first, last + 1) if last >= 0 else (np.int64(0), np.int64(0))

    return window


def make_scatter(layout: int, conj: bool):
    """sums += alpha * op(rows lo to hi) @ x, for k right-hand sides; ``sums`` starts at column ``first``."""

    @kernel
    def scatter(data, indices, ptr, rlen, perm, step, x, sums, first, k, alpha, lo, hi):
        a = sums.dtype.type(alpha)
        for i in range(lo, hi):
            if layout == ROWS:
                p0, count, stride = get(ptr, i), get(ptr, i + 1) - get(ptr, i), 1
            else:
                p0 = get(ptr, i // step) + i % step if layout == BLOCKED else i
                count, stride = np.int64(get(rlen, i)), step
            row = i if layout == ROWS or layout == STRIDED else np.int64(get(perm, i))
            if k == 1:
                xi = a * get(x, row)
                for j in range(count):
                    p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                    q = np.int64(get(indices, p)) - first
                    v = get(data, p)
                    put(sums, q, get(sums, q) + (np.conj(v) if conj else v) * xi)
            else:
                for j in range(count):
                    p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                    q = (np.int64(get(indices, p)) - first) * k
                    v = get(data, p)
                    v = a * (np.conj(v) if conj else v)
                    c = 0
                    while c + WIDTH <= k:
                        acc = vload(sums, q + c, WIDTH)
                        vstore(sums, q + c, vmuladd(acc, v, vload(x, row * k + c, WIDTH)))
                        c += WIDTH
                    while c < k:
                        put(sums, q + c, get(sums, q + c) + v * get(x, row * k + c))
                        c += 1

    return scatter


@kernel
def prepare(y, beta, lo, hi):
    """y[lo:hi] *= beta, or 0 where beta is 0."""
    if beta == 0:
        for i in range(lo, hi):
            put(y, i, 0)
    elif beta != 1:
        for i in range(lo, hi):
            put(y, i, beta * get(y, i))


@kernel
def combine(sums, starts, firsts, lasts, y, lo, hi):
    """Add the buffers to y[lo:hi], in their order; buffer r covers y[firsts[r]:lasts[r]]."""
    for block in range(lo, hi, 1024):
        end = min(hi, block + 1024)
        for r in range(firsts.size):
            shift = get(starts, r) - get(firsts, r)
            for i in range(max(block, get(firsts, r)), min(end, get(lasts, r))):
                put(y, i, get(y, i) + get(sums, shift + i))


WINDOW = {layout: make_window(layout) for layout in (ROWS, STRIDED, JAGGED, BLOCKED)}
SCATTER = {(layout, conj): make_scatter(layout, conj) for layout in WINDOW for conj in (False, True)}
