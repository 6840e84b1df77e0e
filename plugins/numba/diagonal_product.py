"""Products of diagonal matrices on the CPU: the launcher of `diagonal_product_source`."""

from __future__ import annotations

from collections.abc import Callable
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
SERIAL = 1 << 18
#: Ranges a thread gets, so that one which was held up can be helped.
RANGES = 4


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


@dispatch.register("diagmm", ("cds", "hm", "cdm"), "numpy", name="numba", priority=10, prepare=True)
def prepare(A: Any, pairs: Any, left: Any, right: Any, out: Any) -> Callable[..., np.ndarray]:
    """``alpha * A @ B + beta * C`` over a table of pairs, see `spformats.linalg.diagonal_run`."""
    scalar, base, size, dtype = scalar_type(out.dtype), readable(out.base), out.size, out.dtype
    allocate = np.zeros if out.padded else np.empty
    multiply = _prepare(pairs, left, right, _vectors(out.dtype), pool.thread_count())

    def run(a: np.ndarray, b: np.ndarray, c: np.ndarray | None, alpha: complex, beta: complex) -> np.ndarray:
        flat = allocate(size, dtype=dtype) if c is None else c
        multiply(readable(a), readable(b), flat, base, scalar(alpha), scalar(beta))
        return flat

    return run
