"""The product of two diagonal matrices, written out for a number of vectors that the CPU's registers hold.

Rows are taken in blocks, and inside a block the result's diagonals four at a time. Where the rows are inside all
diagonals that meet, a piece of four result diagonals is summed in registers: pairs of diagonals that share A's
diagonal load it once for the four (`diagonal_groups`), the other pairs follow, and the piece is written once. So the
result, the largest of the three matrices, crosses the memory bus once. Rows at the ends, where diagonals begin or
stop, go one result diagonal at a time through the pairs that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .diagonal_groups import GROUP
from .generated import define
from .jit import kernel
from .simd import get, put, vadd, vconj, vload, vmuladd, vscale, vstore, vzero

WIDTH = 8
BLOCK = 2048
STEP = 4 * WIDTH


@cache
def product(vectors: int, conj_a: bool, conj_b: bool) -> Callable[..., Any]:
    """Rows [lo, hi) of ``out <- alpha * A @ B + beta * out``; the flags conjugate an operand.

    The kernel takes each pair's place ``at_a, at_b`` in the operands and A's offset ``shift``, ``ptr``, ``offsets``,
    ``inner``, ``cols``, the groups of `diagonal_groups`, the operands, and the output. ``vectors`` is how many vectors
    of each of four result diagonals are summed at once.
    """
    rows = vectors * WIDTH
    name = f"diagonal_product_{vectors}" + "_conj_a" * conj_a + "_conj_b" * conj_b
    sums = [[f"s{d}_{v}" for v in range(vectors)] for d in range(GROUP)]
    many = [
        *(f"{s} = vzero(out, {WIDTH})" for row in sums for s in row),
        "for k in range(get(shared_ptr, g), get(shared_ptr, g + 1)):",
        "    u = get(shared_a, k) + i",
        *(f"    p{v} = {_load('a', 'u', v, conj_a)}" for v in range(vectors)),
    ]
    for d in range(GROUP):
        many.append(f"    w = get(shared_b, {GROUP} * k + {d}) + i")
        many += [f"    {s} = vmuladd({s}, p{v}, {_load('b', 'w', v, conj_b)})" for v, s in enumerate(sums[d])]
    for d, row in enumerate(sums):
        many += [
            f"for k in range(get(rest_ptr, c + {d}), get(rest_ptr, c + {d} + 1)):",
            "    u, w = get(rest_a, k) + i, get(rest_b, k) + i",
            *(
                f"    {s} = vmuladd({s}, {_load('a', 'u', v, conj_a)}, {_load('b', 'w', v, conj_b)})"
                for v, s in enumerate(row)
            ),
            f"w = get(out_base, c + {d}) + i",
        ]
        for v, s in enumerate(row):
            many += [
                f"{s} = vscale(alpha, {s})",
                "if not fresh:",
                f"    {s} = vadd({s}, vscale(beta, vload(out, w + {v * WIDTH}, {WIDTH})))",
                f"vstore(out, w + {v * WIDTH}, {s})",
            ]
    lines = [
        f"def {name}(at_a, at_b, shift, ptr, offsets, inner, cols, shared_a, shared_b, shared_ptr, rest_a, rest_b,",
        "        rest_ptr, first_row, last_row, a, b, out, out_base, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        "    most = 0",
        "    for c in range(offsets.size):",
        "        most = max(most, get(ptr, c + 1) - get(ptr, c))",
        "    near_a, near_b = np.empty(most, np.int64), np.empty(most, np.int64)",
        f"    for block in range(lo, hi, {BLOCK}):",
        f"        end = min(block + {BLOCK}, hi)",
        "        for g in range(first_row.size):",
        f"            c, stop = {GROUP} * g, min({GROUP} * g + {GROUP}, offsets.size)",
        "            begin = min(max(block, get(first_row, g)), end)",
        "            i = begin",
        f"            if stop - c == {GROUP}:",
        "                last = min(end, get(last_row, g))",
        f"                while i + {rows} <= last:",
        *(" " * 20 + line for line in many),
        f"                    i += {rows}",
        *_clipped("block", "begin"),
        *_clipped("i", "end"),
    ]
    return define(name, lines, clipped=CLIPPED[conj_a, conj_b])


def _clipped(lo: str, hi: str) -> list[str]:
    return [
        f"            if {lo} < {hi}:",
        "                clipped(a, b, at_a, at_b, shift, ptr, offsets, inner, cols, out, out_base, alpha, beta,",
        f"                        near_a, near_b, c, stop, {lo}, {hi})",
    ]


def _load(array: str, at: str, v: int, conj: bool) -> str:
    load = f"vload({array}, {at} + {v * WIDTH}, {WIDTH})"
    return f"vconj({load})" if conj else load


def make_clipped(conj_a: bool, conj_b: bool) -> Callable[..., None]:
    """Rows [lo, hi) of result diagonals c to end, whose pairs need not reach over all of them."""

    @kernel
    def clipped(
        a, b, at_a, at_b, shift, ptr, offsets, inner, cols, out, out_base, alpha, beta, near_a, near_b, c, end, lo, hi
    ):
        fresh = beta == 0
        for d in range(c, end):
            start, stop, offset, at = get(ptr, d), get(ptr, d + 1), get(offsets, d), get(out_base, d)
            first, last = max(lo, -offset), min(hi, cols - offset)
            if first >= last:
                continue
            full = 0  # pairs that reach over all the rows, listed in near_a and near_b
            for t in range(start, stop):
                if -get(shift, t) <= first and last <= inner - get(shift, t):
                    put(near_a, full, get(at_a, t))
                    put(near_b, full, get(at_b, t))
                    full += 1
            i = first
            while i + STEP <= last:
                s0, s1, s2, s3 = vzero(out, WIDTH), vzero(out, WIDTH), vzero(out, WIDTH), vzero(out, WIDTH)
                for k in range(full):
                    u = get(near_a, k) + i
                    v = get(near_b, k) + i
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
            while i + WIDTH <= last:
                s0 = vzero(out, WIDTH)
                for k in range(full):
                    a0, b0 = vload(a, get(near_a, k) + i, WIDTH), vload(b, get(near_b, k) + i, WIDTH)
                    s0 = vmuladd(s0, vconj(a0) if conj_a else a0, vconj(b0) if conj_b else b0)
                s0 = vscale(alpha, s0)
                if not fresh:
                    s0 = vadd(s0, vscale(beta, vload(out, at + i, WIDTH)))
                vstore(out, at + i, s0)
                i += WIDTH
            while i < last:
                s = out.dtype.type(0)
                for k in range(full):
                    x, y = get(a, get(near_a, k) + i), get(b, get(near_b, k) + i)
                    s += (np.conj(x) if conj_a else x) * (np.conj(y) if conj_b else y)
                put(out, at + i, alpha * s if fresh else alpha * s + beta * get(out, at + i))
                i += 1
            if full < stop - start:
                for t in range(start, stop):
                    if -get(shift, t) <= first and last <= inner - get(shift, t):
                        continue
                    u, v = get(at_a, t), get(at_b, t)
                    i, past = max(first, -get(shift, t)), min(last, inner - get(shift, t))
                    while i + WIDTH <= past:
                        a0, b0 = vload(a, u + i, WIDTH), vload(b, v + i, WIDTH)
                        s0 = vmuladd(vzero(out, WIDTH), vconj(a0) if conj_a else a0, vconj(b0) if conj_b else b0)
                        vstore(out, at + i, vadd(vload(out, at + i, WIDTH), vscale(alpha, s0)))
                        i += WIDTH
                    while i < past:
                        x, y = get(a, u + i), get(b, v + i)
                        x, y = np.conj(x) if conj_a else x, np.conj(y) if conj_b else y
                        put(out, at + i, get(out, at + i) + alpha * (x * y))
                        i += 1

    return clipped


CLIPPED = {(ca, cb): make_clipped(ca, cb) for ca in (False, True) for cb in (False, True)}
