"""Sparse × sparse products on NumPy: SciPy's own SpGEMM, the well-kept library for it."""

from __future__ import annotations

from typing import Any

from spformats import dispatch
from spformats.interop import scipy_sparse


@dispatch.register("spgemm", ("csr", "bsr"), "numpy", name="scipy")
def spgemm(A: Any, B: Any) -> Any:
    """``A @ B`` of two CSR arrays, or of two BSR arrays whose blocks fit."""
    return scipy_sparse.from_scipy(A.to_scipy_sparse() @ B.to_scipy_sparse())
