"""Bring diagonal matrices together entry by entry, over the union or the intersection of their diagonals.

Each diagonal of each operand is a slice of its values, so operands in different formats, or transposed, are read where
they lie, and the result is written where its own format wants it. The same code runs on every array library. It serves
the elementwise functions of the array API and the sums and products in place of `diagonal_elementwise`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import array_api_compat
import numpy as np

from spformats.formats.diagonal import diagonal_range
from spformats.linalg.diagonal_layout import ResultLayout, result_format
from spformats.linalg.diagonal_run import itemsize_of
from spformats.linalg.diagonal_table import DiagonalTable, table_of

#: ``write(target, values)`` fills a diagonal of the result from the operands' values there, None where not stored.
Write = Callable[[Any, list[Any]], None]
#: Which diagonals the result has, from two sets of offsets: `numpy.union1d` or `numpy.intersect1d`.
Offsets = Callable[[Any, Any], Any]


def apply_over(function: Callable[..., Any], arrays: list[Any], chosen: Offsets) -> Any:
    """``function(values of A, values of B, …)`` as a new matrix, in the format all have or CDS.

    ``function`` must give 0 where every argument is 0; with the intersection, where any one is.
    """
    xp = array_api_compat.array_namespace(arrays[0].data)
    zeros = [xp.zeros((1,), dtype=A.dtype, device=array_api_compat.device(A.data)) for A in arrays]

    def write(target: Any, values: list[Any]) -> None:
        target[...] = function(*(zero if v is None else v for v, zero in zip(values, zeros, strict=True)))

    return merge(arrays, chosen, function(*zeros).dtype, write)


def merge(arrays: list[Any], chosen: Offsets, dtype: Any, write: Write, whole: bool = True) -> Any:
    """A new matrix filled by ``write``; stored as symmetric where every operand is.

    Where all keep the same diagonals at the same places, they are written in one call, padding included: ``write`` must
    make zero of zeros, or ``whole`` be False.
    """
    half, tables, offsets = operands(arrays, chosen)
    layout = ResultLayout(functools.reduce(result_format, (str(A.format) for A in arrays)), arrays[0].shape, offsets)
    flat = zeros_for(layout, tables[0].flat, dtype)
    if whole and all(_kept_as(table, layout) for table in tables):
        write(flat, [table.flat for table in tables])
        return layout.build(flat, half)
    fill(DiagonalTable(flat, layout.base, offsets), arrays[0].shape, tables, offsets, write)
    return layout.build(flat, half)


def _kept_as(table: DiagonalTable, layout: ResultLayout) -> bool:
    """Whether the values lie as the layout has them, to be read as they are."""
    return (
        not table.conj
        and table.flat.shape == (layout.size,)
        and np.array_equal(table.offsets, layout.offsets)
        and np.array_equal(table.base, layout.base)
    )


def operands(arrays: list[Any], chosen: Offsets) -> tuple[bool, list[DiagonalTable], np.ndarray[Any, Any]]:
    """Whether half of a symmetric result is enough, the operands' tables, and the result's offsets."""
    half = all(is_halved(A) for A in arrays)
    tables = [stored_table(A, half) for A in arrays]
    offsets = functools.reduce(chosen, (table.offsets for table in tables))
    return half, tables, offsets.astype(np.int64)


def fill(
    target: DiagonalTable,
    shape: tuple[int, int],
    tables: list[DiagonalTable],
    offsets: np.ndarray[Any, Any],
    write: Write,
) -> None:
    """Write every diagonal of ``target``; those that are not among ``offsets`` become 0."""
    present = set(offsets.tolist())
    places = [dict(zip(table.offsets.tolist(), table.base.tolist(), strict=True)) for table in tables]
    for at, offset in zip(target.base.tolist(), target.offsets.tolist(), strict=True):
        lo, hi = diagonal_range(offset, *shape)
        piece = target.flat[at + lo : at + hi]
        if offset not in present:
            piece[...] = 0
            continue
        found = zip(tables, (place.get(offset) for place in places), strict=True)
        write(piece, [None if base is None else values_at(table, base + lo, base + hi) for table, base in found])


def is_halved(A: Any) -> bool:
    """Whether only the diagonals from the main one up are stored."""
    return A._source is None and bool(getattr(A, "symmetric", False))


def stored_table(A: Any, half: bool) -> DiagonalTable:
    """The table of A, of its upper half only where that is all the result needs."""
    table = table_of(A)
    if not half:
        return table
    upper = table.offsets >= 0
    return DiagonalTable(table.flat, table.base[upper], table.offsets[upper])


def values_at(table: DiagonalTable, first: int, last: int) -> Any:
    """The values of positions [first, last), as the table says they are read."""
    values = table.flat[first:last]
    return array_api_compat.array_namespace(values).conj(values) if table.conj else values


def zeros_for(layout: ResultLayout, like: Any, dtype: Any) -> Any:
    """Zeros for the values of a layout, on the device of ``like``; MemoryError where they cannot fit."""
    xp = array_api_compat.array_namespace(like)
    layout.check_size(itemsize_of(dtype), on_host=isinstance(like, np.ndarray))
    return xp.zeros(layout.size, dtype=dtype, device=array_api_compat.device(like))
