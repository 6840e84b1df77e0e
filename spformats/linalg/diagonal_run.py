"""Run a planned diagonal product: check the output, choose the kernel, hand it the tables.

The kernels are found under the operation ``"diagmm"``, by the format of A and the library of its arrays:

    kernel(A, pairs, left, right, out, alpha, beta) -> flat

``pairs`` is a `DiagonalPairs`, ``left`` and ``right`` are the `DiagonalTable` of each operand, and ``out`` is a
`ProductOutput`. The kernel writes ``alpha * sum + beta * old`` to every entry of every diagonal in ``pairs.offsets``
(the old values are never read when beta is 0); where ``out.flat`` is None it makes that array itself, zero in the
slots that belong to no entry.

A kernel registered with ``prepare=True`` is called once per structure of its operands, without values:

    prepare(A, pairs, left, right, out) -> launch
    launch(a, b, c, alpha, beta) -> flat

where a, b and c are the flat values of the operands and the output (c may be None). It must not keep A, nor the
``flat`` of a table. What was found or prepared is kept with the pairs, so that the next product of matrices of these
structures does no more than look it up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from spformats import dispatch
from spformats.linalg.diagonal_layout import ResultLayout
from spformats.linalg.diagonal_plan import DiagonalPairs
from spformats.linalg.diagonal_table import (
    DiagonalTable,
    check_apart,
    check_diagonal,
    check_together,
    table_of,
    writable_flat,
)


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
    shape : tuple of int
        The shape in which the result keeps its values; a kernel that allocates may allocate it so.
    """

    flat: Any
    base: np.ndarray[Any, Any]
    size: int
    dtype: Any
    padded: bool
    shape: tuple[int, ...]


#: ``launch(A, left, right, c, alpha, beta) -> flat`` on two tables and the output's flat values (None: allocate).
Launch = Callable[[Any, DiagonalTable, DiagonalTable, Any, complex, complex], Any]
#: Launches kept with one table of pairs.
KEPT = 32


def launch_for(
    A: Any, pairs: DiagonalPairs, left: DiagonalTable, right: DiagonalTable, where: Any, make: Callable[[], Any]
) -> Launch:
    """The launch of the kernel that takes these operands, found once.

    Parameters
    ----------
    where : hashable
        All that the output depends on beside pairs and operands.
    make : callable
        ``make() -> (pairs, ProductOutput)`` for that output, called when the launch is not known yet.
    """
    if left.structure is None or right.structure is None:
        return _launch(A, make(), left, right)
    settings = dispatch.current_config().kernel, dispatch.generation()
    key = left.structure, right.structure, where, settings
    found: Launch | None = pairs.launches.get(key)
    if found is None:
        while len(pairs.launches) >= KEPT:
            pairs.launches.pop(next(iter(pairs.launches)), None)
        found = pairs.launches[key] = _launch(A, make(), left, right)
    return found


def _launch(A: Any, made: tuple[DiagonalPairs, ProductOutput], left: DiagonalTable, right: DiagonalTable) -> Launch:
    pairs, out = made
    kernel = dispatch.select("diagmm", A, A._namespace, pairs, left, right, out)
    function = kernel.function
    if kernel.prepare:
        prepared = function(A, pairs, left, right, out)
        return lambda A, left, right, c, alpha, beta: prepared(left.flat, right.flat, c, alpha, beta)
    return lambda A, left, right, c, alpha, beta: function(
        A, pairs, left, right, out if c is None else out._replace(flat=c), alpha, beta
    )


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
    launch = launch_into_new(A, pairs, left, right, layout, dtype, symmetric)
    try:
        flat = launch(A, left, right, None, alpha, 0)
    except MemoryError as error:
        raise MemoryError(layout.complaint(itemsize_of(dtype))) from error
    return layout.build(flat, symmetric)


def launch_into_new(
    A: Any,
    pairs: DiagonalPairs,
    left: DiagonalTable,
    right: DiagonalTable,
    layout: ResultLayout,
    dtype: Any,
    symmetric: bool = False,
) -> Launch:
    """The launch that allocates a result in ``layout``."""

    def make() -> tuple[DiagonalPairs, ProductOutput]:
        layout.check_size(itemsize_of(dtype), on_host=isinstance(left.flat, np.ndarray))
        return pairs, ProductOutput(None, layout.base, layout.size, dtype, layout.padded, layout.data_shape)

    return launch_for(A, pairs, left, right, (layout.format, symmetric, dtype), make)


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
    flat = writable_flat(out)
    place, symmetric = table_of(out), getattr(out, "symmetric", False)

    def make() -> tuple[DiagonalPairs, ProductOutput]:
        check_together(A, out)
        rows, _, cols = pairs.shape
        if out.shape != (rows, cols):
            raise ValueError(f"out has shape {out.shape}, the product has shape {(rows, cols)}")
        xp = array_api_compat.array_namespace(left.flat)
        if xp.result_type(out.dtype, dtype) != out.dtype or (wide and not out._is_complex):
            raise TypeError(f"out has dtype {out.dtype}, which cannot hold the result's {dtype}; use out.astype(...)")
        base, offsets = place.base, place.offsets
        if symmetric:
            if triangle != "U":
                raise ValueError(
                    "out stores its upper triangle only (symmetric=True), but the product need not be symmetric"
                )
            base, offsets = np.arange(len(out.offsets), dtype=np.int64) * rows, out.offsets
        if triangle is not None:
            keep = offsets >= 0 if triangle == "U" else offsets <= 0
            base, offsets = base[keep], offsets[keep]
        base, offsets = np.ascontiguousarray(base), np.ascontiguousarray(offsets)
        return pairs.embed(offsets), ProductOutput(None, base, int(flat.shape[0]), out.dtype, False, out.data.shape)

    wide = isinstance(beta, complex)
    launch = launch_for(A, pairs, left, right, (place.structure, symmetric, triangle, dtype, wide), make)
    check_apart(flat, "A", left.flat)
    check_apart(flat, "B", right.flat)
    launch(A, left, right, flat, alpha, beta)
    return out
