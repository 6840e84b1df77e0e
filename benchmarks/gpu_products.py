"""One function per kind of work: our products and the peers' on one matrix after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import cupy as cp
import cupyx.scipy.sparse as gs
import gpu_matrices
import gpu_peers
import numpy as np
from gpu_timing import Bench, Calls, Row, check, free

import spformats as sf
from spformats_plugins.cuda import tuner

PJAD = {"bsize": 32, "sigma": 1024}
PAPER_003 = ("row_major", "thread_private", "team", "vector_unrolled")


def available(makers: dict[str, Callable[[], Any]]) -> Calls:
    """The peers that can run; why the others cannot goes to standard output."""
    calls = {}
    for name, make in makers.items():
        try:
            calls[name] = make()
        except gpu_peers.Unavailable as error:
            print(f"  ({name}: {error})", flush=True)
    return calls


class Peers:
    """cuSPARSE matrices of one CSR matrix, made when first asked for."""

    def __init__(self, G: Any, blocks: tuple[Any, ...] = ()):
        self.source = {"csr": (G,), "sell": (G,), "bsr": blocks}
        self.made: dict[str, Any] = {}

    def of(self, kind: str) -> Any:
        if kind not in self.made:
            self.made[kind] = getattr(gpu_peers, kind)(*self.source[kind])
        return self.made[kind]

    def spmv(self, kinds: tuple[str, ...], x: Any, y: Any) -> Calls:
        return available(
            {
                f"cusparse_{kind}_{a}": lambda kind=kind, a=a: self.of(kind).spmv(a, x, y)
                for kind in kinds
                for a in gpu_peers.SPMV[kind]
            }
        )

    def spmm(self, kinds: tuple[str, ...], X: Any, Y: Any) -> Calls:
        return available(
            {
                f"cusparse_{kind}_{a}": lambda kind=kind, a=a: self.of(kind).spmm(a, X, Y)
                for kind in kinds
                for a in (gpu_peers.SPMM if kind == "csr" else (0,))
            }
        )


def product(A: Any, x: Any, y: Any, expected: Any, what: str, kernel: str | None = None) -> Callable[[], Any]:
    """A call of our product, after its result has been checked."""

    def call() -> Any:
        if kernel is None:
            return sf.spmv(A, x, y)
        with sf.config(kernel=kernel):
            return sf.spmv(A, x, y)

    y.fill(cp.nan)
    call()
    check(y, expected, what)
    return call


def diagonals(bench: Bench) -> list[Row]:
    return [_diagonal(bench, case, A.to_device("cuda")) for case, A in gpu_matrices.stencils()]


def _diagonal(bench: Bench, case: str, A: Any) -> Row:
    free()
    n, nd = A.shape[0], len(A.offsets)
    x, y, G = cp.random.standard_normal(n), cp.empty(n), A.to_cupyx_sparse()
    expected = G @ x
    calls = Peers(G).spmv(("csr", "sell"), x, cp.empty(n)) | {"cupyx": lambda: G @ x}
    for name, B in (("cds", A), ("cds_symmetric", A.asformat("cds", symmetric=True)), ("hm", A.asformat("hm"))):
        calls[f"spformats_{name}"] = product(B, x, y, expected, f"{case} {name}")
    nbytes = 8 * n * (nd + 2)
    return bench.row("cds", case, bench.both(calls, nbytes), "spformats_cds", nbytes, n=n, diagonals=nd)


def blocks(bench: Bench) -> list[Row]:
    return [_block(bench, case, A) for case, A in gpu_matrices.block_bands()]


def _block(bench: Bench, case: str, A: Any) -> Row:
    free()
    parts = A.data, A.indices, A.indptr.astype(np.int32)
    n, m = A.shape
    x, y, z, G = cp.random.standard_normal(m), cp.empty(n), cp.empty(n), A.to_cupyx_sparse()
    expected = G @ x
    peers = Peers(G, parts)
    calls = peers.spmv(("csr", "bsr"), x, z)
    calls |= available(
        {
            "cusparse_bsrmv": lambda: gpu_peers.bsrmv(*parts, x, z),
            "torch_bsr": lambda: gpu_peers.torch_bsr(*parts, (n, m), x, expected),
        }
    )
    calls["spformats"] = product(A, x, y, expected, f"bsr {case}")
    for name in PAPER_003 if A.blocksize == (5, 5) else ():
        calls[f"spformats_{name}"] = product(A, x, y, expected, f"bsr {case} {name}", name)
    nbytes = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes + 8 * (n + m)
    return bench.row("bsr", case, bench.both(calls, nbytes, 20), "spformats", nbytes, launch=tuner.explain(A))


def jagged(bench: Bench, twins: list[tuple[str, Callable[[], Any]]]) -> list[Row]:
    rows = [_jagged(bench, name, load()) for name, load in twins]
    return [row for part in zip(*rows, strict=True) for row in part]


def _jagged(bench: Bench, name: str, host: tuple[Any, ...]) -> tuple[Row, Row]:
    """PJAD against CSR and SELL of cuSPARSE, and our CSR against its CSR."""
    free()
    G = gs.csr_matrix(tuple(cp.asarray(part) for part in host[:3]), shape=host[3])
    n, m = G.shape
    x, y, expected = cp.random.standard_normal(m), cp.empty(n), None
    expected = G @ x
    C = sf.asarray(G)
    A = C.asformat("pjad", force=True, **PJAD)
    calls = Peers(G).spmv(("csr", "sell"), x, cp.empty(n))
    calls["spformats"] = product(A, x, y, expected, name)
    calls["spformats_csr"] = product(C, x, y, expected, f"{name} csr")
    slices = A._plans["cuda slices"]
    nbytes = slices.nbytes + 8 * (n + m)
    more = {"n": n, "nnz": int(G.nnz), "slots": int(slices.data.size), "pieces": slices.pieces, "even": slices.even}
    times = bench.both(calls, nbytes)
    pjad = {kind: _only(taken, "spformats") for kind, taken in times.items()}
    csr = {kind: _only(taken, "spformats_csr", without="sell") for kind, taken in times.items()}
    return (
        bench.row("pjad", name, pjad, "spformats", nbytes, **more),
        bench.row("csr", name, csr, "spformats_csr", C.nbytes + 8 * (n + m)),
    )


def _only(taken: dict[str, float], ours: str, without: str = "spformats") -> dict[str, float]:
    """One of our times, and the peers' but for those whose name has `without` in it."""
    peers = {name: t for name, t in taken.items() if not name.startswith("spformats") and without not in name}
    return peers | {ours: taken[ours]}


def atomics(bench: Bench, twins: list[tuple[str, Callable[[], Any]]]) -> list[Row]:
    """The opt-in kernels that add by atomics against the default ones: first and later products."""
    rows = []
    for name, load in twins:
        data, indices, indptr, shape = load()
        G = gs.csr_matrix(tuple(cp.asarray(part) for part in (data, indices, indptr)), shape=shape)
        for format, trans in (("csr", "N"), ("csr", "T"), ("ell", "T"), ("jad", "T"), ("pjad", "T")):
            if format == "ell" and int(np.diff(indptr).max()) * shape[0] > 4 * G.nnz:
                continue  # mostly padding
            free()
            layout = {} if format != "pjad" else PJAD
            rows.append(_atomic(bench, name, sf.asarray(G).asformat(format, force=True, **layout), trans))
    for size in ((3, 3), (5, 5)):
        free()
        A = gpu_matrices.block_band(400_000 // size[0], size, 27)
        rows.append(_atomic(bench, f"{size[0]}x{size[1]} 27 a row", A, "T"))
    return rows


def _atomic(bench: Bench, name: str, A: Any, trans: str) -> Row:
    n, m = A.shape if trans == "N" else A.shape[::-1]
    x, y = cp.random.standard_normal(m), cp.empty(n)

    def default() -> None:
        sf.spmv(A, x, y, trans=trans)

    def atomic() -> None:
        with sf.config(kernel="atomic"):
            sf.spmv(A, x, y, trans=trans)

    calls = {"default": default, "atomic": atomic}
    for call in calls.values():
        call()  # compiles
    expected, row = y.copy(), {"work": "atomic", "case": f"{name} {A.format} {trans}"}
    for which, call in calls.items():
        A._plans.clear()
        y.fill(cp.nan)
        row[f"{which}_first_seconds"] = once(call)
        check(y, expected, f"{row['case']} {which}")
    row |= {f"{which}_seconds": t for which, t in bench.times(calls, 20, cold=False).items()}
    print(" ".join(f"{k} {v * 1e6:.1f} us" if isinstance(v, float) else str(v) for k, v in row.items()), flush=True)
    return row


def once(call: Callable[[], Any]) -> float:
    """Seconds of one call, the host's part included."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - start


def columns(bench: Bench) -> list[Row]:
    return [
        row
        for case, A, formats in gpu_matrices.for_spmm()
        for k in (8, 32)
        for row in _columns(bench, case, A, formats, k)
    ]


def _columns(bench: Bench, case: str, A: Any, formats: tuple[str, ...], k: int) -> list[Row]:
    free()
    n, m = A.shape
    G = A.to_cupyx_sparse()
    X, Y, Z = cp.random.standard_normal((m, k)), cp.empty((n, k)), cp.empty((n, k))
    expected = G @ X
    parts = (A.data, A.indices, A.indptr.astype(np.int32)) if A.format == "bsr" else ()
    peers = Peers(G, parts)
    calls = peers.spmm(("csr", "bsr") if parts else ("csr",), X, Z)
    sizes = {}
    for format in formats:
        B = A if format == A.format else A.asformat(format, force=True, **(PJAD if format == "pjad" else {}))
        calls[f"spformats_{format}"] = product(B, X, Y, expected, f"spmm {case} {format}")
        sizes[format] = B.nbytes + 8 * k * (n + m)
    times = bench.both(calls, math.inf, 15)["warm"]
    others = {name: t for name, t in times.items() if not name.startswith("spformats")}
    make = partial(bench.row, f"spmm{k}", columns=k)
    return [
        make(f"{case} {f}", {"warm": others | {(o := f"spformats_{f}"): times[o]}}, o, size)
        for f, size in sizes.items()
    ]
