"""The Galerkin product of diagonal matrices, R.T @ A @ R."""

from __future__ import annotations

from typing import Any

from spformats.linalg.diagonal_plan import diagonal_pairs
from spformats.linalg.diagonal_product import multiply
from spformats.linalg.diagonal_table import check_diagonal, check_together, table_of

__all__ = ["triple_product"]


def triple_product(R: Any, A: Any, *, hermitian: bool = False) -> Any:
    """``R.T @ A @ R`` of diagonal matrices, without a transposed copy of R.

    The two products are done in the order that multiplies less.

    Parameters
    ----------
    R : CDS, HM or CDM array, shape (n, m)
    A : CDS, HM or CDM array, shape (n, n)
    hermitian : bool
        Use the adjoint of R instead of its transpose (for complex R).

    Returns
    -------
    Diagonal matrix, shape (m, m); in the format of the operands where they have one, else CDS.

    Raises
    ------
    ValueError
        If A is not square or does not fit R.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(5)
    >>> sf.linalg.triple_product(A, A).offsets.tolist()
    [-3, -2, -1, 0, 1, 2, 3]
    """
    check_diagonal("R", R)
    check_diagonal("A", A)
    check_together(R, A)
    n, m = R.shape
    if A.shape != (n, n):
        raise ValueError(f"A must be square and fit R: R has shape {R.shape}, so A must be {(n, n)}, got {A.shape}")
    left = R.H if hermitian else R.T
    r, a, rt = table_of(R).offsets, table_of(A).offsets, table_of(left).offsets
    first = diagonal_pairs(a, r, (n, n, m))
    other = diagonal_pairs(rt, a, (m, n, n))
    right_first = first.multiplications + diagonal_pairs(rt, first.offsets, (m, n, m)).multiplications
    left_first = other.multiplications + diagonal_pairs(other.offsets, r, (m, n, m)).multiplications
    if left_first < right_first:
        return multiply(multiply(left, A), R)
    return multiply(left, multiply(A, R))
