"""Products of CSR, ELL, JAD and PJAD in the layout in which they are stored."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats import _arrays
from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.product import Product, columns_layout
from spformats_plugins.cuda.row_blocks import share_out
from spformats_plugins.cuda.transpose import Rows, csr_transpose

BLOCK = 256
#: Rows longer than this are cut into pieces of this many entries, a thread block each.
PIECE = 4096
#: A pointer that the kernel does not use.
NULL = np.int64(0)


class Layout:
    """The arrays of a matrix stored by rows, as ``rows.cuh`` takes them."""

    def __init__(self, number: int, parts: tuple[Any, ...], shape: tuple[int, int], stride: int):
        self.number = number
        parts = tuple(map(runtime.packed, parts))
        self.data, self.indices, self.ptr, self.rlen, self.perm = parts
        self.rows, self.cols = shape
        self.stride = stride
        self.args = (*(NULL if part is None else part for part in parts), np.int64(stride))
        self.entries = self.indices.size

    def macros(self, dtype: Any, conjugate: bool) -> tuple[tuple[str, Any], ...]:
        once = runtime.passes_once(self.data)
        types = runtime.types(self.data.dtype, dtype, self.indices.dtype, conjugate, once)
        return (*types, ("LAYOUT", self.number), ("BSIZE", self.stride if self.number == 3 else 1), ("BLOCK", BLOCK))


def csr_layout(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Layout:
    return Layout(0, (data, indices, indptr, None, None), shape, 0)


def layout_of(A: Any) -> Layout:
    """How the kernels read A."""
    if A.format == "csr":
        return csr_layout(A.data, A.indices, A.indptr, A.shape)
    if A.format == "ell":
        data, indices = (A._library.asfortranarray(part) for part in (A.data, A.indices))
        return Layout(1, (data, indices, None, A.rlen.astype(indices.dtype, copy=False), None), A.shape, A.shape[0])
    rlen, perm = (part.astype(A.indices.dtype, copy=False) for part in (A.rlen, A.perm))
    if A.format == "jad" or A.sigma is None:
        return Layout(2, (A.data, A.indices, A.jd_ptr, rlen, perm), A.shape, 0)
    return Layout(3, (A.data, A.indices, A.block_ptr, rlen, perm), A.shape, A.bsize)


class Pieces:
    """Rows longer than ``limit`` (`PIECE`), cut up: one thread block sums a piece, one warp the pieces of a row."""

    def __init__(self, layout: Layout, limit: int | None = None):
        xp = _arrays.xp_of(layout.data)
        lengths = xp.diff(layout.ptr) if layout.number == 0 else layout.rlen
        self.rows = xp.flatnonzero(lengths > (PIECE if limit is None else limit))
        self.count = int(self.rows.shape[0])
        if not self.count:
            return
        counts = -(-lengths[self.rows].astype(np.int64) // PIECE)
        self.ptr = _arrays.pointers(counts)
        self.total = int(self.ptr[-1])
        owner = _arrays.rows_of(self.ptr)
        self.row_of_piece = self.rows[owner]
        self.first = (xp.arange(self.total) - self.ptr[owner]) * PIECE
        self.target = self.rows if layout.perm is None else layout.perm[self.rows].astype(np.int64)


def threads_per_row(layout: Layout) -> int:
    """Threads that share a row of ELL, JAD or PJAD."""
    mean = layout.entries / max(1, layout.rows)
    share = 1
    # rows side by side: sharing pays only where there are too few rows to fill the device
    while share < 8 and layout.rows * share < 1 << 18 and mean >= 8 * share:
        share *= 2
    return share


def combine(macros: tuple[tuple[str, Any], ...]) -> runtime.Launch:
    kept = tuple(m for m in macros if m[0] not in ("LAYOUT", "BSIZE", "SHARE", "PER_THREAD", "ATOMIC"))
    return runtime.kernel("combine.cuh", "combine", kept)


def spmv(layout: Layout, dtype: Any, conjugate: bool, share: int | None = None, split: bool = True) -> Product:
    """The product with a vector; ``share`` fixes the threads per row, without ``split`` long rows stay whole."""
    if layout.number == 0:
        return csr_spmv(layout, dtype, conjugate)
    share = threads_per_row(layout) if share is None else share
    macros = (*layout.macros(dtype, conjugate), ("SHARE", share), ("ATOMIC", 0))
    grid, rows, args = (-(-layout.rows // (BLOCK // share)),), np.int64(layout.rows), layout.args
    pieces = Pieces(layout) if split else None
    main = runtime.kernel("rows.cuh", "spmv", macros)
    cuts = pieces is not None and pieces.count > 0
    limit = np.int64(PIECE if cuts else np.iinfo(np.int64).max)

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        main(grid, (BLOCK,), (rows, limit, *args, x, y, alpha, beta, np.int32(mode)))

    return with_pieces(layout, pieces, launch, dtype, macros)


def with_pieces(layout: Layout, pieces: Pieces | None, main: Any, dtype: Any, macros: Any) -> Product:
    """The product whose short rows `main` computes and whose long rows come in pieces."""
    result, args = np.result_type(layout.data.dtype, dtype), layout.args
    if pieces is None or not pieces.count:
        return Product(layout.rows, result, main, layout.data)
    cut = runtime.kernel("rows.cuh", "segments", macros)
    size, count, one = np.int64(PIECE), np.int64(pieces.count), np.int64(1)
    head = size, pieces.row_of_piece, pieces.first, *args
    add, add_grid = combine(macros), (-(-pieces.count * 32 // BLOCK),)
    atomic = dict(macros)["ATOMIC"]

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        main(x, y, alpha, beta, mode)
        if atomic:
            cut((pieces.total,), (BLOCK,), (*head, x, y, alpha))
            return
        # allocated per call, so that products of one matrix may run on several streams at once
        partial = _arrays.xp_of(y).empty(pieces.total, dtype=result)
        cut((pieces.total,), (BLOCK,), (*head, x, partial, alpha))
        add(add_grid, (BLOCK,), (count, one, pieces.target, pieces.ptr, partial, y, alpha, beta, np.int32(mode)))

    return Product(layout.rows, result, launch, layout.data)


def csr_spmv(
    layout: Layout,
    dtype: Any,
    conjugate: bool,
    per_thread: int | None = None,
    share: int | None = None,
    atomic: int = 0,
) -> Product:
    """The product of CSR with a vector; `per_thread`, entries a thread reads, and `share`, threads a row, can be fixed.

    With ``atomic`` the pieces of long rows are added up in any order.
    """
    per_thread = entries_per_thread(layout.entries, layout.rows) if per_thread is None else per_thread
    if share is None:
        share = 1
        while share < 32 and layout.entries >= 2 * share * per_thread * layout.rows:
            share *= 2
    blocks = share_out(_arrays.xp_of(layout.ptr), layout.ptr, BLOCK * per_thread)
    macros = (*layout.macros(dtype, conjugate), ("SHARE", share), ("PER_THREAD", per_thread), ("ATOMIC", atomic))
    kernel = runtime.kernel("rows.cuh", "spmv", macros)
    grid, head = (blocks.starts.shape[0] - 1,), (blocks.starts, np.int64(blocks.limit), *layout.args)

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        kernel(grid, (BLOCK,), (*head, x, y, alpha, beta, np.int32(mode)))

    return with_pieces(layout, Pieces(layout, blocks.limit), launch, dtype, macros)


def entries_per_thread(entries: int, rows: int) -> int:
    """Entries a thread of the CSR kernel reads: many in flight, but enough blocks for every multiprocessor.

    Short rows end the reading early: a thread adds up whole rows, and fewer of them keep more threads busy.
    """
    per_thread = 8 if entries >= 12 * rows else 4
    while per_thread > 2 and entries < 512 * BLOCK * per_thread:
        per_thread //= 2
    return per_thread


def spmm(layout: Layout, dtype: Any, conjugate: bool) -> Product:
    """The product with a matrix of any number of columns."""
    macros, result, args = layout.macros(dtype, conjugate), np.result_type(layout.data.dtype, dtype), layout.args
    pieces = Pieces(layout)
    limit, rows = np.int64(PIECE), np.int64(layout.rows)

    @functools.lru_cache(maxsize=16)
    def compiled(k: int) -> tuple[tuple[runtime.Launch, runtime.Launch], int, int]:
        width, lanes, tiles = columns_layout(dtype, k, 32 if layout.number or layout.entries < 16 * layout.rows else 16)
        shape = (*macros, ("LANES", lanes), ("COLS", width))
        made = (runtime.kernel("rows.cuh", "spmm", shape), runtime.kernel("rows.cuh", "segments", shape))
        return made, -(-layout.rows // (BLOCK // lanes)), tiles

    def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        k = x.shape[1]
        (main, cut), blocks, tiles = compiled(k)
        main((blocks, tiles), (BLOCK,), (rows, limit, *args, x, y, alpha, beta, np.int32(mode), np.int64(k)))
        if pieces.count:
            partial = _arrays.xp_of(y).empty(pieces.total * k, dtype=result)
            piece_args = (limit, pieces.row_of_piece, pieces.first, *args, x, partial, np.int64(k))
            cut((pieces.total, tiles), (BLOCK,), piece_args)
            sizes = np.int64(pieces.count), np.int64(k)
            tail = (*sizes, pieces.target, pieces.ptr, partial, y, alpha, beta, np.int32(mode))
            combine(macros)((-(-pieces.count * k * 32 // BLOCK),), (BLOCK,), tail)

    return Product(layout.rows, result, launch, layout.data)


def transposed_layout(A: Any) -> Layout:
    """CSR arrays of the transpose, kept as a plan of A."""
    rows: Rows = A._plan("cuda transpose", csr_transpose)
    return csr_layout(*rows)


@dispatch.register("spmv", ("csr", "ell", "jad"), "cupy", name="cuda", priority=10, prepare=True)
@runtime.prepared_at_home
def prepare_spmv(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ x`` for a vector of this dtype; a transposed one gathers along a kept transpose."""
    return spmv(layout_of(A) if trans == "N" else transposed_layout(A), dtype, trans == "C")


@dispatch.register("spmm", ("csr", "ell", "jad", "pjad"), "cupy", name="cuda", priority=10, prepare=True)
@runtime.prepared_at_home
def prepare_spmm(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ X`` for a matrix of this dtype, of any number of columns."""
    return spmm(layout_of(A) if trans == "N" else transposed_layout(A), dtype, trans == "C")


@dispatch.register(
    "spmv",
    "pjad",
    "cupy",
    name="paper",
    priority=-1,
    prepare=True,
    supports=lambda A, dtype, trans: trans == "N" or "the papers' kernel has no transposed product",
)
@runtime.prepared_at_home
def prepare_paper(A: Any, dtype: Any, trans: str) -> Product:
    """The kernel of papers 001 and 002: one thread a row, in the layout as stored."""
    return spmv(layout_of(A), dtype, False, share=1, split=False)
