"""Compile the common kernels ahead of the first product, onto the disk where there is a cache."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

BLOCKSIZES = ((2, 2), (3, 3), (4, 4), (5, 5), (6, 6))
TYPES = (np.float64, np.float32, np.complex128)
#: Entries of small matrices, and of large ones, whose products are prefetched and shared by threads. Every block size
#: divides their rows.
FEW, MANY = 720, 1_080_000
PRODUCTS = [(operation, columns, trans) for operation, columns in (("spmv", ()), ("spmm", (4,))) for trans in "NT"]


def warmup(progress: Callable[[int, int, str], None] | None = None) -> None:
    """Compile the kernels of all formats for float64, float32 and complex128, plain and transposed.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(done, total, name)`` after each product.

    Examples
    --------
    >>> from spformats_plugins.numba import warmup
    >>> warmup()  # doctest: +SKIP
    """
    import spformats as sf
    from spformats import dispatch

    cases = list(itertools.product(TYPES, (FEW, MANY), _layouts()))
    total = len(cases) * len(PRODUCTS)
    for i, (dtype, entries, (diagonals, format, layout)) in enumerate(cases):
        n = entries // diagonals
        matrix = sp.diags_array(np.ones((diagonals, n)), offsets=np.arange(diagonals) - 1, shape=(n, n), dtype=dtype)
        A = sf.asarray(matrix, format=format, force=True, **layout)
        for j, (operation, columns, trans) in enumerate(PRODUCTS):
            dispatch.run(operation, A, np.ones((n, *columns), dtype), trans=trans)
            if progress is not None:
                sizes = ["×".join(map(str, np.atleast_1d(v))) for v in layout.values()]
                name = " ".join([operation, format, *sizes, trans, np.dtype(dtype).name, f"{n} rows"])
                progress(i * len(PRODUCTS) + j + 1, total, name)


def _layouts() -> list[tuple[int, str, dict[str, Any]]]:
    """Diagonals of a matrix, its format and layout."""
    layouts: list[tuple[str, dict[str, Any]]] = [(f, {}) for f in ("cds", "csr", "pjad", "ell", "jad")]
    layouts += [("pjad", {"bsize": bsize, "sigma": 32}) for bsize in (8, 16, 32)]
    layouts += [("bsr", {"blocksize": blocksize}) for blocksize in BLOCKSIZES]
    # rows of three lengths have kernels of their own in CSR
    return [(3, format, layout) for format, layout in layouts] + [(6, "csr", {}), (24, "csr", {})]
