"""Sparse × sparse products of CSR and BSR arrays: the pattern by hash tables, then the values.

Rows of the result are sorted into classes by size, and each class has its number of threads a row and its place for
the hash table: shared memory while it fits. Columns are counted, then found once more and sorted where the table is.
The values are added up without atomics, and rows with much work in pieces, so the same bits come in every run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spformats import dispatch
from spformats.formats import BSR, CSR, _arrays
from spformats.formats.device import at_home
from spformats_plugins.cuda import runtime

SOURCE = "spgemm.cuh"
BLOCK = 256
#: (slots of a row's hash table in shared memory, threads a row), with half the slots for 8-byte indices; rows too long
#: for all of them have their tables in global memory.
CLASSES = ((32, 8), (128, 16), (512, 32), (2048, 128), (8192, 512))
#: Threads of a row whose table lies in global memory, and bytes of all such tables.
THREADS, TABLES = 512, 1 << 28
#: Bytes of shared memory of a warp in which the values of rows are added up; larger ones are where the result is.
SUMS = 24 << 10
#: Bytes of shared memory of a block.
SHARED = 48 << 10
#: What a piece of a long row costs at least (`cost_of` in the source), and how many pieces of that size fill a GPU.
LONG, PIECES = 1 << 12, 1 << 13
#: Most entries that the pieces of all rows take beside the result.
SCRATCH = 1 << 25

#: Macros of a kernel.
Macros = tuple[tuple[str, Any], ...]


@dispatch.register("spgemm", ("csr", "bsr"), "cupy", name="cuda")
@at_home
def spgemm(A: Any, B: Any) -> Any:
    """``A @ B`` of two CSR arrays, or of two BSR arrays whose blocks fit."""
    return _Product(A, B).result()


def classes(index: Any) -> list[tuple[int, int, int]]:
    """For each class of rows but the last: most columns, slots of the hash table, threads a row."""
    slots = [(slots * 4 // np.dtype(index).itemsize, group) for slots, group in CLASSES]
    return [(slots * 7 // 8, slots, group) for slots, group in slots]


def pattern_macros(slots: int, group: int, fill: int) -> Macros:
    """The shape of `pattern` for a class of rows; 0 slots: tables in global memory."""
    return ("GROUP", group), ("BLOCK", BLOCK if group <= 32 else group), ("TABLE", slots), ("FILL", fill)


def values_macros(most: int, group: int, size: int, value: Any, index: Any) -> Macros:
    """The shape of `values` for rows of at most ``most`` columns and blocks of ``size`` values; 0: of any length."""
    group = min(32, max(group, 8 << (size - 1).bit_length()))
    warp = 32 // group * most * (size * np.dtype(value).itemsize + np.dtype(index).itemsize)
    if not 0 < warp <= SUMS:
        return ("GROUP", 32), ("BLOCK", BLOCK), ("PLACES", 0), ("PIECES", 0)
    block = BLOCK
    while block // 32 * warp > SHARED:
        block //= 2
    return ("GROUP", group), ("BLOCK", block), ("PLACES", most), ("PIECES", 0)


class _Classes(NamedTuple):
    """Rows of the result, by class."""

    rows: list[Any]
    largest: int
    """most columns of any row"""
    total: int
    """columns of all rows"""
    last: int
    """columns of the rows of the last class"""
    cost: int
    """largest cost of a row's values"""
    costs: int
    """cost of all values"""


class _Product:
    """One product: the arrays of both operands, and how many products each row of the result takes."""

    def __init__(self, A: Any, B: Any):
        self.A, self.B = A, B
        self.xp = _arrays.xp_of(A.data)
        self.index = np.result_type(A.indices.dtype, B.indices.dtype)
        self.a_cols, self.b_cols = (runtime.packed(M.indices).astype(self.index, copy=False) for M in (A, B))
        left: tuple[int, int] = getattr(A, "blocksize", (1, 1))
        self.height, self.inner = left
        self.width: int = getattr(B, "blocksize", (1, 1))[1]
        self.rows, self.cols = A.indptr.shape[0] - 1, -(-B.shape[1] // self.width)
        self.types = runtime.types(A.dtype, B.dtype, self.index, once=False)
        self.classes = classes(self.index)
        self.a_ptr, self.b_ptr = runtime.packed(A.indptr), runtime.packed(B.indptr)
        self.pattern_arrays = self.a_ptr, self.a_cols, self.b_ptr, self.b_cols

    def result(self) -> Any:
        """The product, in the format of the operands."""
        A, B = self.A, self.B
        blocks = isinstance(A, BSR)
        dtype = np.result_type(A.dtype, B.dtype)
        if self.a_cols.size and self.b_cols.size:
            self.work = self._measured()
            c_ptr, c_cols, by_length = self._pattern()
            data = self.xp.empty(c_cols.shape + ((self.height, self.width) if blocks else ()), dtype=dtype)
            self._values(by_length, c_ptr, c_cols, data)
        else:
            c_ptr, c_cols = self.xp.zeros(self.rows + 1, dtype=np.int64), self.xp.empty(0, dtype=self.index)
            data = self.xp.empty((0, self.height, self.width) if blocks else 0, dtype=dtype)
        shape = (A.shape[0], B.shape[1])
        if blocks:
            indices = c_cols.astype(_arrays.index_dtype(shape[1]), copy=False)
            parts = {"data": data, "indices": indices, "indptr": c_ptr}
            return BSR._build(parts, shape, blocksize=(self.height, self.width))
        return CSR._made(data, c_cols, c_ptr, shape)

    def _launch(self, function: str, macros: Macros, grid: tuple[int, ...], *args: Any) -> None:
        block = (dict(macros)["BLOCK"],)
        runtime.kernel(SOURCE, function, (*self.types, *macros))(grid, block, args)

    def _limits(self, group: int) -> Macros:
        limits = ",".join(str(most) for most, _, _ in self.classes)
        return ("GROUP", group), ("BLOCK", BLOCK), ("LIMITS", limits)

    def _measured(self) -> Any:
        work = self.xp.empty(self.rows, dtype=np.int64)
        group = 8 if self.a_cols.size < 16 * self.rows else 32
        grid = (-(-self.rows * group // BLOCK),)
        self._launch("measure", self._limits(group), grid, np.int64(self.rows), *self.pattern_arrays[:3], work)
        return work

    def _sorted_by(self, bound: Any) -> _Classes:
        """Classes by a number of columns for each row. The host waits for the device here, and where rows are cut."""
        kind = self.xp.empty(self.rows, dtype=np.int8)
        behind = len(self.classes)
        totals = self.xp.zeros(behind + 5, dtype=np.int64)
        grid = (min(256, -(-self.rows // BLOCK)),)
        sizes = np.int64(self.cols), np.int64(self.height * self.width)
        args = np.int64(self.rows), bound, *sizes, self.work, self.a_ptr, kind, totals
        self._launch("classify", self._limits(32), grid, *args)
        figures = totals.tolist()
        stops = [*(self.rows - count for count in figures[:behind]), self.rows]
        starts = [0, *stops[:-1]]
        alone = any(stop - start == self.rows for start, stop in zip(starts, stops, strict=True))
        order = self.xp.arange(self.rows) if alone else kind.argsort()
        rows = [order[start:stop] for start, stop in zip(starts, stops, strict=True)]
        return _Classes(rows, *figures[behind:])

    def _pattern(self) -> tuple[Any, Any, _Classes]:
        """Pointers and columns of the result, and its rows by their lengths."""
        lengths = self.xp.empty(self.rows, dtype=np.int64)
        self._found(0, self._sorted_by(self.work), self.work, lengths, lengths, self.a_cols)
        c_ptr, found = _arrays.pointers(lengths), self._sorted_by(lengths)
        c_cols = self.xp.empty(found.total, dtype=self.index)
        self._found(1, found, lengths, lengths, c_ptr, c_cols)
        return c_ptr, c_cols, found

    def _found(self, fill: int, found: _Classes, bound: Any, lengths: Any, c_ptr: Any, c_cols: Any) -> None:
        for rows, (_, slots, group) in zip(found.rows, [*self.classes, (0, 0, THREADS)], strict=True):
            if not rows.size:
                continue
            macros = pattern_macros(slots, group, fill)
            grid, tables, room = -(-rows.size * group // dict(macros)["BLOCK"]), self.a_cols, 0
            key_ptr = keys = lengths
            if not slots:
                room = 1 << max(3, (-(-8 * found.largest // 7) - 1).bit_length())
                grid = max(1, min(grid, TABLES // (room * self.index.itemsize)))
                tables = self.xp.empty(grid * room, dtype=self.index)
                if fill:
                    key_ptr, keys = self._keys(lengths[rows], found.last)
            head = np.int64(rows.size), rows, bound, self.work, *self.pattern_arrays, np.int64(self.cols), lengths
            self._launch("pattern", macros, (grid,), *head, c_ptr, c_cols, key_ptr, keys, tables, np.int64(room))
            if fill and not slots:
                keys.sort()
                number = keys // self.cols
                places = (c_ptr[rows] - key_ptr[:-1])[number] + self.xp.arange(found.last)
                c_cols[places] = (keys - number * self.cols).astype(self.index)

    def _keys(self, lengths: Any, total: int) -> tuple[Any, Any]:
        """Where each of these rows writes its columns with its number, to be sorted afterwards."""
        if lengths.size * self.cols > np.iinfo(np.int64).max:
            raise ValueError(
                f"the product has {lengths.size} long rows of {self.cols} columns, more places than a 64-bit number "
                "tells apart; multiply parts of A"
            )
        return _arrays.pointers(lengths), self.xp.empty(total, dtype=np.int64)

    def _values(self, found: _Classes, c_ptr: Any, c_cols: Any, data: Any) -> None:
        """Add up rows of the result, and those that cost far more than others in pieces; see `cut` in the source."""
        size = self.height * self.width
        blocks = ("HEIGHT", self.height), ("INNER", self.inner), ("WIDTH", self.width)
        limit = max(LONG, found.costs // PIECES)
        total, pieces, room, share, scratch = 0, c_ptr, c_ptr, c_ptr, 0
        once = (("GROUP", 32), ("BLOCK", BLOCK), *blocks)
        while found.cost > 2 * limit:
            number, entries, share = self.xp.empty((3, self.rows), dtype=np.int64)
            args = np.int64(self.rows), np.int64(limit), self.work, self.a_ptr, c_ptr, number, entries, share
            self._launch("cut", once, (-(-self.rows // BLOCK),), *args)
            pieces, room = _arrays.pointers(number), _arrays.pointers(entries)
            total, scratch = self.xp.stack([pieces[-1], room[-1]]).tolist()
            if scratch * size <= SCRATCH:
                break
            total, limit = 0, 2 * limit
        a, b = runtime.packed(self.A.data), runtime.packed(self.B.data)
        operands = self.a_ptr, self.a_cols, a, self.b_ptr, self.b_cols, b, c_ptr, c_cols

        def add_up(rows: Any, most: int, group: int, cut: int, out: Any) -> None:
            macros = values_macros(most, group, size, data.dtype, self.index)
            shape = {**dict(macros), "PIECES": cut}
            grid = -(-rows.size * shape["GROUP"] // shape["BLOCK"])
            head = np.int64(rows.size), rows, pieces, room, share, np.int64(limit), self.work
            self._launch("values", (*shape.items(), *blocks), (grid,), *head, *operands, out)

        for rows, (most, _, group) in zip(found.rows, [*self.classes, (0, 0, 32)], strict=True):
            if rows.size:
                add_up(rows, most, group, 0, data)
        if total:
            owners = self.xp.searchsorted(pieces, self.xp.arange(total), side="right") - 1
            sums = self.xp.empty(scratch * size, dtype=data.dtype)
            add_up(owners, 0, 32, 1, sums)
            self._launch("combine", once, (total, 16), owners, pieces, room, c_ptr, sums, data)
