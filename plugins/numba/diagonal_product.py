"""Products of diagonal matrices on the CPU: the launcher of `diagonal_product_source`."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from spformats import dispatch

from . import pool
from .diagonal_groups import groups
from .diagonal_product_source import STEP, WIDTH, product
from .launch import Spread, scalar_type
from .operands import readable
from .registers import vector_registers

#: Multiplications below which a second thread does not pay.
SERIAL = 1 << 19
#: Ranges a thread gets, so that one which was held up can be helped.
RANGES = 4
#: Prepared products kept with one plan (they depend on where the operands keep their diagonals).
KEPT = 8


def _prepared(pairs: Any, left: Any, right: Any, vectors: int, threads: int) -> Spread:
    """The product of operands with these bases, ready to run."""
    kept = pairs.derived("numba products", lambda p: {})
    key = id(left.base), id(right.base), left.conj, right.conj, vectors, threads
    entry = kept.get(key)
    if entry is None:
        while len(kept) >= KEPT:
            kept.pop(next(iter(kept)), None)
        # the bases are kept with it, so that their ids stay theirs
        entry = kept[key] = _prepare(pairs, left, right, vectors, threads), left.base, right.base
    return entry[0]


def _prepare(pairs: Any, left: Any, right: Any, vectors: int, threads: int) -> Spread:
    g = pairs.derived("numba groups", groups)
    shift = pairs.a_offsets[pairs.left]
    at_a, at_b = left.base[pairs.left], right.base[pairs.right] + shift
    rows, inner, cols = pairs.shape
    tables = (
        *(at_a, at_b, shift, pairs.ptr, pairs.offsets, inner, cols),
        *(at_a[g.shared[:, 0]], at_b[g.shared].reshape(-1), g.shared_ptr, at_a[g.rest], at_b[g.rest], g.rest_ptr),
        *(g.first_row, g.last_row),
    )
    small = (len(pairs.left) + len(pairs.offsets)) * rows < SERIAL
    parts = 1 if small else min(RANGES * threads, max(rows // STEP, 1))
    cuts = [rows * p // parts // STEP * STEP for p in range(parts)] + [rows]
    fixed = tuple(readable(t) if isinstance(t, np.ndarray) else t for t in tables)
    return Spread(product(vectors, left.conj, right.conj), fixed, list(pairwise(cuts)))


@cache
def _vectors(dtype: np.dtype) -> int:
    """Vectors of each of four result diagonals whose sums fit in three quarters of the registers."""
    count, size = vector_registers()
    of_each = -(-WIDTH * dtype.itemsize // size)
    return next((v for v in (4, 2) if 4 * v * of_each <= 3 * count // 4), 1)


@dispatch.register("diagmm", ("cds", "hm", "cdm"), "numpy", name="numba", priority=10)
def multiply(A: Any, pairs: Any, left: Any, right: Any, out: Any, alpha: complex, beta: complex) -> np.ndarray:
    """``alpha * A @ B + beta * C`` over a table of pairs, see `spformats.linalg.diagonal_run`."""
    flat = out.flat
    if flat is None:
        flat = (np.zeros if out.padded else np.empty)(out.size, dtype=out.dtype)
    scalar = scalar_type(out.dtype)
    run = _prepared(pairs, left, right, _vectors(out.dtype), pool.thread_count())
    run(readable(left.flat), readable(right.flat), flat, readable(out.base), scalar(alpha), scalar(beta))
    return flat
