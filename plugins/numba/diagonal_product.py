"""Products of diagonal matrices on the CPU.

Rows are taken in blocks, and inside a block the result's diagonals one after the other. A piece of a result diagonal
is summed in registers over all pairs of diagonals that meet in it, and written once: the result, the largest of the
three matrices, crosses the memory bus once. Pairs that begin or end inside the block follow, clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats import dispatch

from . import pool
from .jit import kernel
from .launch import scalar_type
from .operands import readable
from .simd import get, put, vadd, vconj, vload, vmuladd, vscale, vstore, vzero

BLOCK = 1024
WIDTH = 8
STEP = 4 * WIDTH
#: Multiplications below which a second thread does not pay.
SERIAL = 1 << 18
#: Ranges a thread gets, so that one which was held up can be helped.
RANGES = 4


def make_product(conj_a: bool, conj_b: bool) -> Callable[..., None]:
    """Rows [lo, hi) of ``out <- alpha * A @ B + beta * out``; the flags conjugate an operand."""

    @kernel
    def diagonal_product(
        a, a_base, a_offsets, b, b_base, offsets, ptr, left, right, inner, cols, out, out_base, alpha, beta, lo, hi
    ):
        most = 0
        for c in range(offsets.size):
            most = max(most, ptr[c + 1] - ptr[c])
        a_at = np.empty(most, np.int64)  # of the pairs that cover the block: start in a
        b_at = np.empty(most, np.int64)  # and in b
        fresh = beta == 0
        for block in range(lo, hi, BLOCK):
            for c in range(offsets.size):
                first = max(block, -get(offsets, c))
                last = min(min(block + BLOCK, hi), cols - get(offsets, c))
                if first >= last:
                    continue
                start, stop = get(ptr, c), get(ptr, c + 1)
                full = 0
                for t in range(start, stop):
                    p = np.int64(get(left, t))
                    shift = get(a_offsets, p)
                    if -shift <= first and last <= inner - shift:
                        put(a_at, full, get(a_base, p))
                        put(b_at, full, get(b_base, np.int64(get(right, t))) + shift)
                        full += 1
                at = get(out_base, c)
                i = first
                while i + STEP <= last:
                    s0, s1, s2, s3 = vzero(out, WIDTH), vzero(out, WIDTH), vzero(out, WIDTH), vzero(out, WIDTH)
                    for k in range(full):
                        u = get(a_at, k) + i
                        v = get(b_at, k) + i
                        a0, b0 = vload(a, u, WIDTH), vload(b, v, WIDTH)
                        a1, b1 = vload(a, u + WIDTH, WIDTH), vload(b, v + WIDTH, WIDTH)
                        a2, b2 = vload(a, u + 2 * WIDTH, WIDTH), vload(b, v + 2 * WIDTH, WIDTH)
                        a3, b3 = vload(a, u + 3 * WIDTH, WIDTH), vload(b, v + 3 * WIDTH, WIDTH)
                        if conj_a:
                            a0, a1, a2, a3 = vconj(a0), vconj(a1), vconj(a2), vconj(a3)
                        if conj_b:
                            b0, b1, b2, b3 = vconj(b0), vconj(b1), vconj(b2), vconj(b3)
                        s0, s1 = vmuladd(s0, a0, b0), vmuladd(s1, a1, b1)
                        s2, s3 = vmuladd(s2, a2, b2), vmuladd(s3, a3, b3)
                    s0, s1, s2, s3 = vscale(alpha, s0), vscale(alpha, s1), vscale(alpha, s2), vscale(alpha, s3)
                    w = at + i
                    if not fresh:
                        s0 = vadd(s0, vscale(beta, vload(out, w, WIDTH)))
                        s1 = vadd(s1, vscale(beta, vload(out, w + WIDTH, WIDTH)))
                        s2 = vadd(s2, vscale(beta, vload(out, w + 2 * WIDTH, WIDTH)))
                        s3 = vadd(s3, vscale(beta, vload(out, w + 3 * WIDTH, WIDTH)))
                    vstore(out, w, s0)
                    vstore(out, w + WIDTH, s1)
                    vstore(out, w + 2 * WIDTH, s2)
                    vstore(out, w + 3 * WIDTH, s3)
                    i += STEP
                while i < last:
                    s = out.dtype.type(0)
                    for k in range(full):
                        x, y = get(a, get(a_at, k) + i), get(b, get(b_at, k) + i)
                        s += (np.conj(x) if conj_a else x) * (np.conj(y) if conj_b else y)
                    put(out, at + i, alpha * s if fresh else alpha * s + beta * get(out, at + i))
                    i += 1
                if full == stop - start:
                    continue
                for t in range(start, stop):
                    p = np.int64(get(left, t))
                    shift = get(a_offsets, p)
                    if -shift <= first and last <= inner - shift:
                        continue
                    u, v = get(a_base, p), get(b_base, np.int64(get(right, t))) + shift
                    for i in range(max(first, -shift), min(last, inner - shift)):
                        x, y = get(a, u + i), get(b, v + i)
                        x, y = np.conj(x) if conj_a else x, np.conj(y) if conj_b else y
                        put(out, at + i, get(out, at + i) + alpha * (x * y))

    return diagonal_product


KERNELS = {(ca, cb): make_product(ca, cb) for ca in (False, True) for cb in (False, True)}


@dispatch.register("diagmm", ("cds", "hm", "cdm"), "numpy", name="numba", priority=10)
def product(A: Any, pairs: Any, left: Any, right: Any, out: Any, alpha: complex, beta: complex) -> np.ndarray:
    """``alpha * A @ B + beta * C`` over a table of pairs, see `spformats.linalg.diagonal_run`."""
    flat = out.flat
    if flat is None:
        flat = (np.zeros if out.padded else np.empty)(out.size, dtype=out.dtype)
    rows, inner, cols = pairs.shape
    scalar = scalar_type(out.dtype)
    run = KERNELS[left.conj, right.conj]
    arrays = (
        *(
            readable(left.flat),
            readable(left.base),
            readable(pairs.a_offsets),
            readable(right.flat),
            readable(right.base),
        ),
        *(pairs.offsets, pairs.ptr, pairs.left, pairs.right, inner, cols),
        *(flat, readable(out.base), scalar(alpha), scalar(beta)),
    )
    small = (len(pairs.left) + len(pairs.offsets)) * rows < SERIAL
    threads = 1 if small else pool.thread_count()
    if threads == 1:
        run(*arrays, 0, rows)
    else:
        parts = min(RANGES * threads, -(-rows // STEP))
        cuts = np.linspace(0, -(-rows // STEP), parts + 1).astype(np.int64) * STEP
        cuts[-1] = rows
        ranges = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        pool.run(lambda lo, hi: run(*arrays, lo, hi), ranges, threads)
    return flat
