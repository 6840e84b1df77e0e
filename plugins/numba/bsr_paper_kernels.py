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
def run_tasks(data, indices, ptr, R, C, x, y, alpha, start_row, stop_row, start, stop, edges, counter, lo, hi):
    """One thread's work: take tasks until none is left; y gets whole rows, ``edges`` the pieces at both ends."""
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
def run_splits(data, indices, ptr, R, C, x, sums, threads, chunk, lo, hi):
    """The shares of threads lo to hi of every row: even parts, or with ``chunk`` every so many blocks the next's turn.

    ``sums`` holds a y for each thread. A thread that got nothing of a row does not touch the row.
    """
    for thread in range(lo, hi):
        own = (ptr.size - 1) * R * thread
        dealt = 0
        for i in range(ptr.size - 1):
            begin, end = get(ptr, i), get(ptr, i + 1)
            if chunk == 0:
                first = begin + (end - begin) * thread // threads
                last = begin + (end - begin) * (thread + 1) // threads
                one_row_of_blocks(data, indices, R, C, x, sums, own + i * R, first, last)
            else:
                for start in range(begin, end, chunk):
                    if dealt % threads == thread:
                        one_row_of_blocks(data, indices, R, C, x, sums, own + i * R, start, min(end, start + chunk))
                    dealt += 1
