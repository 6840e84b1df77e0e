"""Products of diagonal matrices on the GPU: ours, and the two kernels of paper 004, which run when forced by name.

``sf.config(kernel="tile")`` is the paper's shared-memory kernel for bands (tiles of 16 × 16), ``kernel="atomic"`` its
kernel with one thread per nonzero of A and atomic additions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats._arrays import xp_of
from spformats_plugins.cuda import runtime

FORMATS = ("cds", "hm", "cdm")
SOURCE = "diagonal_product.cuh"
#: Rows a lane sums, and warps (neighbouring diagonals of the result) a block.
RUN, WARPS = 4, 8
#: Side of the paper's tiles.
SIDE = 16
BLOCK = 256
#: Prepared launches kept with one plan (they depend on where the operands keep their diagonals).
_KEPT = 16

#: ``launch(a, b, c, alpha, beta, mode)`` on flat values and scalars of the result type; bits of mode as in the source.
Launch = Callable[[Any, Any, Any, Any, Any, int], None]


class Job:
    """What the kernels share: sizes, types, and the tables of one product on the device."""

    def __init__(self, pairs: Any, left: Any, right: Any, out: Any):
        self.pairs, self.left, self.right, self.out = pairs, left, right, out
        self.sizes = tuple(np.int64(s) for s in pairs.shape)
        self.rows, self.count = int(pairs.shape[0]), len(pairs.offsets)
        xp = xp_of(left.flat)
        self.a_base, self.b_base, self.c_base = xp.asarray(left.base), xp.asarray(right.base), xp.asarray(out.base)
        names = ("a_offsets", "b_offsets", "offsets", "ptr", "left", "right")
        key = "on device", str(left.flat.device)
        self.on = pairs.derived(key, lambda p: {name: xp.asarray(getattr(p, name)) for name in names})
        self.upload = xp.asarray

    def kernel(self, function: str, *more: tuple[str, int]) -> runtime.Launch:
        a, b, c = (np.dtype(x) for x in (self.left.flat.dtype, self.right.flat.dtype, self.out.dtype))
        macros = [m for m in runtime.types(a, b, once=False) if m[0] != "TY"]
        conjugate = ("CONJ_A", int(self.left.conj)), ("CONJ_B", int(self.right.conj))
        return runtime.kernel(SOURCE, function, (*macros, ("TY", runtime.CTYPES[c.char]), *conjugate, *more))

    @property
    def full_rows(self) -> bool:
        """Whether every diagonal of the result has a row of storage to itself, as in CDS."""
        base, rows = self.out.base, self.rows
        return (
            self.out.padded and self.out.size == self.count * rows and bool((base == np.arange(len(base)) * rows).all())
        )


def _grid(blocks: int) -> tuple[int]:
    if blocks >= 2**31:
        raise ValueError(
            f"the product needs {blocks} thread blocks, a launch holds at most 2**31 - 1; compute it in parts"
        )
    return (blocks,)


def ours(job: Job) -> tuple[Launch, bool]:
    """The default: a warp owns a piece of one diagonal of the result."""
    kernel, block = job.kernel("product", ("PRODUCT", 1), ("RUN", RUN), ("WARPS", WARPS)), (WARPS * 32,)
    groups = -(-job.count // WARPS)
    grid, on = _grid(groups * -(-job.rows // (RUN * 32))), job.on
    head = (*job.sizes, np.int64(job.count), np.int64(groups))
    for_a, for_b = (job.a_base, on["a_offsets"]), (job.b_base, on["offsets"], on["ptr"], on["left"], on["right"])
    c_base = job.c_base

    def launch(a: Any, b: Any, c: Any, alpha: Any, beta: Any, mode: int) -> None:
        kernel(grid, block, (*head, a, *for_a, b, *for_b, c, c_base, alpha, beta, np.int32(mode)))

    return launch, job.full_rows


def tile(job: Job) -> tuple[Launch, bool]:
    """Algorithm 1 of the paper, over tiles of A in shared memory."""
    kernel, block = job.kernel("tile", ("TILE", 1), ("SIDE", SIDE)), (SIDE * SIDE,)
    groups = -(-job.count // SIDE)
    grid, on = _grid(groups * -(-job.rows // SIDE)), job.on
    head = (*job.sizes, np.int64(job.count), np.int64(groups), np.int64(len(job.pairs.a_offsets)))
    dense = job.upload(_dense(job.pairs.b_offsets, job.pairs.shape[1], job.pairs.shape[2]))
    for_a, for_b = (job.a_base, on["a_offsets"]), (job.b_base, dense, on["offsets"])
    c_base = job.c_base

    def launch(a: Any, b: Any, c: Any, alpha: Any, beta: Any, mode: int) -> None:
        kernel(grid, block, (*head, a, *for_a, b, *for_b, c, c_base, alpha, beta, np.int32(mode)))

    return launch, False


def atomic(job: Job) -> tuple[Launch, bool]:
    """Algorithm 2 of the paper: a thread per nonzero of A, atomic additions into C, which is scaled by beta before."""
    rows, inner, cols = job.pairs.shape
    macros = ("ATOMIC", 1), ("BLOCK", BLOCK)
    kernel, scale, block, on = job.kernel("atomic", *macros), job.kernel("scale", *macros), (BLOCK,), job.on
    groups = -(-job.rows // BLOCK)
    scale_grid = _grid(groups * job.count)
    a_offsets = job.pairs.a_offsets
    lengths = np.minimum(rows, inner - a_offsets) - np.maximum(0, -a_offsets)
    starts = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))]).astype(np.int64)
    nonzeros = int(starts[-1])
    grid = _grid(max(-(-nonzeros // BLOCK), 1))
    head = (
        *job.sizes,
        np.int64(nonzeros),
        np.int64(len(a_offsets)),
        np.int64(len(job.pairs.b_offsets)),
        job.upload(starts),
    )
    for_a = (job.a_base, on["a_offsets"])
    for_b = (job.b_base, on["b_offsets"], job.upload(_dense(job.pairs.offsets, rows, cols)))
    scaled, c_base = (job.sizes[0], job.sizes[2], np.int64(groups), on["offsets"]), job.c_base

    def launch(a: Any, b: Any, c: Any, alpha: Any, beta: Any, mode: int) -> None:
        scale(scale_grid, block, (*scaled, c, c_base, beta, np.int32(mode)))
        kernel(grid, block, (*head, a, *for_a, b, *for_b, c, c_base, alpha, np.int32(mode)))

    return launch, False


def _dense(offsets: np.ndarray[Any, Any], rows: int, cols: int) -> np.ndarray[Any, Any]:
    """Number of the diagonal at every offset of a rows × cols matrix, from 1 - rows on; -1 where it is not stored."""
    dense = np.full(max(rows + cols - 1, 1), -1, dtype=np.int32)
    dense[offsets + rows - 1] = np.arange(len(offsets), dtype=np.int32)
    return dense


def _prepared(make: Any, pairs: Any, left: Any, right: Any, out: Any) -> tuple[Launch, bool]:
    """The launch for these tables, made once; the tables are kept with it, so that their ids stay theirs."""
    kept = pairs.derived("prepared on cuda", lambda p: {})
    tables = left.base, right.base, out.base
    types = left.flat.dtype.char, right.flat.dtype.char, np.dtype(out.dtype).char
    key = (make, RUN, WARPS, str(left.flat.device), left.conj, right.conj, types, out.padded, *map(id, tables))
    entry = kept.get(key)
    if entry is None:
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)), None)
        entry = kept[key] = (*make(Job(pairs, left, right, out._replace(flat=None))), tables)
    return entry[0], entry[1]


def _run(make: Any, pairs: Any, left: Any, right: Any, out: Any, alpha: complex, beta: complex) -> Any:
    xp, flat = xp_of(left.flat), out.flat
    scalar = np.dtype(out.dtype).type
    if not len(pairs.offsets) or not out.size:
        return xp.zeros(out.size, dtype=out.dtype) if flat is None else flat
    launch, full_rows = _prepared(make, pairs, left, right, out)
    mode = int(alpha != 1) | int(beta != 0) << 1
    if flat is None:
        flat = (xp.zeros if out.padded and not full_rows else xp.empty)(out.size, dtype=out.dtype)
        mode |= 4 * full_rows
    launch(left.flat, right.flat, flat, scalar(alpha), scalar(beta), mode)
    return flat


def register(name: str, make: Any, priority: int, namespace: str = "cupy") -> None:
    """Register one of the kernels above for the operation."""

    @dispatch.register("diagmm", FORMATS, namespace, name=name, priority=priority)
    def product(A: Any, pairs: Any, left: Any, right: Any, out: Any, alpha: complex, beta: complex) -> Any:
        """``alpha * A @ B + beta * C`` over a table of pairs, see `spformats.linalg.diagonal_run`."""
        if runtime.is_current(left.flat):
            return _run(make, pairs, left, right, out, alpha, beta)
        with runtime.on_device(left.flat):
            return _run(make, pairs, left, right, out, alpha, beta)


register("cuda", ours, 10)
register("tile", tile, -1)
register("atomic", atomic, -1)
