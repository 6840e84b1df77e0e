"""Kernels of the CPU strategies of Chirilă 2025: tasks of blocks, sums of a piece of a row kept apart."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from .jit import intrinsic, kernel
from .simd import get, put


@intrinsic
def take(typingctx, counter):
    """``counter[0]++`` as one atomic step: what OpenMP's dynamic schedule does."""

    def codegen(context, builder, signature, args):
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", data, ir.IntType(64)(1), "monotonic")

    return types.int64(counter), codegen


@kernel
def one_row_of_blocks(data, indices, R, C, x, sums, at, start, stop):
    """sums[at:at+R] += blocks start to stop of one row, times x."""
    for p in range(start, stop):
        j = np.int64(get(indices, p)) * C
        for r in range(R):
            s = get(sums, at + r)
            q = (p * R + r) * C
            for c in range(C):
                s += get(data, q + c) * get(x, j + c)
            put(sums, at + r, s)


@kernel
def run_tasks(data, indices, ptr, R, C, x, y, alpha, start_row, stop_row, start, stop, edges, counter):
    """Take tasks until none is left; y gets the rows a task has whole, ``edges`` the pieces at its two ends."""
    sums = np.empty(R, y.dtype)
    while True:
        t = take(counter)
        if t >= start.size:
            return
        for i in range(get(start_row, t), get(stop_row, t) + 1):
            first = max(get(ptr, i), get(start, t))
            last = min(get(ptr, i + 1), get(stop, t))
            for r in range(R):
                put(sums, r, 0)
            one_row_of_blocks(data, indices, R, C, x, sums, 0, first, last)
            if first == get(ptr, i) and last == get(ptr, i + 1):
                for r in range(R):
                    put(y, i * R + r, get(y, i * R + r) + alpha * get(sums, r))
            else:
                slot = (2 * t + (1 if i > get(start_row, t) else 0)) * R
                for r in range(R):
                    put(edges, slot + r, alpha * get(sums, r))


@kernel
def add_edges(y, R, start_row, stop_row, edges):
    """Add the pieces of split rows in the order of the tasks, where the paper adds them atomically."""
    for t in range(start_row.size):
        for r in range(R):
            put(y, get(start_row, t) * R + r, get(y, get(start_row, t) * R + r) + get(edges, 2 * t * R + r))
            put(y, get(stop_row, t) * R + r, get(y, get(stop_row, t) * R + r) + get(edges, (2 * t + 1) * R + r))


@kernel
def run_splits(data, indices, ptr, R, C, x, sums, parts, part, chunk):
    """One thread's share of every row: an even part, or with ``chunk`` every so many blocks the next thread's turn.

    ``sums`` is this thread's own y. A thread that got nothing of a row does not touch the row.
    """
    dealt = 0
    for i in range(ptr.size - 1):
        begin, end = get(ptr, i), get(ptr, i + 1)
        if chunk == 0:
            first = begin + (end - begin) * part // parts
            last = begin + (end - begin) * (part + 1) // parts
            one_row_of_blocks(data, indices, R, C, x, sums, i * R, first, last)
        else:
            for start in range(begin, end, chunk):
                if dealt % parts == part:
                    one_row_of_blocks(data, indices, R, C, x, sums, i * R, start, min(end, start + chunk))
                dealt += 1
