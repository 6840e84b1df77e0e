"""Sums, elementwise products and scaling inside the diagonal family.

The result's diagonals are exactly the union (sum) or the intersection (product) of the operands'; a diagonal that comes
out all zero stays, unless `drop_empty_diagonals` is called. Whole diagonals are array slices, so the same code runs on
NumPy and on CuPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat
import numpy as np

from spformats.formats.diagonal import diagonal_range
from spformats.linalg.diagonal_layout import ResultLayout
from spformats.linalg.diagonal_product import itemsize_of, result_format
from spformats.linalg.diagonal_table import DiagonalTable, check_diagonal, check_together, table_of, writable_flat

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
        If the shapes differ, or ``out`` lacks a diagonal.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(4)
    >>> C = sf.linalg.diagonal_elementwise.add(A, sf.eye(4, format="cds"), beta=3.0)
    >>> C.diagonal().tolist()
    [5.0, 5.0, 5.0, 5.0]
    """
    _check(A, B)
    symmetric = _both_symmetric(A, B)
    left, right = _table(A, symmetric), _table(B, symmetric)
    offsets = np.union1d(left.offsets, right.offsets)
    dtype = _dtype(left.flat, right.flat, alpha, beta)

    def diagonal(k: int, lo: int, hi: int) -> Any:
        x, y = _slice(left, k, lo, hi), _slice(right, k, lo, hi)
        if x is None:
            return beta * y
        return alpha * x if y is None else alpha * x + beta * y

    return _made(A, B, offsets, dtype, diagonal, symmetric, out)


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
    _check(A, B)
    symmetric = _both_symmetric(A, B)
    left, right = _table(A, symmetric), _table(B, symmetric)
    offsets = np.intersect1d(left.offsets, right.offsets)
    dtype = _dtype(left.flat, right.flat)
    return _made(
        A, B, offsets, dtype, lambda k, lo, hi: _slice(left, k, lo, hi) * _slice(right, k, lo, hi), symmetric, out
    )


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


def drop_empty_diagonals(A: Any) -> Any:
    """A without the diagonals whose stored values are all zero; A itself where there are none."""
    check_diagonal("A", A)
    symmetric = bool(getattr(A, "symmetric", False)) if A._source is None else False
    table = _table(A, symmetric)
    xp = array_api_compat.array_namespace(table.flat)
    ranges = [diagonal_range(o, *A.shape) for o in table.offsets.tolist()]
    keep = np.array(
        [
            bool(xp.any(table.flat[b + lo : b + hi] != 0))
            for b, (lo, hi) in zip(table.base.tolist(), ranges, strict=True)
        ],
        bool,
    )
    if keep.all():
        return A
    return _made(
        A, A, table.offsets[keep], table.flat.dtype, lambda k, lo, hi: _slice(table, k, lo, hi), symmetric, None
    )


def _check(A: Any, B: Any) -> None:
    check_diagonal("A", A)
    check_diagonal("B", B)
    check_together(A, B)
    if A.shape != B.shape:
        raise ValueError(f"elementwise operations need one shape, got {A.shape} and {B.shape}")


def _is_symmetric(A: Any) -> bool:
    return A._source is None and bool(getattr(A, "symmetric", False))


def _both_symmetric(A: Any, B: Any) -> bool:
    return _is_symmetric(A) and _is_symmetric(B)


def _table(A: Any, half: bool) -> DiagonalTable:
    table = table_of(A)
    if not half:
        return table
    upper = table.offsets >= 0
    return DiagonalTable(table.flat, table.base[upper], table.offsets[upper])


def _slice(table: DiagonalTable, offset: int, lo: int, hi: int) -> Any:
    k = int(np.searchsorted(table.offsets, offset))
    if k == len(table.offsets) or table.offsets[k] != offset:
        return None
    at = int(table.base[k])
    values = table.flat[at + lo : at + hi]
    return array_api_compat.array_namespace(values).conj(values) if table.conj else values


def _dtype(x: Any, y: Any, *scalars: complex) -> Any:
    xp = array_api_compat.array_namespace(x)
    dtype = xp.result_type(x.dtype, y.dtype)
    return (
        xp.result_type(dtype, xp.complex64)
        if any(isinstance(s, complex | np.complexfloating) for s in scalars)
        else dtype
    )


def _check_holds(out: Any, dtype: Any) -> None:
    xp = array_api_compat.array_namespace(out.data)
    if xp.result_type(out.dtype, dtype) != out.dtype:
        raise TypeError(f"out has dtype {out.dtype}, which cannot hold the result's {dtype}; use out.astype(...)")


def _made(
    A: Any,
    B: Any,
    offsets: np.ndarray[Any, Any],
    dtype: Any,
    diagonal: Callable[[int, int, int], Any],
    symmetric: bool,
    out: Any,
) -> Any:
    """Fill a new matrix, or ``out``, diagonal by diagonal."""
    if out is None:
        layout = ResultLayout(result_format(A, B), A.shape, offsets)
        layout.check_size(itemsize_of(dtype), on_host=A._namespace != "cupy")
        like = A._holder.data
        xp = array_api_compat.array_namespace(like)
        flat = xp.zeros(layout.size, dtype=dtype, device=array_api_compat.device(like))
        _fill(flat, layout.base, offsets, offsets, A.shape, diagonal)
        return layout.build(flat, symmetric)
    check_diagonal("out", out)
    check_together(A, out)
    if out.shape != A.shape:
        raise ValueError(f"out has shape {out.shape}, the operands have shape {A.shape}")
    _check_holds(out, dtype)
    if _is_symmetric(out) and not symmetric:
        raise ValueError("out is stored as symmetric, but the result need not be")
    target = _table(out, _is_symmetric(out))
    missing = np.setdiff1d(offsets, target.offsets)
    if len(missing):
        raise ValueError(
            f"out does not store diagonal {missing[0]} of the result ({len(missing)} diagonals are missing)"
        )
    _fill(writable_flat(out), target.base, target.offsets, offsets, A.shape, diagonal)
    return out


def _fill(
    flat: Any,
    base: np.ndarray[Any, Any],
    stored: np.ndarray[Any, Any],
    wanted: np.ndarray[Any, Any],
    shape: tuple[int, int],
    diagonal: Callable[[int, int, int], Any],
) -> None:
    present = np.isin(stored, wanted)
    for at, offset, has in zip(base.tolist(), stored.tolist(), present.tolist(), strict=True):
        lo, hi = diagonal_range(offset, *shape)
        flat[at + lo : at + hi] = diagonal(offset, lo, hi) if has else 0
