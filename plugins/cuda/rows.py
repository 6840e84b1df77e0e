"""Products of CSR, ELL, JAD and PJAD in the layout in which they are stored."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats import _arrays
from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.product import Product, columns_layout
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
    """Rows longer than `PIECE`, cut up: one thread block sums a piece, one warp the pieces of a row."""

    def __init__(self, layout: Layout):
        xp = _arrays.xp_of(layout.data)
        lengths = xp.diff(layout.ptr) if layout.number == 0 else layout.rlen
        self.rows = xp.flatnonzero(lengths > PIECE)
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
    """Threads that share a row."""
    mean = layout.entries / max(1, layout.rows)
    share = 1
    if layout.number == 0:
        # a thread block reads about 2048 entries; fewer where that leaves multiprocessors without work
        while share < 32 and (BLOCK // share * mean > 2048 or layout.rows * share < BLOCK * 512):
            share *= 2
        return share
    # rows side by side: sharing pays only where there are too few rows to fill the device
    while share < 8 and layout.rows * share < 1 << 18 and mean >= 8 * share:
        share *= 2
    return share


def combine(macros: tuple[tuple[str, Any], ...]) -> runtime.Launch:
    kept = tuple(m for m in macros if m[0] not in ("LAYOUT", "BSIZE", "SHARE", "SKIP"))
    return runtime.kernel("combine.cuh", "combine", kept)


def spmv(layout: Layout, dtype: Any, conjugate: bool, share: int | None = None, split: bool = True) -> Product:
    """The product with a vector; ``share`` fixes the threads per row, without ``split`` long rows stay whole."""
    share = threads_per_row(layout) if share is None else share
    macros = layout.macros(dtype, conjugate)
    result = np.result_type(layout.data.dtype, dtype)
    grid, rows, args = (-(-layout.rows // (BLOCK // share)),), np.int64(layout.rows), layout.args
    pieces = Pieces(layout) if split else None
    cuts = pieces is not None and pieces.count > 0
    macros = (*macros, ("SHARE", share), ("SKIP", int(cuts)))
    main = runtime.kernel("rows.cuh", "spmv", macros)
    if pieces is None or not cuts:
        everything = np.int64(np.iinfo(np.int64).max)

        def launch(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
            main(grid, (BLOCK,), (rows, everything, *args, x, y, alpha, beta, np.int32(mode)))

        return Product(layout.rows, result, launch, layout.data)
    cut, add = runtime.kernel("rows.cuh", "segments", macros), combine(macros)
    limit, count, one = np.int64(PIECE), np.int64(pieces.count), np.int64(1)

    def launch_split(x: Any, y: Any, alpha: Any, beta: Any, mode: int) -> None:
        # allocated per call, so that products of one matrix may run on several streams at once
        partial = _arrays.xp_of(y).empty(pieces.total, dtype=result)
        main(grid, (BLOCK,), (rows, limit, *args, x, y, alpha, beta, np.int32(mode)))
        cut((pieces.total,), (BLOCK,), (limit, pieces.row_of_piece, pieces.first, *args, x, partial))
        tail = (count, one, pieces.target, pieces.ptr, partial, y, alpha, beta, np.int32(mode))
        add((-(-pieces.count * 32 // BLOCK),), (BLOCK,), tail)

    return Product(layout.rows, result, launch_split, layout.data)


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
def prepare_spmv(A: Any, dtype: Any, trans: str) -> Product:
    """Prepare ``op(A) @ x`` for a vector of this dtype; a transposed one gathers along a kept transpose."""
    return spmv(layout_of(A) if trans == "N" else transposed_layout(A), dtype, trans == "C")


@dispatch.register("spmm", ("csr", "ell", "jad", "pjad"), "cupy", name="cuda", priority=10, prepare=True)
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
def prepare_paper(A: Any, dtype: Any, trans: str) -> Product:
    """The kernel of papers 001 and 002: one thread a row, in the layout as stored."""
    return spmv(layout_of(A), dtype, False, share=1, split=False)
