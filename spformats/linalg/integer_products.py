"""Products of integer and bool arrays, exact in their data type.

The kernels know the four floating-point value types only. Two integer operands are multiplied in integers, by SciPy's
kernels on NumPy and by the reference kernels elsewhere; where one operand is floating, the other is converted to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats import CSR, SparseArray, _arrays


def is_integer(x: Any) -> bool:
    """Whether an array (or one of ours) holds integers or bool."""
    kind = getattr(x.dtype, "kind", None)
    return kind in "biu" if kind is not None else "int" in str(x.dtype) or "bool" in str(x.dtype)


def as_floating(A: SparseArray, dtype: Any) -> SparseArray:
    """The array with floating-point values, for a product with an operand of the floating ``dtype``; made once."""
    if A._namespace in ("numpy", "cupy"):
        return A._plan("floating", lambda A: A.astype(_arrays.value_dtype(A.dtype)))
    return A._plan(("floating", dtype), lambda A: A.astype(dtype))


def dense_product(A: SparseArray, x: Any, trans: str) -> Any:
    """``op(A) @ x`` of an integer array with an integer vector or matrix, in the data type they promote to."""
    if A._namespace == "numpy":
        S = A._op(trans)._plan("integers", _scipy_csr)
        return S @ np.asarray(x)
    with dispatch.config(kernel="reference"):
        return dispatch.run("spmv" if x.ndim == 1 else "spmm", A, x, trans=trans)


def sparse_product(A: SparseArray, B: SparseArray) -> SparseArray:
    """``A @ B`` of two integer arrays on NumPy, in their common format where it is a diagonal one, else CSR."""
    C = (_scipy_csr(A) @ _scipy_csr(B)).tocsr()
    C.sort_indices()
    made = CSR._made(C.data, C.indices, C.indptr, (A.shape[0], B.shape[1]))
    return made.asformat("cds", force=True) if A.format == B.format == "cds" else made


def _scipy_csr(A: SparseArray) -> Any:
    from spformats.interop.scipy_sparse import to_scipy_csr

    return to_scipy_csr(A)
