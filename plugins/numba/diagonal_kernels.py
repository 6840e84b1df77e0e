"""Products with matrices kept by diagonals: CDS, HM, CDM and their transposes, through one table of diagonals.

Entry (i, i + offsets[k]) is ``flat[base[k] + i]``. Rows are taken in blocks; inside a block, all diagonals that cover
it are summed in registers before y is touched, which is what reaches the memory limit: a loop per diagonal would
read and write y once each. Diagonals that begin or end inside the block follow one by one, clipped.
"""

from __future__ import annotations

import functools

import numpy as np

from .jit import kernel
from .simd import fence, get, prefetch, prefetch_once, put, vconj, vload, vmuladd, vscale, vstream, vupdate, vzero

BLOCK = 8192  # rows: long runs for the prefetchers, and y's part stays in the second-level cache
EDGE = 1024  # rows where diagonals begin or end: those that do go one by one
SIDE_BY_SIDE = 8, 5  # diagonals, from a cache and from memory: more streams at once defeat the prefetchers
MEMORY = 1 << 25  # bytes of a product from which it comes from memory
FAR = 2048  # bytes from a load to the prefetch for a later one, for products larger than the second-level cache
STREAMED = 1 << 23  # bytes of a y that would not stay in a cache: it is written past it, which saves reading it first
LINE = 64
WIDTH = 8
STEP = 4 * WIDTH


@functools.cache
def spmv(conj: bool, far: int, most: int):
    """y[lo:hi] of one product; ``conj`` conjugates the matrix, ``far`` is the prefetch distance in bytes, 0 for none.

    ``most`` diagonals are summed side by side, or all of up to eight where the result is written past the caches.
    ``const`` holds the value of each diagonal that is constant and has no stored values to read.
    """
    large = STREAMED  # as a variable of this function it is part of the kernel's name on disk

    @kernel
    def diagonal_spmv(flat, base, offsets, const, const_offsets, cols, x, y, alpha, beta, lo, hi):
        stored, fixed = offsets.size, const_offsets.size
        at = np.empty(stored, np.int64)  # of the diagonals that cover the block: start in flat
        shift = np.empty(stored, np.int64)  # and in x
        const_at = np.empty(fixed, np.int64)
        fresh = beta == 0
        per_line = LINE // y.itemsize
        behind_line = y.ctypes.data // y.itemsize  # whole lines begin where this plus the row is a multiple of per_line
        # NumPy takes a complex y for aligned where its parts are
        aside = far and fresh and y.nbytes >= large and y.ctypes.data % y.itemsize == 0
        one = beta**0  # of beta's type, also for inf
        ahead = far // flat.itemsize
        inner, outer = np.int64(0), cols  # between them, rows are inside every diagonal
        for k in range(stored):
            inner, outer = max(inner, -get(offsets, k)), min(outer, cols - get(offsets, k))
        for k in range(fixed):
            inner, outer = max(inner, -get(const_offsets, k)), min(outer, cols - get(const_offsets, k))
        last = lo
        while last < hi:
            first = last
            if first < inner:
                last = min(first + EDGE, hi, inner)
            elif first < outer:
                last = min(first + BLOCK, hi, outer)
            else:
                last = min(first + EDGE, hi)
            if aside and (behind_line + first) % per_line:
                last = min(first + per_line - (behind_line + first) % per_line, hi)
            full = 0
            for k in range(stored):
                if get(offsets, k) >= -first and last <= cols - get(offsets, k):
                    put(at, full, get(base, k))
                    put(shift, full, get(offsets, k))
                    full += 1
            const_full = 0
            for k in range(fixed):
                if get(const_offsets, k) >= -first and last <= cols - get(const_offsets, k):
                    put(const_at, const_full, k)
                    const_full += 1
            passes = max(1, (full + most - 1) // most)
            stream = aside and full <= SIDE_BY_SIDE[0] and full == stored and const_full == fixed
            if stream:
                passes = 1
            done = const_done = 0
            b = beta
            keep = fresh
            while True:
                stop = done + (full - done + passes - 1) // passes
                passes -= 1
                const_stop = const_full if stop == full else const_done
                i = first
                while i + STEP <= last:
                    if far and done == 0:
                        prefetch(x, cols - outer + i + ahead, STEP)  # where the last diagonal reads
                        if not stream:
                            prefetch(y, i + ahead, STEP)
                    s0 = vzero(y, WIDTH)
                    s1 = vzero(y, WIDTH)
                    s2 = vzero(y, WIDTH)
                    s3 = vzero(y, WIDTH)
                    for k in range(done, stop):
                        a = get(at, k) + i
                        j = get(shift, k) + i
                        if far:
                            prefetch_once(flat, a + ahead, STEP)
                        a0 = vload(flat, a, WIDTH)
                        a1 = vload(flat, a + WIDTH, WIDTH)
                        a2 = vload(flat, a + 2 * WIDTH, WIDTH)
                        a3 = vload(flat, a + 3 * WIDTH, WIDTH)
                        if conj:
                            a0, a1, a2, a3 = vconj(a0), vconj(a1), vconj(a2), vconj(a3)
                        s0 = vmuladd(s0, a0, vload(x, j, WIDTH))
                        s1 = vmuladd(s1, a1, vload(x, j + WIDTH, WIDTH))
                        s2 = vmuladd(s2, a2, vload(x, j + 2 * WIDTH, WIDTH))
                        s3 = vmuladd(s3, a3, vload(x, j + 3 * WIDTH, WIDTH))
                    for k in range(const_done, const_stop):
                        c = get(const, get(const_at, k))
                        j = get(const_offsets, get(const_at, k)) + i
                        s0 = vmuladd(s0, c, vload(x, j, WIDTH))
                        s1 = vmuladd(s1, c, vload(x, j + WIDTH, WIDTH))
                        s2 = vmuladd(s2, c, vload(x, j + 2 * WIDTH, WIDTH))
                        s3 = vmuladd(s3, c, vload(x, j + 3 * WIDTH, WIDTH))
                    if stream:
                        vstream(y, i, vscale(alpha, s0))
                        vstream(y, i + WIDTH, vscale(alpha, s1))
                        vstream(y, i + 2 * WIDTH, vscale(alpha, s2))
                        vstream(y, i + 3 * WIDTH, vscale(alpha, s3))
                    else:
                        vupdate(y, i, s0, alpha, b, keep)
                        vupdate(y, i + WIDTH, s1, alpha, b, keep)
                        vupdate(y, i + 2 * WIDTH, s2, alpha, b, keep)
                        vupdate(y, i + 3 * WIDTH, s3, alpha, b, keep)
                    i += STEP
                while i < last:
                    s = y.dtype.type(0)
                    for k in range(done, stop):
                        v = get(flat, get(at, k) + i)
                        s += (np.conj(v) if conj else v) * get(x, get(shift, k) + i)
                    for k in range(const_done, const_stop):
                        s += get(const, get(const_at, k)) * get(x, get(const_offsets, get(const_at, k)) + i)
                    put(y, i, alpha * s if keep else alpha * s + b * get(y, i))
                    i += 1
                b = one
                keep = False
                done = stop
                if done == full:
                    break
            if full < stored:
                for k in range(stored):
                    offset = get(offsets, k)
                    if offset < -first or last > cols - offset:
                        for i in range(max(first, -offset), min(last, cols - offset)):
                            v = get(flat, get(base, k) + i)
                            put(y, i, get(y, i) + alpha * ((np.conj(v) if conj else v) * get(x, i + offset)))
            if const_full < fixed:
                for k in range(fixed):
                    offset = get(const_offsets, k)
                    if offset < -first or last > cols - offset:
                        for i in range(max(first, -offset), min(last, cols - offset)):
                            put(y, i, get(y, i) + alpha * (get(const, k) * get(x, i + offset)))
        if aside:
            fence()

    return diagonal_spmv
