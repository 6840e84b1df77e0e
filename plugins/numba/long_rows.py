"""Rows that hold a good part of all entries: cut into pieces that the threads share, and added up in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import pool
from .jit import kernel
from .launch import Run, Spread
from .operands import readable
from .row_kernels import BLOCKED, JAGGED, ROWS, WIDTH
from .simd import get, put, vgather, vload, vmuladd, vstore, vsum, vzero

#: Rows shorter than this are left to the row kernels.
LONG = 4096
#: Share of a thread's work from which a row is cut. In CSR a shorter one is a range for itself, which is begun first;
#: the other layouts would multiply padding meanwhile.
SHARE, PADDED_SHARE = 0.75, 0.25
#: Pieces each long row is cut into, for every thread.
PIECES = 4


class LongRows(NamedTuple):
    """Long rows taken out of a matrix.

    Attributes
    ----------
    places : int64
        Where they are in the format's own order of rows.
    targets : int64
        Their rows of the matrix.
    entries : list of (data, indices)
    """

    places: np.ndarray
    targets: np.ndarray
    entries: list[tuple[np.ndarray, np.ndarray]]


def long_rows(rows: Any, threads: int) -> LongRows | None:
    """Rows of `row_formats.Rows` that are most of a thread's work or more, or None."""
    weights = rows.weights
    if len(weights) < 2:
        return None
    lengths = np.diff(weights)
    share = SHARE if rows.layout == ROWS else PADDED_SHARE
    places = np.flatnonzero(lengths > max(LONG, share * weights[-1] / threads))
    if not len(places):
        return None
    entries = []
    for i in places.tolist():
        if rows.layout == ROWS:
            at: Any = slice(int(rows.ptr[i]), int(rows.ptr[i + 1]))
        else:
            j = np.arange(lengths[i])
            if rows.layout == JAGGED:
                at = rows.ptr[j] + i
            else:
                at = j * rows.step + (rows.ptr[i // rows.step] + i % rows.step if rows.layout == BLOCKED else i)
        entries.append((readable(rows.data[at]), readable(rows.indices[at])))
    return LongRows(places, rows.perm[places].astype(np.int64) if rows.perm.size else places, entries)


def without(rows: Any, long: LongRows) -> Any:
    """The rows with the long ones empty; in CSR, whose pointers say otherwise, ranges leave them out (`between`)."""
    if rows.layout == ROWS:
        return rows
    rlen = rows.rlen.copy()
    rlen[long.places] = 0
    weights = np.concatenate([[0], np.cumsum(rlen, dtype=np.int64)])
    return rows._replace(rlen=rlen, weights=weights)


def between(ranges: Sequence[tuple[int, int]], places: Sequence[int]) -> list[tuple[int, int]]:
    """The ranges without these rows."""
    for place in places:
        ranges = [
            part
            for lo, hi in ranges
            for part in (((lo, place), (place + 1, hi)) if lo <= place < hi else ((lo, hi),))
            if part[0] < part[1]
        ]
    return list(ranges)


@kernel
def partial_sums(data, indices, cuts, x, sums, k, lo, hi):
    """sums[t] = entries cuts[t] to cuts[t+1] of one row times x, for pieces lo to hi and k right-hand sides."""
    for t in range(lo, hi):
        p, end = get(cuts, t), get(cuts, t + 1)
        if k == 1:
            s0, s1 = vzero(sums, WIDTH), vzero(sums, WIDTH)
            while p + 2 * WIDTH <= end:
                s0 = vmuladd(s0, vload(data, p, WIDTH), vgather(x, indices, p, WIDTH))
                s1 = vmuladd(s1, vload(data, p + WIDTH, WIDTH), vgather(x, indices, p + WIDTH, WIDTH))
                p += 2 * WIDTH
            s = vsum(s0) + vsum(s1)
            while p < end:
                s += get(data, p) * get(x, get(indices, p))
                p += 1
            put(sums, t, s)
        else:
            for c in range(k):
                put(sums, t * k + c, 0)
            while p < end:
                v, q = get(data, p), np.int64(get(indices, p)) * k
                c = 0
                while c + WIDTH <= k:
                    to = t * k + c
                    vstore(sums, to, vmuladd(vload(sums, to, WIDTH), v, vload(x, q + c, WIDTH)))
                    c += WIDTH
                while c < k:
                    put(sums, t * k + c, get(sums, t * k + c) + v * get(x, q + c))
                    c += 1
                p += 1


def with_long_rows(run: Run, long: LongRows, result: np.dtype) -> Run:
    """``run`` followed by the long rows; what it left in their places does not count."""
    pieces = PIECES * pool.thread_count()
    numbers = [(t, t + 1) for t in range(pieces)]
    dot = [
        Spread(partial_sums, (data, indices, np.linspace(0, len(data), pieces + 1).astype(np.int64)), numbers)
        for data, indices in long.entries
    ]

    def multiply(A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        x = readable(x)
        k = 1 if x.ndim == 1 else x.shape[1]
        dots = np.empty((len(dot), *x.shape[1:]), result)
        for n, sum_pieces in enumerate(dot):
            sums = np.empty(pieces * k, result)
            sum_pieces(x.reshape(-1), sums, k)
            dots[n] = sums.reshape(pieces, *x.shape[1:]).sum(axis=0)
        dots *= result.type(alpha)
        if y is not None and beta != 0:
            dots += result.type(beta) * y[long.targets]
        y = run(A, x, y, alpha, beta)
        y[long.targets] = dots
        return y

    return multiply
