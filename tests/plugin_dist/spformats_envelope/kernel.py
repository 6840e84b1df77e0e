"""A kernel in NumPy: one sum over all stored values, sorted out by row or by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats import dispatch


@dispatch.register("spmv", "envelope", "numpy", name="envelope", priority=10, prepare=True)
@dispatch.register("spmm", "envelope", "numpy", name="envelope", priority=10, prepare=True)
def prepare(A: Any, dtype: Any, trans: str) -> Callable[..., np.ndarray]:
    """Prepare ``run(A, x, y, alpha, beta)`` for operands of one dtype."""
    out = np.result_type(A.dtype, dtype)
    rows, cols = A._plan("slots", type(A)._slots)
    to, source, length = (rows, cols, A.shape[0]) if trans == "N" else (cols, rows, A.shape[1])
    values = A.data.conj() if trans == "C" else A.data

    def run(A: Any, x: np.ndarray, y: np.ndarray | None, alpha: complex, beta: complex) -> np.ndarray:
        total = np.zeros((length, *x.shape[1:]), dtype=out)
        np.add.at(total, to, (values if x.ndim == 1 else values[:, None]) * x[source])
        total *= alpha
        if y is None:
            return total
        y[...] = total if beta == 0 else total + beta * y
        return y

    return run
