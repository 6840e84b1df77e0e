"""`check_kernel`: does a kernel compute what it is registered for?"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from spformats.testing.building import build, built
from spformats.testing.compare import Triplets, check_close, expected_product
from spformats.testing.matrices import DTYPES, EdgeMatrix, edge_matrices, fitted, scatter
from spformats.testing.operands import namespace_module, to_numpy
from spformats.testing.products import Subject, check_products, spmv

#: Value types of the matrix and of the other operand: each with itself, then one pair of every kind of promotion.
PAIRS = tuple((d, d) for d in DTYPES) + tuple((np.dtype(a), np.dtype(b)) for a, b in ("fd", "Df", "dF", "FD"))

#: Matrices that are checked with 64-bit indices too, in the real value types: single and double precision may have
#: kernels of their own, and complex numbers are where real ones are.
WIDE_INDICES = ("square", "irregular")


def check_kernel(
    op: str,
    format: str,
    namespace: str = "numpy",
    name: str | None = None,
    *,
    pairs: Any = PAIRS,
    matrices: Any = None,
    **layout: Any,
) -> int:
    """Check a registered kernel against dense products; raise AssertionError at the first difference.

    Every edge matrix (`edge_matrices`) meets vectors, or matrices of 0, 1, 4 and 17 columns, of four value types and
    mixed ones; plain, transposed and adjoint; with alpha and beta, where beta = 0 must not read y; in strided,
    reversed, Fortran-ordered and read-only memory; with NaN and infinity in x, which may reach only the rows that store
    something there; with indices of 32 bits, and of 64 where both value types are the same real one (with the first
    pair if there is no such). The operands must come back unchanged. Errors must stay inside the bound for a sum in any
    order.

    Parameters
    ----------
    op : {"spmv", "spmm", "spgemm"}
        The operation that the kernel is registered for.
    format : str
        The format that the kernel is registered for.
    namespace : str
        Array library of the operands: ``"numpy"``, ``"cupy"``, ``"torch"``, ``"array_api_strict"``.
    name : str, optional
        The kernel's name; without it, whichever kernel dispatch chooses is checked.
    pairs : iterable of (dtype, dtype)
        Value types of the matrix and of the other operand.
    matrices : container of str, optional
        Names of the edge matrices to use, all by default.
    **layout
        Layout options of the format (``blocksize=``, ``bsize=``, ``sigma=``, ``symmetric=``).

    Returns
    -------
    int
        How many products were compared.

    Raises
    ------
    AssertionError
        For the first wrong product; the message names the kernel, the matrix, the operands and the element.
    LookupError
        If no such kernel is registered.

    Examples
    --------
    >>> from spformats.testing import check_kernel
    >>> check_kernel("spmv", "csr", name="reference", pairs=[("float64", "float64")]) > 100
    True
    """
    from spformats import config, dispatch
    from spformats.formats.base import format_class

    cls = format_class(format)
    registered = [k for k in dispatch.kernels(op) if k.format in (format, "*") and k.namespace in (namespace, "*")]
    named = [k for k in registered if name in (None, k.name)]
    if not named:
        known = ", ".join(dict.fromkeys(k.name for k in registered)) or "none"
        raise LookupError(
            f"no kernel {name!r} is registered for {op} on {format!r} with {namespace}; there are: {known}"
        )
    xp = None if namespace == "numpy" else namespace_module(namespace)
    what = f"{format} {layout}" if layout else format
    title = f"{op} kernel {name or 'chosen by dispatch'!r} for {what} on {namespace}"
    made = 0
    pairs = [(np.dtype(a), np.dtype(b)) for a, b in pairs]
    real = [pair for pair in pairs if pair[0] == pair[1] and pair[0].kind == "f"]
    with config(kernel=name) if name is not None else contextlib.nullcontext():
        for left, right in pairs:
            for case in edge_matrices(left, nonfinite=True):
                if matrices is not None and case.name not in matrices:
                    continue
                case, A = built(cls, case, layout)
                if A is None:
                    continue
                label = f"{title}, matrix {case.name!r} {case.matrix.shape}"
                if op == "spgemm":
                    made += _check_spgemm(label, case, A, right, xp, layout)
                    continue
                transposes = tuple(
                    t for t in "NTC" if name is None or any(k.refusal(A, right, t) is None for k in named)
                )
                wide = case.name in WIDE_INDICES and (left, right) in (real or pairs[:1])
                for note, stored in _index_types(A) if wide else [("", A)]:
                    subject = Subject.of(label + note, stored, case.dense(), xp)
                    made += check_products(subject, spmv, op, right, transposes)
    assert made, f"{title}: the kernel refused every matrix and operand"
    return made


def _index_types(A: Any) -> list[tuple[str, Any]]:
    """The array, and the same with 64-bit indices, as it has them when the matrix has more than 2^31 columns."""
    parts = {name: part.astype(np.int64) if part.dtype == np.int32 else part for name, part in A._parts().items()}
    wide = type(A)._build(parts, A.shape, **A._parameters())
    return [("", A), (" with 64-bit indices", wide)]


def _check_spgemm(label: str, case: EdgeMatrix, A: Any, dtype: np.dtype, xp: Any, layout: dict[str, Any]) -> int:
    """``A @ B`` for a B of the other value type with A's transposed pattern."""
    from spformats import dispatch

    other = fitted(EdgeMatrix(case.name, sp.coo_array(case.matrix.T.astype(dtype))), layout)
    if other.matrix.shape[0] != A.shape[1] or not np.isfinite(case.matrix.data).all():
        return 0
    B = build(type(A), other.matrix, layout)
    left, right = case.dense(), scatter(other.matrix)
    A, B = (M if xp is None else M.to_namespace(xp) for M in (A, B))
    try:
        product = dispatch.call("spgemm", A, B)
    except Exception as error:
        raise AssertionError(f"{label}: raised {type(error).__name__}: {error}") from error
    out = np.result_type(left.dtype, right.dtype)
    none = np.zeros(0, dtype=np.int64)
    expected = expected_product(Triplets.of(left, (none, none), "N"), right, None, 1, 0, out)
    check_close(label, to_numpy(product.todense()), expected, out)
    return 1
