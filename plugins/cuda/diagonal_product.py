"""Products of diagonal matrices on the GPU: ours, and the two kernels of paper 004, which run when forced by name.

``sf.config(kernel="tile")`` is the paper's shared-memory kernel for bands (T = 16), ``kernel="atomic"`` its kernel with
one thread per nonzero of A and atomic additions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats._arrays import xp_of
from spformats_plugins.cuda import runtime

FORMATS = ("cds", "hm", "cdm")
#: Rows a lane sums, and warps (neighbouring diagonals of the result) a block.
RUN, WARPS = 4, 8
#: Side of the paper's tiles.
SIDE = 16
BLOCK = 256
_KEPT = 256


class _Uploads:
    """Device copies of the index tables in use; the host array is kept too, so that its identity stays its own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.entries: OrderedDict[tuple[int, str], tuple[Any, Any]] = OrderedDict()

    def get(self, table: np.ndarray[Any, Any], home: Any) -> Any:
        """``table`` beside ``home``, copied once."""
        key = id(table), str(home.device)
        with self.lock:
            entry = self.entries.pop(key, None)
            if entry is None:
                entry = table, xp_of(home).asarray(table)
            self.entries[key] = entry
            if len(self.entries) > _KEPT:
                self.entries.popitem(last=False)
        return entry[1]


_uploads = _Uploads()


class _Launch:
    """What the kernels share: types, scalars, the output array and the tables on the device."""

    def __init__(self, pairs: Any, left: Any, right: Any, out: Any, alpha: complex, beta: complex):
        self.pairs, self.left, self.right = pairs, left, right
        self.home = left.flat
        self.rows, self.inner, self.cols = (np.int64(s) for s in pairs.shape)
        self.count = len(pairs.offsets)
        self.dtype = np.dtype(out.dtype)
        scalar = self.dtype.type
        self.alpha, self.beta = scalar(alpha), scalar(beta)
        self.mode = int(alpha != 1) | int(beta != 0) << 1
        self.c_base = self.table(out.base)

    def table(self, array: np.ndarray[Any, Any]) -> Any:
        return _uploads.get(array, self.home)

    def macros(self, *more: tuple[str, Any]) -> tuple[tuple[str, Any], ...]:
        a, b = np.dtype(self.left.flat.dtype), np.dtype(self.right.flat.dtype)
        kept = [m for m in runtime.types(a, b, once=False) if m[0] != "TY"]
        conjugate = (("CONJ_A", int(self.left.conj)), ("CONJ_B", int(self.right.conj)))
        return (*kept, ("TY", runtime.CTYPES[self.dtype.char]), *conjugate, *more)


def _output(out: Any, home: Any, zeros: bool) -> Any:
    if out.flat is not None:
        return out.flat
    xp = xp_of(home)
    return (xp.zeros if zeros else xp.empty)(out.size, dtype=out.dtype)


def _grid(blocks: int) -> tuple[int]:
    if blocks >= 2**31:
        raise ValueError(
            f"the product needs {blocks} thread blocks, a launch holds at most 2**31 - 1; multiply it in parts"
        )
    return (blocks,)


def launch_ours(job: _Launch, out: Any) -> Any:
    """The default: a warp owns a piece of one diagonal of the result."""
    full_rows = (
        out.flat is None
        and out.padded
        and out.size == job.count * int(job.rows)
        and _owns_rows(out.base, int(job.rows))
    )
    flat = _output(out, job.home, zeros=out.padded and not full_rows)
    if flat.size == 0 or job.count == 0:
        return flat
    pairs, table = job.pairs, job.table
    kernel = runtime.kernel(
        "diagonal_product.cuh", "product", job.macros(("PRODUCT", 1), ("RUN", RUN), ("WARPS", WARPS))
    )
    groups = -(-job.count // WARPS)
    grid = _grid(groups * -(-int(job.rows) // (RUN * 32)))
    kernel(
        grid,
        (WARPS * 32,),
        (
            job.rows,
            job.inner,
            job.cols,
            np.int64(job.count),
            np.int64(groups),
            job.left.flat,
            table(job.left.base),
            table(pairs.a_offsets),
            job.right.flat,
            table(job.right.base),
            table(pairs.offsets),
            table(pairs.ptr),
            table(pairs.left),
            table(pairs.right),
            flat,
            job.c_base,
            job.alpha,
            job.beta,
            np.int32(job.mode | 4 * full_rows),
        ),
    )
    return flat


def _owns_rows(base: np.ndarray[Any, Any], rows: int) -> bool:
    """Whether every diagonal of the result has a row of storage to itself, as in CDS."""
    return bool((np.diff(base) == rows).all()) and (not len(base) or int(base[0]) == 0)


def launch_tile(job: _Launch, out: Any) -> Any:
    """Algorithm 1 of the paper, over tiles of A in shared memory."""
    flat = _output(out, job.home, zeros=out.padded)
    if flat.size == 0 or job.count == 0:
        return flat
    pairs, table = job.pairs, job.table
    dense = pairs.derived("dense list of B", lambda p: _dense(p.b_offsets, p.shape[1], p.shape[2]))
    kernel = runtime.kernel("diagonal_product.cuh", "tile", job.macros(("TILE", 1), ("SIDE", SIDE)))
    groups = -(-job.count // SIDE)
    kernel(
        _grid(groups * -(-int(job.rows) // SIDE)),
        (SIDE * SIDE,),
        (
            job.rows,
            job.inner,
            job.cols,
            np.int64(job.count),
            np.int64(groups),
            np.int64(len(pairs.a_offsets)),
            job.left.flat,
            table(job.left.base),
            table(pairs.a_offsets),
            job.right.flat,
            table(job.right.base),
            table(dense),
            table(pairs.offsets),
            flat,
            job.c_base,
            job.alpha,
            job.beta,
            np.int32(job.mode),
        ),
    )
    return flat


def launch_atomic(job: _Launch, out: Any) -> Any:
    """Algorithm 2 of the paper: a thread per nonzero of A, atomic additions into C."""
    flat = _output(out, job.home, zeros=True)
    if flat.size == 0 or job.count == 0:
        return flat
    pairs, table = job.pairs, job.table
    if out.flat is not None and job.beta != 1:
        scale = runtime.kernel("diagonal_product.cuh", "scale", job.macros(("ATOMIC", 1), ("BLOCK", BLOCK)))
        groups = -(-int(job.rows) // BLOCK)
        scale(
            _grid(groups * job.count),
            (BLOCK,),
            (
                job.rows,
                job.cols,
                np.int64(groups),
                table(pairs.offsets),
                flat,
                job.c_base,
                job.beta,
                np.int32(job.mode),
            ),
        )
    starts = pairs.derived("first nonzero of each diagonal of A", _starts)
    if not starts[-1]:
        return flat
    dense = pairs.derived("dense list of C", lambda p: _dense(p.offsets, p.shape[0], p.shape[2]))
    kernel = runtime.kernel("diagonal_product.cuh", "atomic", job.macros(("ATOMIC", 1), ("BLOCK", BLOCK)))
    kernel(
        _grid(-(-int(starts[-1]) // BLOCK)),
        (BLOCK,),
        (
            job.rows,
            job.inner,
            job.cols,
            np.int64(starts[-1]),
            np.int64(len(pairs.a_offsets)),
            np.int64(len(pairs.b_offsets)),
            table(starts),
            job.left.flat,
            table(job.left.base),
            table(pairs.a_offsets),
            job.right.flat,
            table(job.right.base),
            table(pairs.b_offsets),
            table(dense),
            flat,
            job.c_base,
            job.alpha,
            np.int32(job.mode),
        ),
    )
    return flat


def _dense(offsets: np.ndarray[Any, Any], rows: int, cols: int) -> np.ndarray[Any, Any]:
    """Number of the diagonal at every offset of a rows × cols matrix, from 1 - rows on; -1 where it is not stored."""
    dense = np.full(max(rows + cols - 1, 1), -1, dtype=np.int32)
    dense[offsets + rows - 1] = np.arange(len(offsets), dtype=np.int32)
    return dense


def _starts(pairs: Any) -> np.ndarray[Any, Any]:
    """Running count of the entries on A's diagonals."""
    rows, inner, _ = pairs.shape
    lengths = np.minimum(rows, inner - pairs.a_offsets) - np.maximum(0, -pairs.a_offsets)
    return np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))]).astype(np.int64)


def register(name: str, launch: Any, priority: int, namespace: str = "cupy") -> None:
    """Register one of the launchers as a kernel of the operation."""

    @dispatch.register("diagmm", FORMATS, namespace, name=name, priority=priority)
    def product(A: Any, pairs: Any, left: Any, right: Any, out: Any, alpha: complex, beta: complex) -> Any:
        """``alpha * A @ B + beta * C`` over a table of pairs, see `spformats.linalg.diagonal_product`."""
        if runtime.is_current(left.flat):
            return launch(_Launch(pairs, left, right, out, alpha, beta), out)
        with runtime.on_device(left.flat):
            return launch(_Launch(pairs, left, right, out, alpha, beta), out)


register("cuda", launch_ours, 10)
register("tile", launch_tile, -1)
register("atomic", launch_atomic, -1)
