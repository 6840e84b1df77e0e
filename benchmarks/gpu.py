"""Products on the GPU against cuSPARSE and torch.

    python benchmarks/gpu.py --out results.json                       # everything that needs no matrices from elsewhere
    python benchmarks/gpu.py --only pjad --twins DIR                  # DIR holds twins.py with twin(name, scale)
    python benchmarks/gpu.py --sweep-bsr --sweep-pjad --twins DIR     # launch parameters and layouts, for tuning

Every figure is the median of repeats in which our product and the peers take turns, timed by events on a device that is
kept busy until all launches of the repeat are queued. "warm" repeats follow a run of the same product; "cold" ones,
taken where the working set fits in the L2 cache, come after 256 MB of other data have passed through it. Copy bandwidth
is that of a device-to-device copy of 2 GB, read and written bytes counted; a product's bytes are its arrays read once
and its vectors moved once. Fractions are bytes over time over copy bandwidth.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import math
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpu_matrices

FORMATS_SPMM = ("csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm")


SPIN = """
extern "C" __global__ void spin(long long cycles) { const long long start = clock64(); while (clock64() - start <
cycles); }
"""


class Bench:
    """Times calls on the device, in turns."""

    def __init__(self) -> None:
        import cupy as cp

        self.cp = cp
        self.l2 = int(cp.cuda.runtime.getDeviceProperties(0)["l2CacheSize"])
        self.spin = cp.RawKernel(SPIN, "spin")
        self.flood = cp.zeros(256 << 20, dtype=cp.uint8)
        a = cp.random.rand(1 << 28)
        b = cp.empty_like(a)
        times = self.times({"copy": lambda: cp.copyto(b, a)}, 20, cold=False)
        self.copy = 2 * a.nbytes / times["copy"]

    def times(self, calls: dict[str, Callable[[], Any]], repeats: int, cold: bool) -> dict[str, float]:
        """Median seconds of each call, one repeat of all of them after the other."""
        cp = self.cp
        for call in calls.values():
            for _ in range(3):
                call()
        cp.cuda.Device().synchronize()
        events: dict[str, list[Any]] = {name: [] for name in calls}
        for _ in range(repeats):
            for name, call in calls.items():
                if cold:
                    self.flood += 1
                else:
                    call()  # the peers before it have used the cache: bring our own data back
                self.spin((1,), (1,), (120_000,))  # the launches below are queued meanwhile
                start, stop = cp.cuda.Event(), cp.cuda.Event()
                start.record()
                call()
                stop.record()
                events[name].append((start, stop))
        cp.cuda.Device().synchronize()
        return {
            name: float(sorted(cp.cuda.get_elapsed_time(*e) for e in pairs)[len(pairs) // 2]) * 1e-3
            for name, pairs in events.items()
        }

    def both(
        self, calls: dict[str, Callable[[], Any]], nbytes: float, repeats: int = 30
    ) -> dict[str, dict[str, float]]:
        """Warm times, and cold ones where the cache could hold the working set."""
        out = {"warm": self.times(calls, repeats, cold=False)}
        if nbytes < 2 * self.l2:
            out["cold"] = self.times(calls, repeats, cold=True)
        return out

    def row(self, work: str, case: str, times: dict[str, Any], ours: str, nbytes: float, **more: Any) -> dict[str, Any]:
        """One row of the results: times, the best peer, and what fraction of copy bandwidth we reach."""
        row: dict[str, Any] = {"work": work, "case": case, "bytes": int(nbytes), **more}
        for kind, taken in times.items():
            others = {name: t for name, t in taken.items() if not name.startswith("spformats")}
            best = min(others, key=lambda name: others[name]) if others else None
            row[kind] = {
                "seconds": taken, "fraction_of_copy": nbytes / taken[ours] / self.copy, "best_peer": best,
                "times_best_peer": others[best] / taken[ours] if best else None,
            }  # fmt: skip
        said = row.get("cold", row["warm"])
        print(
            f"{work:10s} {case:22s} {said['seconds'][ours] * 1e6:10.1f} us  {said['fraction_of_copy']:.2f} of copy"
            f"  x{said['times_best_peer'] or 0:.2f} {said['best_peer']}  "
            + " ".join(f"{k}={v * 1e6:.1f}" for k, v in said["seconds"].items() if k != ours),
            flush=True,
        )
        return row


def peer_calls(makers: dict[str, Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
    """The peers that can run; the others are named on standard output."""
    import gpu_peers

    calls = {}
    for name, make in makers.items():
        try:
            calls[name] = make()
        except gpu_peers.Unavailable as error:
            print(f"  ({name}: {error})", flush=True)
    return calls


def csr_peers(G: Any, x: Any, y: Any, wanted: tuple[str, ...] = ("csr", "sell")) -> dict[str, Callable[[], Any]]:
    import gpu_peers

    made: dict[str, Any] = {}

    def of(kind: str, algorithm: int) -> Any:
        if kind not in made:
            made[kind] = getattr(gpu_peers, kind)(G)
        return made[kind].spmv(algorithm, x, y)

    return peer_calls({
        f"cusparse_{kind}_{a}": (lambda kind=kind, a=a: of(kind, a)) for kind in wanted for a in gpu_peers.SPMV[kind]
    })


def check(y: Any, expected: Any, what: str) -> None:
    import cupy as cp

    error = float(cp.abs(y - expected).max() / (cp.abs(expected).max() + 1e-300))
    assert error < 1e-12, f"{what}: relative error {error}"


def diagonals(bench: Bench) -> list[dict[str, Any]]:
    import cupy as cp

    import spformats as sf

    rows = []
    for case, A in gpu_matrices.stencils():
        n = A.shape[0]
        A = A.to_device("cuda")
        x, y = cp.random.standard_normal(n), cp.empty(n)
        G = A.to_cupyx_sparse()
        calls = csr_peers(G, x, cp.empty(n))
        calls["cupyx"] = lambda G=G, x=x: G @ x
        for format, layout in (("cds", {}), ("cds", {"symmetric": True}), ("hm", {})):
            B = A.asformat(format, **layout) if (format, layout) != ("cds", {}) else A
            name = "spformats_" + format + ("_symmetric" if layout else "")
            calls[name] = lambda B=B, x=x, y=y: sf.spmv(B, x, y)
            calls[name]()
            check(y, G @ x, name)
        nd = len(A.offsets)
        nbytes = 8 * n * (nd + 2)
        rows.append(bench.row("cds", case, bench.both(calls, nbytes), "spformats_cds", nbytes, n=n, diagonals=nd))
        half = 8 * n * (nd // 2 + 3)
        rows[-1]["symmetric_bytes"] = half
        del calls, G, B
        cp.get_default_memory_pool().free_all_blocks()
    return rows


def blocks(bench: Bench, sweep: bool) -> list[dict[str, Any]]:
    import cupy as cp
    import gpu_peers

    import spformats as sf
    from spformats_plugins.cuda import tuner

    rows = []
    for case, A in gpu_matrices.block_bands():
        data, indices, ptr = A.data, A.indices, A.indptr.astype(cp.int32)
        n, m = A.shape
        x, y, z = cp.random.standard_normal(m), cp.empty(n), cp.empty(n)
        G = A.to_cupyx_sparse()
        expected = G @ x
        calls = csr_peers(G, x, z, ("csr",))
        generic: list[Any] = []

        def of(algorithm: int) -> Any:
            if not generic:
                generic.append(gpu_peers.bsr(data, indices, ptr))
            return generic[0].spmv(algorithm, x, z)

        calls |= peer_calls({
            "cusparse_bsrmv": lambda: gpu_peers.bsrmv(data, indices, ptr, x, z),
            **{f"cusparse_bsr_{a}": (lambda a=a: of(a)) for a in gpu_peers.SPMV["bsr"]},
            "torch_bsr": lambda: gpu_peers.torch_bsr(data, indices, ptr, (n, m), x, expected),
        })
        names = ("", "row_major", "thread_private", "team", "vector_unrolled") if "5x5" in case else ("",)
        for name in names:
            def ours(name: str = name) -> Any:
                if not name:
                    return sf.spmv(A, x, y)
                with sf.config(kernel=name):
                    return sf.spmv(A, x, y)

            y.fill(cp.nan)
            ours()
            check(y, expected, f"bsr {name}")
            calls["spformats" + ("_" + name if name else "")] = ours
        nbytes = data.nbytes + 4 * indices.size + 8 * A.indptr.size + 8 * (n + m)
        row = bench.row("bsr", case, bench.both(calls, nbytes, 20), "spformats", nbytes, launch=tuner.explain(A))
        if sweep:
            timed = tuner.timings(A, repeats=10)
            ranked = sorted(timed, key=lambda s: timed[s])
            row["sweep"] = [(list(s), timed[s]) for s in ranked]
            default = tuner.chosen(tuner._blocks(A))[0]
            print(f"    default {list(default)} {timed[default] * 1e6:.1f} us; " + "; ".join(
                f"{list(s)} {timed[s] * 1e6:.1f} ({nbytes / timed[s] / bench.copy:.2f})" for s in ranked[:4]
            ), flush=True)
        rows.append(row)
        calls = generic = G = A = data = indices = None
        cp.get_default_memory_pool().free_all_blocks()
    return rows


def jagged(bench: Bench, twins: list[Any], sweep: bool) -> list[dict[str, Any]]:
    import cupy as cp
    import cupyx.scipy.sparse as gs

    import spformats as sf
    from spformats_plugins.cuda import jagged as kernels
    from spformats_plugins.cuda import lanes
    from spformats_plugins.cuda.transpose import Rows

    rows = []
    for name, load in twins:
        host = load()
        G = gs.csr_matrix(tuple(cp.asarray(part) for part in host[:3]), shape=host[3])
        n, m = G.shape
        x, y, z = cp.random.standard_normal(m), cp.empty(n), cp.empty(n)
        C = sf.asarray(G)
        A = C.asformat("pjad", bsize=32, sigma=1024, force=True)
        calls = csr_peers(G, x, z)
        calls["spformats"] = lambda A=A, x=x, y=y: sf.spmv(A, x, y)
        calls["spformats_csr"] = lambda C=C, x=x, y=y: sf.spmv(C, x, y)
        expected = G @ x
        for what in ("spformats", "spformats_csr"):
            y.fill(cp.nan)
            calls[what]()
            check(y, expected, f"{name} {what}")
        slices = A._plans["cuda slices"]
        nbytes = slices.nbytes + 8 * (n + m)
        more = {
            "n": n,
            "nnz": int(G.nnz),
            "slots": int(slices.data.size),
            "pieces": slices.pieces,
            "slices": slices.number,
        }
        widths = (
            cp.bincount((slices.slice[:, 3] >> 19 & 3).astype(cp.int64), minlength=3).tolist() if slices.number else []
        )
        row = bench.row("pjad", name, bench.both(calls, nbytes), "spformats", nbytes, index_bytes=widths, **more)
        if sweep:
            csr = Rows(C.data, C.indices, C.indptr, C.shape)
            found = []
            for window, steps in [(None, None), *itertools.product((256,), (8, 16, 32))]:
                packed = lanes.pack(csr, window, steps)
                for unroll, block, ahead in (
                    (None, 128, 0),
                    (None, 128, 1),
                    (2, 128, 1),
                    (3, 128, 1),
                    (6, 128, 0),
                    (None, 64, 0),
                ):
                    run = kernels.spmv(packed, x.dtype, False, unroll=unroll, block=block, ahead=ahead)
                    cold = packed.nbytes < 2 * bench.l2
                    t = bench.times({"t": lambda run=run: run(None, x, y, 1, 0)}, 15, cold=cold)
                    found.append((t["t"], window, steps, unroll, block, ahead, packed.data.size / G.nnz, packed.nbytes))
                del packed
            found.sort(key=lambda f: f[0])
            row["sweep"] = found
            best = (f"{t * 1e6:.1f} w{w} s{s} u{u} b{b}/{o} pad {p:.2f}" for t, w, s, u, b, o, p, _ in found[:7])
            print("    " + "; ".join(best), flush=True)
        rows.append(row)
        calls = G = C = A = slices = expected = None
        cp.get_default_memory_pool().free_all_blocks()
    return rows


def columns(bench: Bench) -> list[dict[str, Any]]:
    import cupy as cp
    import gpu_peers

    import spformats as sf

    rows = []
    for case, A, formats in gpu_matrices.for_spmm():
        n, m = A.shape
        G = A.to_cupyx_sparse()
        peer = gpu_peers.csr(G)
        generic: list[Any] = []
        for k in (8, 32):
            X, Y, Z = cp.random.standard_normal((m, k)), cp.empty((n, k)), cp.empty((n, k))
            expected = G @ X
            makers = {f"cusparse_csr_{a}": (lambda a=a, X=X, Z=Z: peer.spmm(a, X, Z)) for a in gpu_peers.SPMM}
            if A.format == "bsr":
                def of(X: Any = X, Z: Any = Z) -> Any:
                    if not generic:
                        generic.append(gpu_peers.bsr(A.data, A.indices, A.indptr.astype(cp.int32)))
                    return generic[0].spmm(0, X, Z)

                makers["cusparse_bsr_0"] = of
            calls = peer_calls(makers)
            for format in formats:
                B = (
                    A
                    if format == A.format
                    else A.asformat(format, force=True, **({"bsize": 32, "sigma": 1024} if format == "pjad" else {}))
                )
                name = f"spformats_{format}"
                calls[name] = lambda B=B, X=X, Y=Y: sf.spmv(B, X, Y) if False else sf.dispatch.run("spmm", B, X, Y)
                Y.fill(cp.nan)
                calls[name]()
                check(Y, expected, f"spmm {name}")
            times = bench.both(calls, math.inf, 15)
            for format in formats:
                only = {
                    kind: {
                        n_: t
                        for n_, t in taken.items()
                        if not n_.startswith("spformats") or n_ == f"spformats_{format}"
                    }
                    for kind, taken in times.items()
                }
                stored = A if format == A.format else None
                nbytes = (stored.nbytes if stored is not None else 12 * G.nnz) + 8 * k * (n + m)
                rows.append(bench.row(f"spmm{k}", f"{case} {format}", only, f"spformats_{format}", nbytes, columns=k))
            del calls
        G = peer = generic = None
        cp.get_default_memory_pool().free_all_blocks()
    return rows


def host(bench: Bench) -> list[dict[str, Any]]:
    """Host time of one product of n = 2000, without waiting for the device."""
    import cupy as cp

    import spformats as sf

    rows = []
    S = sf.gallery.poisson2d(45).to_scipy_sparse().tocsr()[:2000, :2000]
    x = cp.ones(2000)

    def taken(A: Any) -> float:
        best = math.inf
        for _ in range(7):
            A @ x
            cp.cuda.Device().synchronize()
            t = time.perf_counter()
            for _ in range(200):
                A @ x
            best = min(best, (time.perf_counter() - t) / 200)
        return best

    import cupyx.scipy.sparse as gs

    peer = taken(gs.csr_matrix(S))
    for format in FORMATS_SPMM:
        if format == "bsr" and S.shape[0] % 2:
            continue
        A = sf.asarray(S, format=format, device="cuda", **({"blocksize": (2, 2)} if format == "bsr" else {}))
        rows.append({"work": "host", "case": format, "seconds": taken(A), "cupyx_csr": peer})
        print(
            f"host       {format:22s} {rows[-1]['seconds'] * 1e6:.1f} us a product, cupyx CSR {peer * 1e6:.1f}",
            flush=True,
        )
    return rows


def environment(bench: Bench) -> dict[str, Any]:
    import cupy as cp
    import gpu_peers
    import numpy as np

    import spformats as sf

    properties = cp.cuda.runtime.getDeviceProperties(0)
    return {
        "date": datetime.date.today().isoformat(), "device": properties["name"].decode(), "l2_bytes": bench.l2,
        "copy_bytes_per_second": bench.copy, "cupy": cp.__version__, "numpy": np.__version__,
        "python": platform.python_version(), "spformats": getattr(sf, "__version__", None),
        "cuda_runtime": cp.cuda.runtime.runtimeGetVersion(),
        "driver": cp.cuda.runtime.driverGetVersion(), "cusparse": gpu_peers.version(),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="host,cds,bsr,spmm,pjad", help="comma-separated parts")
    parser.add_argument("--twins", type=Path, help="folder with twins.py")
    parser.add_argument("--names", help="comma-separated twins")
    parser.add_argument("--sweep-bsr", action="store_true")
    parser.add_argument("--sweep-pjad", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    parts = given.only.split(",")
    # built before CUDA starts: forked processes must not inherit it
    twins = gpu_matrices.twins(given.twins, given.names) if "pjad" in parts and given.twins else []
    bench = Bench()
    results: dict[str, Any] = {"environment": environment(bench), "rows": []}
    print(json.dumps(results["environment"]), flush=True)
    runs = {
        "host": host, "cds": diagonals, "bsr": lambda b: blocks(b, given.sweep_bsr), "spmm": columns,
        "pjad": lambda b: jagged(b, twins, given.sweep_pjad),
    }  # fmt: skip
    for part in parts:
        results["rows"] += runs[part](bench)
        if given.out:
            given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
