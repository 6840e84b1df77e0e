"""Products of diagonal matrices on the GPU: ours, and the two kernels of paper 004, which run when forced by name.

``sf.config(kernel="tile")`` is the paper's shared-memory kernel for bands (tiles of 16 × 16), ``kernel="atomic"`` its
kernel with one thread per nonzero of A and atomic additions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats._arrays import xp_of
from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.diagonal_walk import shape_for, walk

FORMATS = ("cds", "hm", "cdm")
SOURCE = "diagonal_product.cuh"
#: Side of the paper's tiles.
SIDE = 16
BLOCK = 256
#: Bytes of a result that no cache keeps: it is written past the operands.
LARGE = 1 << 25

#: ``launch(a, b, c, alpha, beta, mode)`` on flat values and scalars of the result type; bits of mode as in the source.
Launch = Callable[[Any, Any, Any, Any, Any, Any], None]
#: Every mode as the kernels take it.
MODES = tuple(np.int32(mode) for mode in range(4))


class Job:
    """What the kernels share: sizes, types, and the tables of one product on the device."""

    def __init__(self, pairs: Any, left: Any, right: Any, out: Any):
        self.pairs, self.left, self.right, self.out = pairs, left, right, out
        self.sizes = tuple(np.int64(s) for s in pairs.shape)
        self.rows, self.count = int(pairs.shape[0]), len(pairs.offsets)
        self.upload = xp_of(left.flat).asarray

    @functools.cached_property
    def bases(self) -> tuple[Any, Any, Any]:
        """Where A, B and C keep their diagonals."""
        return self.upload(self.left.base), self.upload(self.right.base), self.upload(self.out.base)

    def kernel(self, function: str, *more: tuple[str, int]) -> runtime.Launch:
        a, b, c = (np.dtype(x) for x in (self.left.flat.dtype, self.right.flat.dtype, self.out.dtype))
        once = self.out.size * c.itemsize > LARGE
        macros = [m for m in runtime.types(a, b, once=once) if m[0] != "TY"]
        conjugate = ("CONJ_A", int(self.left.conj)), ("CONJ_B", int(self.right.conj))
        return runtime.kernel(SOURCE, function, (*macros, ("TY", runtime.CTYPES[c.char]), *conjugate, *more))

    @property
    def whole(self) -> bool:
        """Whether every diagonal of the result has a row of storage to itself, as in CDS."""
        out, rows = self.out, self.rows
        own = out.padded and out.size == self.count * rows
        return own and bool((np.sort(out.base) == np.arange(self.count) * rows).all())


def _grid(blocks: int) -> tuple[int]:
    if blocks >= 2**31:
        raise ValueError(
            f"the product needs {blocks} thread blocks, a launch holds at most 2**31 - 1; compute it in parts"
        )
    return (blocks,)


def ours(job: Job) -> tuple[Launch, bool]:
    """The default: a warp owns a piece of one diagonal of the result, or of some neighbouring ones."""
    shape = shape_for(job.pairs, np.dtype(job.out.dtype).itemsize)
    macros, block = (("PRODUCT", 1), *shape._asdict().items()), (shape.WARPS * 32,)
    groups = -(-job.count // (shape.WARPS * shape.DIAGS))
    grid = _grid(groups * -(-job.rows // (shape.RUN * 32)))
    table, ptr = walk(job.pairs, job.left.base, job.right.base, shape.DIAGS)
    parts = [job.upload(part) for part in (table, ptr, job.pairs.offsets, job.out.base)]
    addresses = (runtime.address(part) for part in parts)
    numbers = [*job.pairs.shape[::2], job.count, groups, *addresses, int(job.whole)]
    tables = job.upload(np.array(numbers, dtype=np.int64))
    plain = runtime.bound(job.kernel("product", *macros, ("SCALED", 0)))

    @functools.cache
    def scaled() -> runtime.Launch:
        return runtime.bound(job.kernel("product", *macros, ("SCALED", 1)))

    def launch(a: Any, b: Any, c: Any, alpha: Any, beta: Any, mode: Any, _kept: Any = parts) -> None:
        if mode:
            scaled()(grid, block, (tables, a, b, c, alpha, beta, mode))
        else:
            plain(grid, block, (tables, a, b, c))

    return launch, job.whole


def tile(job: Job) -> tuple[Launch, bool]:
    """Algorithm 1 of the paper, over tiles of A in shared memory."""
    kernel, block = job.kernel("tile", ("TILE", 1), ("SIDE", SIDE)), (SIDE * SIDE,)
    groups = -(-job.count // SIDE)
    grid, (a_base, b_base, c_base) = _grid(groups * -(-job.rows // SIDE)), job.bases
    head = (*job.sizes, np.int64(job.count), np.int64(groups), np.int64(len(job.pairs.a_offsets)))
    dense = job.upload(_dense(job.pairs.b_offsets, job.pairs.shape[1], job.pairs.shape[2]))
    for_a, for_b = (a_base, job.upload(job.pairs.a_offsets)), (b_base, dense, job.upload(job.pairs.offsets))

    def launch(a: Any, b: Any, c: Any, alpha: Any, beta: Any, mode: Any) -> None:
        kernel(grid, block, (*head, a, *for_a, b, *for_b, c, c_base, alpha, beta, mode))

    return launch, False


def atomic(job: Job) -> tuple[Launch, bool]:
    """Algorithm 2 of the paper: a thread per nonzero of A, atomic additions into C, which is scaled by beta before."""
    rows, inner, cols = job.pairs.shape
    macros = ("ATOMIC", 1), ("BLOCK", BLOCK)
    kernel, scale, block = job.kernel("atomic", *macros), job.kernel("scale", *macros), (BLOCK,)
    a_base, b_base, c_base = job.bases
    groups = -(-job.rows // BLOCK)
    scale_grid = _grid(groups * job.count)
    a_offsets = job.pairs.a_offsets
    lengths = np.minimum(rows, inner - a_offsets) - np.maximum(0, -a_offsets)
    starts = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))]).astype(np.int64)
    nonzeros = int(starts[-1])
    grid = _grid(max(-(-nonzeros // BLOCK), 1))
    counts = (np.int64(nonzeros), np.int64(len(a_offsets)), np.int64(len(job.pairs.b_offsets)))
    head = (*job.sizes, *counts, job.upload(starts))
    for_a = (a_base, job.upload(a_offsets))
    for_b = (b_base, job.upload(job.pairs.b_offsets), job.upload(_dense(job.pairs.offsets, rows, cols)))
    scaled = (job.sizes[0], job.sizes[2], np.int64(groups), job.upload(job.pairs.offsets))

    def launch(a: Any, b: Any, c: Any, alpha: Any, beta: Any, mode: Any) -> None:
        scale(scale_grid, block, (*scaled, c, c_base, beta, mode))
        kernel(grid, block, (*head, a, *for_a, b, *for_b, c, c_base, alpha, mode))

    return launch, False


def _dense(offsets: np.ndarray[Any, Any], rows: int, cols: int) -> np.ndarray[Any, Any]:
    """Number of the diagonal at every offset of a rows × cols matrix, from 1 - rows on; -1 where it is not stored."""
    dense = np.full(max(rows + cols - 1, 1), -1, dtype=np.int32)
    dense[offsets + rows - 1] = np.arange(len(offsets), dtype=np.int32)
    return dense


def _prepared(make: Any, pairs: Any, left: Any, right: Any, out: Any) -> Any:
    """``run(a, b, c, alpha, beta) -> flat`` for operands with these tables; see `spformats.linalg.diagonal_run`."""
    xp, shape, dtype = xp_of(left.flat), out.shape, np.dtype(out.dtype)
    if not len(pairs.offsets) or not out.size:
        return lambda a, b, c, alpha, beta: xp.zeros(shape, dtype=dtype) if c is None else c
    launch, whole = make(Job(pairs, left, right, out))
    new = xp.zeros if out.padded and not whole else xp.ndarray  # the latter leaves the memory as it is
    scalar = dtype.type
    one, zero, plain = scalar(1), scalar(0), MODES[0]

    def run(a: Any, b: Any, c: Any, alpha: complex, beta: complex) -> Any:
        if c is None:
            c = new(shape, dtype)
        if alpha == 1 and beta == 0:
            launch(a, b, c, one, zero, plain)
        else:
            launch(a, b, c, scalar(alpha), scalar(beta), MODES[int(alpha != 1) | int(beta != 0) << 1])
        return c

    return run


def register(name: str, make: Any, priority: int, namespace: str = "cupy") -> None:
    """Register one of the kernels above for the operation."""

    @dispatch.register("diagmm", FORMATS, namespace, name=name, priority=priority, prepare=True)
    def prepare(A: Any, pairs: Any, left: Any, right: Any, out: Any) -> Any:
        """``alpha * A @ B + beta * C`` over a table of pairs, see `spformats.linalg.diagonal_run`."""
        return runtime.at_home(left.flat, lambda: _prepared(make, pairs, left, right, out))


register("cuda", ours, 10)
register("tile", tile, -1)
register("atomic", atomic, -1)
