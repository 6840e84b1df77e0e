"""Symmetric rank-k and rank-2k updates of diagonal matrices: one triangle is computed, none of the operands moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.linalg.diagonal_layout import ResultLayout
from spformats.linalg.diagonal_plan import DiagonalPairs, diagonal_pairs
from spformats.linalg.diagonal_run import product_dtype, run, run_into
from spformats.linalg.diagonal_table import check_diagonal, check_together, table_of

__all__ = ["syr2k", "syrk"]


def syrk(A: Any, alpha: complex = 1, beta: complex = 0, C: Any = None, trans: str = "N", *, lower: bool = False) -> Any:
    """Symmetric rank-k update ``C <- alpha * A @ A.T + beta * C``, or with ``A.T @ A`` for ``trans="T"``.

    As in BLAS, only the diagonals of one triangle are computed, and of a given C only those are read and written.
    Complex matrices are transposed, not conjugated.

    Parameters
    ----------
    A : CDS, HM or CDM array
    alpha, beta : scalars
        With ``beta=0`` the old values of C are not read.
    C : diagonal matrix, optional
        Updated in place. It must store the triangle's diagonals of the product, and may store more: those in the
        triangle are scaled by beta, those of the other triangle stay.
    trans : {"N", "T"}
    lower : bool
        Update the lower triangle of C instead of the upper.

    Returns
    -------
    ``C``; or, where none was given, the whole symmetric matrix as a CDS array that stores its upper triangle
    (``symmetric=True``).

    Raises
    ------
    ValueError
        If C has the wrong shape, lacks a diagonal or is missing while beta is not 0.

    References
    ----------
    S. A. Haque, M. T. Parvez, S. Hossain, *GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal
    Storage Schemes*, Algorithms 17(1), 2024, section 4; reference BLAS, ``dsyrk``.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.asarray(np.array([[1., 2.], [0., 3.]]), format="hm")
    >>> sf.linalg.syrk(A).todense().tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    """
    check_diagonal("A", A)
    _check_trans(trans)
    return _update([(A, A)], alpha, beta, C, trans, lower)


def syr2k(
    A: Any, B: Any, alpha: complex = 1, beta: complex = 0, C: Any = None, trans: str = "N", *, lower: bool = False
) -> Any:
    """Symmetric rank-2k update ``C <- alpha * (A @ B.T + B @ A.T) + beta * C``.

    With ``trans="T"`` it is ``alpha * (A.T @ B + B.T @ A) + beta * C``. Everything else is as in `syrk`.

    Parameters
    ----------
    A, B : CDS, HM or CDM arrays of one shape
    alpha, beta, C, trans, lower
        See `syrk`.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.asarray(np.array([[1., 2.], [0., 3.]]), format="hm")
    >>> sf.linalg.syr2k(A, sf.eye(2, format="hm")).todense().tolist()
    [[2.0, 2.0], [2.0, 6.0]]
    """
    check_diagonal("A", A)
    check_diagonal("B", B)
    check_together(A, B)
    _check_trans(trans)
    if A.shape != B.shape:
        raise ValueError(f"A and B must have one shape, got {A.shape} and {B.shape}")
    return _update([(A, B), (B, A)], alpha, beta, C, trans, lower)


def _check_trans(trans: str) -> None:
    if trans not in ("N", "T"):
        raise ValueError(f"trans must be 'N' (A @ A.T) or 'T' (A.T @ A), got {trans!r}")


def _update(terms: list[tuple[Any, Any]], alpha: complex, beta: complex, C: Any, trans: str, lower: bool) -> Any:
    """``C <- alpha * sum(X @ Y.T) + beta * C`` over the terms, one triangle."""
    if C is None and beta != 0:
        raise ValueError(f"beta={beta!r} needs C, the matrix it scales")
    if C is None or (C._source is None and getattr(C, "symmetric", False)):
        lower = False  # the upper triangle is stored and stands for both
    first, second = ("N", "T") if trans == "N" else ("T", "N")
    steps = []
    for X, Y in terms:
        left, right = table_of(X, first), table_of(Y, second)
        n, k = X.shape if trans == "N" else X.shape[::-1]
        steps.append((_triangle(diagonal_pairs(left.offsets, right.offsets, (n, k, n)), lower), left, right))
    A = terms[0][0]
    dtype = product_dtype(steps[0][1], steps[0][2], alpha)
    if C is None:
        offsets = steps[0][0].offsets if len(steps) == 1 else np.union1d(steps[0][0].offsets, steps[1][0].offsets)
        pairs, left, right = steps.pop(0)
        C = run(
            A, pairs.embed(offsets), left, right, ResultLayout("cds", (n, n), offsets), dtype, alpha, symmetric=True
        )
        beta = 1
    for pairs, left, right in steps:
        run_into(A, pairs, left, right, C, dtype, alpha, beta, triangle="L" if lower else "U")
        beta = 1
    return C


def _triangle(pairs: DiagonalPairs, lower: bool) -> DiagonalPairs:
    return pairs.derived(("triangle", lower), lambda p: p.select(p.offsets <= 0 if lower else p.offsets >= 0))
