"""Products of diagonal matrices (CDS, HM, CDM and their transposes) that stay diagonal.

Diagonal ``a`` of A times diagonal ``b`` of B adds to diagonal ``a + b`` of C = A @ B, so the structure of C is known
from two short lists of offsets. `matmul_plan` works it out once; the plan then multiplies any matrices with those
diagonals. Nothing is transposed on the way: ``A.T @ B`` and ``A @ B.T`` read the same values through other positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.dispatch import current_config, generation
from spformats.linalg.diagonal_elementwise import drop_empty_diagonals
from spformats.linalg.diagonal_layout import ResultLayout, result_format
from spformats.linalg.diagonal_plan import CACHED_PAIRS, DiagonalPairs, diagonal_pairs
from spformats.linalg.diagonal_run import Launch, itemsize_of, launch_into_new, product_dtype, run, run_into
from spformats.linalg.diagonal_table import (
    OWN,
    DiagonalTable,
    Structure,
    check_diagonal,
    check_together,
    table_of,
)

__all__ = ["MatmulPlan", "matmul_plan", "multiply", "multiply_again"]

#: Launches kept with one plan, and plans with one structure.
KEPT = 16


class MatmulPlan:
    """The structure of ``op(A) @ op(B)``, ready to multiply matrices with these diagonals; see `matmul_plan`.

    Attributes
    ----------
    shape : (int, int)
        Shape of the result.
    offsets : int64 array
        Diagonals of the result, sorted.
    format : {"cds", "hm", "cdm"}
    size : int
        Values the result stores, padding included.
    multiplications : int
        Multiplications of one product.
    """

    def __init__(self, pairs: DiagonalPairs, format: str):
        rows, _, cols = pairs.shape
        self.pairs = pairs
        self.layout = ResultLayout(format, (rows, cols), pairs.offsets)
        self.shape = (rows, cols)
        self.offsets = pairs.offsets
        self.format = format
        self.size = self.layout.size
        self._fits: set[tuple[Any, Any]] = set()  # structures of operands that passed the checks
        self._known: dict[Any, Launch] = {}  # and the launches of their plain products

    def nbytes(self, dtype: Any) -> int:
        """Bytes of the result's values in ``dtype``."""
        return self.size * np.dtype(dtype).itemsize

    @property
    def multiplications(self) -> int:
        return self.pairs.multiplications

    def __call__(self, A: Any, B: Any, out: Any = None, *, alpha: complex = 1, beta: complex = 0) -> Any:
        """Compute ``C <- alpha * A @ B + beta * C``.

        Parameters
        ----------
        A, B : diagonal matrices with the diagonals and shapes of the plan, in any of the three formats, or transposed
        out : diagonal matrix, optional
            C, updated in place; it may store more diagonals than the product has (those are scaled by beta), and must
            share no memory with A or B. Without it C is allocated.
        alpha, beta : scalars
            With ``beta=0`` the old values of C are not read.

        Returns
        -------
        C : ``out``, or a new matrix in the plan's format
        """
        if out is None and beta == 0 and type(alpha) is int and alpha == 1:
            C = self.again(A, B)
            if C is not None:
                return C
        check_diagonal("A", A)
        check_diagonal("B", B)
        left, right = table_of(A), table_of(B)
        if (left.structure, right.structure) not in self._fits:
            check_together(A, B)
            self._check_operand("A", A, self.pairs.shape[:2], left, self.pairs.a_offsets)
            self._check_operand("B", B, self.pairs.shape[1:], right, self.pairs.b_offsets)
            self._fits.add((left.structure, right.structure))
        dtype = product_dtype(left, right, alpha)
        if out is not None:
            return run_into(A, self.pairs, left, right, out, dtype, alpha, beta)
        if beta != 0:
            raise ValueError(f"beta={beta!r} needs out=, the matrix it scales")
        if type(alpha) is int and alpha == 1:
            while len(self._known) >= KEPT:
                self._known.pop(next(iter(self._known)), None)
            key = left.structure, right.structure, current_config().kernel, generation()
            self._known[key] = launch_into_new(A, self.pairs, left, right, self.layout, dtype)
        return run(A, self.pairs, left, right, self.layout, dtype, alpha)

    def again(self, A: Any, B: Any) -> Any:
        """``A @ B`` by the launch that an earlier product of such matrices took; None where there was none.

        A product of small bands takes the GPU a few microseconds: finding the kernel must not take longer.
        """
        try:
            left, right = A._plans[OWN], B._plans[OWN]
            launch = self._known[left.structure, right.structure, current_config().kernel, generation()]
        except (AttributeError, KeyError, TypeError):  # not a diagonal matrix, a transpose, or one not met before
            return None
        try:
            flat = launch(A, left, right, None, 1, 0)
        except MemoryError as error:
            raise MemoryError(self.layout.complaint(itemsize_of(product_dtype(left, right, 1)))) from error
        return self.layout.build(flat)

    def forget(self) -> None:
        """Look up kernels, and let them choose their launch parameters, afresh."""
        self._known.clear()
        self.pairs.launches.clear()

    @staticmethod
    def _check_operand(
        name: str, A: Any, shape: tuple[int, ...], table: DiagonalTable, offsets: np.ndarray[Any, Any]
    ) -> None:
        if A.shape != shape:
            raise ValueError(f"{name} has shape {A.shape}, the plan was made for {shape}")
        if not np.array_equal(table.offsets, offsets):
            odd = np.setxor1d(table.offsets, offsets)
            raise ValueError(
                f"{name} has other diagonals than the plan: only one of them has offset {odd[0]}; make a new plan"
            )

    def __repr__(self) -> str:
        rows, inner, cols = self.pairs.shape
        a, b = len(self.pairs.a_offsets), len(self.pairs.b_offsets)
        return (
            f"<MatmulPlan ({rows}, {inner}) @ ({inner}, {cols}): {a} x {b} diagonals -> {len(self.offsets)}, "
            f"{self.format}, {len(self.pairs.left)} pairs>"
        )


def _pairs_of(A: Any, B: Any) -> DiagonalPairs:
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"cannot multiply shapes {A.shape} and {B.shape}: {A.shape[1]} columns meet {B.shape[0]} rows")
    return diagonal_pairs(table_of(A).offsets, table_of(B).offsets, (A.shape[0], A.shape[1], B.shape[1]))


def matmul_plan(A: Any, B: Any, *, format: str | None = None, offsets: Any = None) -> MatmulPlan:
    """Plan the product of two diagonal matrices, to be run again and again with other values.

    Parameters
    ----------
    A, B : CDS, HM or CDM arrays, shapes (n, m) and (m, p)
        Only their shapes and diagonals matter; ``A.T`` and ``B.T`` are as good.
    format : {"cds", "hm", "cdm"}, optional
        Format of the result: by default that of the operands where both have the same, else CDS. HM and CDM are square.
    offsets : sequence of int, optional
        Compute these diagonals of the product only (those of them that exist): a band, a triangle, a coarse stencil.

    Returns
    -------
    MatmulPlan
        ``plan(A, B)`` gives a new matrix, ``plan(A, B, out=C, alpha=…, beta=…)`` updates C.

    References
    ----------
    S. A. Haque, M. T. Parvez, S. Hossain, *GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal
    Storage Schemes*, Algorithms 17(1), 2024, section 6: the thirteen cases of its HM product are one rule here.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(5)
    >>> plan = sf.linalg.matmul_plan(A, A)
    >>> plan.offsets.tolist()
    [-2, -1, 0, 1, 2]
    >>> C = plan(A, A)
    >>> plan(A, A, out=C, alpha=2.0, beta=-1.0) is C
    True
    >>> C.todense()[0].tolist()
    [5.0, -4.0, 1.0, 0.0, 0.0]
    """
    check_diagonal("A", A)
    check_diagonal("B", B)
    pairs = _pairs_of(A, B)
    if offsets is not None:
        pairs = pairs.select(np.isin(pairs.offsets, np.asarray(offsets, dtype=np.int64)))
    return MatmulPlan(pairs, result_format(A.format, B.format) if format is None else format)


def multiply(A: Any, B: Any, *, drop_empty: bool = False) -> Any:
    """``A @ B`` of two diagonal matrices, as a diagonal matrix.

    Parameters
    ----------
    A, B : CDS, HM or CDM arrays, shapes (n, m) and (m, p)
    drop_empty : bool
        Leave out diagonals of the result whose values all came out zero. By default the result has exactly the
        diagonals that the structure implies.

    Returns
    -------
    The format both have in common (CDS where they differ), dtype by NumPy's promotion.

    Raises
    ------
    MemoryError
        Where the result cannot be stored; the message gives the bytes it needs.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(5).asformat("hm")
    >>> C = sf.linalg.diagonal_product.multiply(A, A.T)
    >>> C.format, C.offsets.tolist()
    ('hm', [0, 1, 2, -1, -2])
    """
    C = multiply_again(A, B)
    if C is None:
        check_diagonal("A", A)
        check_diagonal("B", B)
        check_together(A, B)
        left, right = table_of(A).structure, table_of(B).structure
        assert left is not None and right is not None  # every array's own table has one
        plan = left.plans.get(right)
        if plan is None:
            plan = MatmulPlan(_pairs_of(A, B), result_format(A.format, B.format))
            _keep(plan, left, right)
        C = plan(A, B)
    return drop_empty_diagonals(C) if drop_empty else C


def multiply_again(A: Any, B: Any) -> Any:
    """``A @ B`` as an earlier product of such matrices went; None where there was none."""
    try:
        plan = A._plans[OWN].structure.plans.get(B._plans[OWN].structure)
    except (AttributeError, KeyError):  # not a diagonal matrix, a transpose, or one not met before
        return None
    return None if plan is None else plan.again(A, B)


def _keep(plan: MatmulPlan, left: Structure, right: Structure) -> None:
    if len(plan.pairs.left) <= CACHED_PAIRS:
        while len(left.plans) >= KEPT:
            left.plans.pop(next(iter(left.plans)), None)
        left.plans[right] = plan
