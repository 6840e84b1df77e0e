"""Compile the common kernels ahead of the first product, onto the disk where there is a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

BLOCKSIZES = ((2, 2), (3, 3), (4, 4), (5, 5), (6, 6))
TYPES = (np.float64, np.float32, np.complex128)


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
    jobs = list(_jobs())
    for done, (name, job) in enumerate(jobs, 1):
        job()
        if progress is not None:
            progress(done, len(jobs), name)


def _jobs() -> Iterator[tuple[str, Callable[[], object]]]:
    import spformats as sf
    from spformats import dispatch

    n = 60  # every block size here divides it
    layouts: list[tuple[str, dict[str, Any]]] = [(f, {}) for f in ("cds", "csr", "pjad", "ell", "jad")]
    layouts += [("pjad", {"bsize": bsize, "sigma": 32}) for bsize in (8, 16, 32)]
    layouts += [("bsr", {"blocksize": blocksize}) for blocksize in BLOCKSIZES]
    for dtype in TYPES:
        three, eight, sixteen = (sp.diags_array(np.ones((d, n)), offsets=range(d), shape=(n, n)) for d in (3, 8, 16))
        cases = [(three, format, layout) for format, layout in layouts]
        for matrix, format, layout in [*cases, (eight, "csr", {}), (sixteen, "csr", {})]:  # a kernel for each of these
            A = sf.asarray(matrix.astype(dtype), format=format, force=True, **layout)
            for operation, x in (("spmv", np.ones(n, dtype)), ("spmm", np.ones((n, 4), dtype))):
                for trans in "NT":
                    name = " ".join(
                        [operation, format, *("×".join(map(str, np.atleast_1d(v))) for v in layout.values()), trans]
                    )
                    yield f"{name} {np.dtype(dtype)}", _bound(dispatch.run, operation, A, x, trans)


def _bound(run: Callable[..., object], operation: str, A: object, x: np.ndarray, trans: str) -> Callable[[], object]:
    return lambda: run(operation, A, x, trans=trans)
