"""Run a planned diagonal product: check the output, choose the kernel, hand it the tables.

The kernels are found under the operation ``"diagmm"``, by the format of A and the library of its arrays:

    kernel(A, pairs, left, right, out, alpha, beta) -> flat

``pairs`` is a `DiagonalPairs`, ``left`` and ``right`` are the `DiagonalTable` of each operand, and ``out`` is a
`ProductOutput`. The kernel writes ``alpha * sum + beta * old`` to every entry of every diagonal in ``pairs.offsets``
(the old values are never read when beta is 0); where ``out.flat`` is None it makes that array itself, zero in the
slots that belong to no entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from spformats import dispatch
from spformats.linalg.diagonal_layout import ResultLayout
from spformats.linalg.diagonal_plan import DiagonalPairs
from spformats.linalg.diagonal_table import DiagonalTable, check_apart, check_diagonal, check_together, writable_flat


class ProductOutput(NamedTuple):
    """Where a kernel writes.

    Attributes
    ----------
    flat : 1-D array or None
        The values to update, or None to have the kernel allocate them.
    base : int64[nd]
        Entry ``(i, i + pairs.offsets[k])`` is ``flat[base[k] + i]``.
    size : int
    dtype : dtype of the result, which is also that of the sums
    padded : bool
        Whether some of the ``size`` slots belong to no entry.
    """

    flat: Any
    base: np.ndarray[Any, Any]
    size: int
    dtype: Any
    padded: bool


def product_dtype(left: DiagonalTable, right: DiagonalTable, alpha: complex) -> Any:
    """The result type: NumPy's promotion of the operands, made complex by a complex alpha."""
    if left.flat.dtype == right.flat.dtype and not isinstance(alpha, complex | np.complexfloating):
        return left.flat.dtype
    xp = array_api_compat.array_namespace(left.flat)
    dtype = xp.result_type(left.flat.dtype, right.flat.dtype)
    return xp.result_type(dtype, xp.complex64) if isinstance(alpha, complex | np.complexfloating) else dtype


def itemsize_of(dtype: Any) -> int:
    """Bytes of one value; array libraries without ``dtype.itemsize`` print the type's name."""
    return getattr(dtype, "itemsize", None) or np.dtype(str(dtype).rpartition(".")[2]).itemsize


def run(
    A: Any,
    pairs: DiagonalPairs,
    left: DiagonalTable,
    right: DiagonalTable,
    layout: ResultLayout,
    dtype: Any,
    alpha: complex,
    symmetric: bool = False,
) -> Any:
    """Allocate and compute a result in ``layout``."""
    itemsize = itemsize_of(dtype)
    layout.check_size(itemsize, on_host=isinstance(left.flat, np.ndarray))
    out = ProductOutput(None, layout.base, layout.size, dtype, layout.padded)
    try:
        flat = dispatch.call("diagmm", A, pairs, left, right, out, alpha, 0)
    except MemoryError as error:
        raise MemoryError(layout.complaint(itemsize)) from error
    return layout.build(flat, symmetric)


def run_into(
    A: Any,
    pairs: DiagonalPairs,
    left: DiagonalTable,
    right: DiagonalTable,
    out: Any,
    dtype: Any,
    alpha: complex,
    beta: complex,
    triangle: str | None = None,
) -> Any:
    """Update ``out`` in place: all its diagonals, or one triangle's ("U": offsets of at least 0, "L": at most 0)."""
    check_diagonal("out", out)
    check_together(A, out)
    rows, _, cols = pairs.shape
    if out.shape != (rows, cols):
        raise ValueError(f"out has shape {out.shape}, the product has shape {(rows, cols)}")
    xp = array_api_compat.array_namespace(left.flat)
    if xp.result_type(out.dtype, dtype) != out.dtype or (isinstance(beta, complex) and not out._is_complex):
        raise TypeError(f"out has dtype {out.dtype}, which cannot hold the result's {dtype}; use out.astype(...)")
    flat = writable_flat(out)
    check_apart(flat, "A", left.flat)
    check_apart(flat, "B", right.flat)
    if getattr(out, "symmetric", False):
        if triangle != "U":
            raise ValueError(
                "out stores its upper triangle only (symmetric=True), but the product need not be symmetric"
            )
        base, offsets = np.arange(len(out.offsets), dtype=np.int64) * rows, out.offsets
    else:
        _, base, offsets = out._diagonals("N")
    if triangle is not None:
        keep = offsets >= 0 if triangle == "U" else offsets <= 0
        base, offsets = base[keep], offsets[keep]
    target = ProductOutput(flat, np.ascontiguousarray(base), int(flat.shape[0]), out.dtype, False)
    dispatch.call("diagmm", A, pairs.embed(np.ascontiguousarray(offsets)), left, right, target, alpha, beta)
    return out
