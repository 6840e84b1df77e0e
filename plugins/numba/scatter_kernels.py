"""Transposed products of the formats that keep rows, without a transposed copy.

The first range of rows adds into y, every other only where its columns lie outside the windows of all others, from
their first to their last column: the rest goes into buffers that cover the columns it touches, which are added to y in
the order of the rows. So no two threads write to one place, and the result has the same bits on every run.
Layouts are those of `row_kernels`.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel
from .row_kernels import BLOCKED, JAGGED, ROWS, STRIDED, WIDTH
from .simd import get, put, vload, vmuladd, vstore

HALF = WIDTH // 2


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


@kernel
def block_window(indices, ptr, C, lo, hi):
    """First column and one past the last column that block rows lo to hi touch; (0, 0) if none."""
    first, last = np.int64(1 << 62), np.int64(-1)
    for p in range(get(ptr, lo), get(ptr, hi)):
        j = np.int64(get(indices, p))
        first = min(first, j)
        last = max(last, j)
    return (first * C, (last + 1) * C) if last >= 0 else (np.int64(0), np.int64(0))


@kernel
def prepare(y, k, beta, lo, hi):
    """Rows lo to hi of y times beta, or 0 where beta is 0."""
    if beta == 0:
        for i in range(lo * k, hi * k):
            put(y, i, 0)
    elif beta != 1:
        for i in range(lo * k, hi * k):
            put(y, i, beta * get(y, i))


@kernel
def opened(y, sums, starts, t, k, beta):
    """Where piece t adds: its part of ``sums``, here filled with zeros, or y.

    The launcher calls `prepare` for y before several pieces are run; for the only one it is done here.
    """
    if starts.size == 2:
        prepare(y, 1, beta, 0, y.size)
    if get(starts, t) == get(starts, t + 1):
        return y
    for i in range(get(starts, t) * k, get(starts, t + 1) * k):
        put(sums, i, 0)
    return sums


def make_scatter(layout: int, conj: bool):
    """The pieces lo to hi of y = alpha * op(A) @ x + beta * y, for k right-hand sides, into y or buffers."""

    @kernel
    def scatter(data, indices, ptr, rlen, perm, step, cuts, starts, shifts, x, y, sums, k, alpha, beta, lo, hi):
        a = y.dtype.type(alpha)
        for t in range(lo, hi):
            target, shift = opened(y, sums, starts, t, k, beta), get(shifts, t)
            for i in range(get(cuts, t), get(cuts, t + 1)):
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
                        q = np.int64(get(indices, p)) + shift
                        v = get(data, p)
                        put(target, q, get(target, q) + (np.conj(v) if conj else v) * xi)
                else:
                    for j in range(count):
                        p = get(ptr, j) + p0 if layout == JAGGED else p0 + j * stride
                        q = (np.int64(get(indices, p)) + shift) * k
                        v = get(data, p)
                        v = a * (np.conj(v) if conj else v)
                        c = 0
                        while c + WIDTH <= k:
                            acc = vload(target, q + c, WIDTH)
                            vstore(target, q + c, vmuladd(acc, v, vload(x, row * k + c, WIDTH)))
                            c += WIDTH
                        if c + HALF <= k:
                            acc = vload(target, q + c, HALF)
                            vstore(target, q + c, vmuladd(acc, v, vload(x, row * k + c, HALF)))
                            c += HALF
                        while c < k:
                            put(target, q + c, get(target, q + c) + v * get(x, row * k + c))
                            c += 1

    return scatter


@kernel
def combine(starts, firsts, lasts, sums, y, k, lo, hi):
    """Add the buffers to y's rows lo to hi, in their order; the one of piece t covers rows firsts[t] to lasts[t]."""
    for block in range(lo * k, hi * k, 1024):
        end = min(hi * k, block + 1024)
        for t in range(firsts.size):
            shift = (get(starts, t) - get(firsts, t)) * k
            for i in range(max(block, get(firsts, t) * k), min(end, get(lasts, t) * k)):
                put(y, i, get(y, i) + get(sums, shift + i))


WINDOW = {layout: make_window(layout) for layout in (ROWS, STRIDED, JAGGED, BLOCKED)}
SCATTER = {(layout, conj): make_scatter(layout, conj) for layout in WINDOW for conj in (False, True)}
