"""Sums, elementwise products and scaling inside the diagonal family, into new matrices or in place.

The result's diagonals are exactly the union (sum) or the intersection (product) of the operands'; a diagonal that comes
out all zero stays, unless `drop_empty_diagonals` is called. ``A + B`` and ``A * B`` give the same; here a sum takes
factors without a temporary, and ``out`` takes the result without an allocation.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from spformats.formats.device import at_home
from spformats.formats.diagonal import diagonal_range
from spformats.linalg.diagonal_layout import ResultLayout
from spformats.linalg.diagonal_merge import (
    Offsets,
    Write,
    fill,
    is_halved,
    merge,
    operands,
    stored_table,
    values_at,
    zeros_for,
)
from spformats.linalg.diagonal_table import (
    DiagonalTable,
    check_apart,
    check_diagonal,
    check_together,
    table_of,
    writable_flat,
)

__all__ = ["add", "drop_empty_diagonals", "multiply", "scale"]


def add(A: Any, B: Any, alpha: complex = 1, beta: complex = 1, out: Any = None) -> Any:
    """``alpha * A + beta * B`` of two diagonal matrices.

    Parameters
    ----------
    A, B : CDS, HM or CDM arrays of one shape
    alpha, beta : scalars
    out : diagonal matrix, optional
        Written in place; it must store every diagonal of A and B (others become zero). It may be A or B itself.

    Returns
    -------
    ``out``, or a new matrix with the union of both sets of diagonals, in the format both have (else CDS); symmetric
    where both are stored as symmetric.

    Raises
    ------
    ValueError
        If the shapes differ, ``out`` lacks a diagonal, or shares memory with an operand without being it.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(4)
    >>> C = sf.linalg.diagonal_elementwise.add(A, sf.eye(4, format="cds"), beta=3.0)
    >>> C.diagonal().tolist()
    [5.0, 5.0, 5.0, 5.0]
    """

    def write(target: Any, values: list[Any]) -> None:
        x, y = values
        first, a, second, b = x, alpha, y, beta
        if x is None or out is B:  # what is in the target already must come first
            first, a, second, b = y, beta, x, alpha
            if first is None:
                first, a, second = second, b, None
        if out is A and out is B and second is not None:
            target *= alpha + beta
            return
        if not (first is y and out is B) and not (first is x and out is A):
            target[...] = first
        if a != 1:
            target *= a
        if second is not None:
            target += second if b == 1 else b * second

    return _combine(A, B, np.union1d, (alpha, beta), write, out)


def multiply(A: Any, B: Any, out: Any = None) -> Any:
    """The elementwise product of two diagonal matrices; only diagonals stored in both remain.

    Parameters
    ----------
    A, B : CDS, HM or CDM arrays of one shape
    out : diagonal matrix, optional
        Written in place; it must store every diagonal that both share (others become zero). It may be A or B itself.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(4)
    >>> sf.linalg.diagonal_elementwise.multiply(A, A).data[0].tolist()
    [0.0, 1.0, 1.0, 1.0]
    """

    def write(target: Any, values: list[Any]) -> None:
        target[...] = values[0] * values[1]

    return _combine(A, B, np.intersect1d, (), write, out)


def scale(A: Any, alpha: complex, out: Any = None) -> Any:
    """``alpha * A``; with ``out=A`` in place, without allocating.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3).copy()
    >>> sf.linalg.diagonal_elementwise.scale(A, 2.0, out=A) is A, A.diagonal().tolist()
    (True, [4.0, 4.0, 4.0])
    """
    check_diagonal("A", A)
    if out is A:
        flat = writable_flat(A, "A")
        _check_holds(A, _dtype(flat, flat, alpha))
        flat *= alpha
        return A
    if out is not None:
        return add(A, A, alpha, 0, out=out)
    if A._source is not None:
        base, taken = A._source
        return scale(base, alpha.conjugate() if taken == "C" else alpha)._transpose_of(taken)
    return A._with_data(alpha * A.data)


@at_home
def drop_empty_diagonals(A: Any) -> Any:
    """A without the diagonals whose stored values are all zero; A itself where there are none."""
    check_diagonal("A", A)
    half = is_halved(A)
    table = stored_table(A, half)
    xp = array_api_compat.array_namespace(table.flat)
    keep = np.zeros(len(table.offsets), dtype=bool)
    for k, (at, offset) in enumerate(zip(table.base.tolist(), table.offsets.tolist(), strict=True)):
        lo, hi = diagonal_range(offset, *A.shape)
        keep[k] = bool(xp.any(table.flat[at + lo : at + hi] != 0))
    if keep.all():
        return A
    kept = DiagonalTable(table.flat, table.base[keep], table.offsets[keep], table.conj)
    layout = ResultLayout(str(A.format), A.shape, kept.offsets)
    flat = zeros_for(layout, table.flat, table.flat.dtype)
    for to, source, offset in zip(layout.base.tolist(), kept.base.tolist(), kept.offsets.tolist(), strict=True):
        lo, hi = diagonal_range(offset, *A.shape)
        flat[to + lo : to + hi] = values_at(kept, source + lo, source + hi)
    return layout.build(flat, half)


def _combine(A: Any, B: Any, chosen: Offsets, scalars: tuple[complex, ...], write: Write, out: Any) -> Any:
    """Fill a new matrix, or ``out``, diagonal by diagonal."""
    check_diagonal("A", A)
    check_diagonal("B", B)
    check_together(A, B)
    if A.shape != B.shape:
        raise ValueError(f"elementwise operations need one shape, got {A.shape} and {B.shape}")
    dtype = _dtype(A.data, B.data, *scalars)
    if out is None:
        return merge([A, B], chosen, dtype, write, whole=bool(np.isfinite(scalars).all()))
    half, tables, offsets = operands([A, B], chosen)
    fill(_target(A, B, offsets, dtype, half, out), A.shape, tables, offsets, write)
    return out


def _target(A: Any, B: Any, wanted: Any, dtype: Any, half: bool, out: Any) -> DiagonalTable:
    """Where in ``out`` the result goes, after every check."""
    check_diagonal("out", out)
    check_together(A, out)
    if out.shape != A.shape:
        raise ValueError(f"out has shape {out.shape}, the operands have shape {A.shape}")
    _check_holds(out, dtype)
    if is_halved(out) and not half:
        raise ValueError("out is stored as symmetric, but the result need not be")
    flat = writable_flat(out)
    for name, operand in (("A", A), ("B", B)):
        if operand is not out:
            check_apart(flat, name, table_of(operand).flat)
    table = stored_table(out, is_halved(out))
    missing = np.setdiff1d(wanted, table.offsets)
    if len(missing):
        raise ValueError(
            f"out does not store diagonal {missing[0]} of the result ({len(missing)} diagonals are missing)"
        )
    return table._replace(flat=flat)


def _dtype(x: Any, y: Any, *scalars: complex) -> Any:
    xp = array_api_compat.array_namespace(x)
    dtype = xp.result_type(x.dtype, y.dtype)
    wide = any(isinstance(s, complex | np.complexfloating) for s in scalars)
    return xp.result_type(dtype, xp.complex64) if wide else dtype


def _check_holds(out: Any, dtype: Any) -> None:
    xp = array_api_compat.array_namespace(out.data)
    if xp.result_type(out.dtype, dtype) != out.dtype:
        raise TypeError(f"out has dtype {out.dtype}, which cannot hold the result's {dtype}; use out.astype(...)")
