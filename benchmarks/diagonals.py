"""Products of diagonal matrices against SciPy, cuSPARSE and dense products; paper 004's Figures 6-9 and Tables 1-2.

    python benchmarks/diagonals.py                      # CPU, everything (dense products of n = 10 000 take a while)
    python benchmarks/diagonals.py --device cuda        # GPU
    python benchmarks/diagonals.py --device cuda --tune # which rows per lane and warps per block are fastest here
    python benchmarks/diagonals.py --only bands --no-dense --out results.json

Times are the best of several runs, in milliseconds, of a product whose plan is made already (the paper, too, has the
diagonals of C beforehand); "with plan" is ``A @ B``, which finds the plan of an earlier product. On the GPU they are
those of calls from Python, in batches; "median" is the median of the batches, "device" the time of the kernels alone,
as torch's profiler has it. The paper measured on an Intel i7-7700K (sequential
code) and an NVIDIA Titan Xp: S. A. Haque, M. T. Parvez, S. Hossain, Algorithms 17(1), 2024, article 31. Its Figures 6
and 7 show bands of n = 1024 … 9216 and 10 240, its Figures 8 and 9 the two tables; they give no numbers to copy.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from machine import machine as machine_facts

import spformats as sf
from spformats.linalg import matmul_plan

#: n, diagonals of A and of B, then the paper's CPU and CUDA milliseconds.
TABLE_1 = [
    (1000, 9, 5, 4.33, 0.16), (2000, 9, 15, 2.12, 0.21), (3000, 29, 15, 11.66, 0.39), (4000, 29, 35, 38.60, 0.88),
    (5000, 59, 35, 99.52, 1.89), (6000, 89, 75, 440.61, 6.78), (7000, 99, 75, 560.69, 8.92),
    (8000, 109, 35, 307.67, 5.26), (9000, 59, 75, 444.00, 7.09), (10_000, 109, 35, 365.51, 6.34),
]  # fmt: skip
TABLE_2 = [
    (10_000, 200, 200, 4812.40, 66.62), (10_000, 300, 300, 11031.72, 141.86), (10_000, 400, 400, 19733.96, 241.23),
    (10_000, 500, 500, 31817.91, 358.39), (10_000, 600, 600, 46549.84, 468.83),
]  # fmt: skip
BANDS = [(n, k) for n in range(1024, 9217, 1024) for k in (5, 10, 15, 20)] + [(10_240, k) for k in range(5, 21, 5)]


def band(n: int, half: int):
    A = sf.gallery.banded(n, half, half, seed=0, format="cdm")
    return A, sf.gallery.banded(n, half, half, seed=1, format="cdm")


def structured(n: int, count: int, seed: int, reach: int):
    """``count`` random full diagonals at most ``reach`` from the main one, in HM.

    The nonzero counts in the paper's tables say that its diagonals lie within about n/4.
    """
    rng = np.random.default_rng(seed)
    offsets = np.sort(rng.choice(np.arange(-reach, reach), count, replace=False))
    data = np.zeros((count, n))
    for k, o in enumerate(offsets.tolist()):
        data[k, max(0, -o) : min(n, n - o)] = rng.random(n - abs(o))
    return sf.CDS(data, offsets, shape=(n, n)).asformat("hm")


def cases(only: str):
    """``(group, label, A, B, the paper's CPU ms, its CUDA ms)``"""
    if only in ("all", "bands"):
        for n, half in BANDS:
            yield "bands (Figures 6, 7)", f"n={n} kl=ku={half}", *band(n, half), None, None
    for group, table, seed in (("table 1 (Figure 8)", TABLE_1, 10), ("table 2 (Figure 9)", TABLE_2, 20)):
        if only in ("all", group.split(" (")[0].replace(" ", "")):
            for n, a, b, cpu, cuda in table:
                pair = structured(n, a, seed, n // 4), structured(n, b, seed + 1, n // 4)
                yield group, f"n={n} diagonals {a} x {b}", *pair, cpu, cuda
    if only in ("all", "wide"):
        for count in (200, 600):
            A = structured(10_000, count, 0, 5000)
            yield "diagonals from the whole matrix", f"n=10000 diagonals {count} x {count}", A, A, None, None


class Cpu:
    """Timing and rivals on NumPy and SciPy."""

    name = "cpu"

    def __init__(self, dense: bool, budget: float):
        self.dense, self.budget, self.dense_times = dense, budget, {}

    def best(self, run, runs: int = 20) -> float:
        run()
        times, spent = [], time.perf_counter()
        while len(times) < 3 or (len(times) < runs and time.perf_counter() - spent < self.budget):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return 1e3 * min(times)

    def move(self, A):
        return A

    def rivals(self, A, B) -> dict[str, float]:
        a, b = A.to_scipy_sparse().tocsr(), B.to_scipy_sparse().tocsr()
        times = {"scipy csr@csr": self.best(lambda: a @ b, 5)}
        a, b = scipy_dia(A), scipy_dia(B)
        times["scipy dia@dia"] = self.best(lambda: a @ b, 5)
        n = A.shape[0]
        if self.dense:
            if n not in self.dense_times:
                d = np.random.default_rng(0).random((n, n))
                start = time.perf_counter()
                d @ d
                self.dense_times[n] = 1e3 * (time.perf_counter() - start)
            times["dense"] = self.dense_times[n]
        return times

    def kernels(self) -> dict[str, str | None]:
        return {"ours": None}

    def take(self, times: dict[str, float], label: str, run, runs: int = 20) -> None:
        times[label] = self.best(run, runs)


class Gpu:
    """Timing and rivals on CuPy."""

    name = "cuda"

    def __init__(self, dense: bool, budget: float):
        import cupy

        self.cupy, self.dense, self.dense_times = cupy, dense, {}

    def take(self, times: dict[str, float], label: str, run, runs: int = 20) -> None:
        """Batches of calls, so that a call's work on the host overlaps with the GPU as in a real program."""
        run()
        self.cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        run()
        self.cupy.cuda.Device().synchronize()
        runs = max(2, min(runs, int(0.02 / (time.perf_counter() - start))))
        batches = []
        for _ in range(7):
            start = time.perf_counter()
            for _ in range(runs):
                run()
            self.cupy.cuda.Device().synchronize()
            batches.append(1e3 * (time.perf_counter() - start) / runs)
        times[label], times[f"{label} median"] = min(batches), sorted(batches)[3]
        if "in place" not in label and not label.startswith("paper"):
            device = kernel_time(run, min(runs, 5))
            if device:
                times[f"{label} device"] = device

    def move(self, A):
        return A.to_device("cuda")

    def rivals(self, A, B) -> dict[str, float]:
        from cupyx.scipy.sparse import csr_matrix

        a, b = (csr_matrix(M.to_device("cpu").to_scipy_sparse().tocsr()) for M in (A, B))
        times = {}
        try:
            made, wanted = (a @ b).nnz, matmul_plan(A, B).size
            if made < wanted // 2:  # a product too large for it has come back far too soon, without an error
                raise RuntimeError(f"it gave {made} entries where {wanted} belong")
            self.take(times, "cusparse csr@csr", lambda: a @ b)
        except Exception as error:  # cuSPARSE: insufficient resources
            print(f"    cuSPARSE failed: {type(error).__name__}: {str(error)[:80]}")
        self.cupy.get_default_memory_pool().free_all_blocks()
        n = A.shape[0]
        if self.dense:
            if n not in self.dense_times:
                d = self.cupy.random.random((n, n))
                self.dense_times[n] = {}
                self.take(self.dense_times[n], "dense", lambda: d @ d)
                del d
            times.update(self.dense_times[n])
        self.cupy.get_default_memory_pool().free_all_blocks()
        return times

    def kernels(self) -> dict[str, str | None]:
        return {"ours": None, "paper tile": "tile", "paper atomic": "atomic"}


def kernel_time(run, runs: int) -> float | None:
    """Milliseconds of the kernels, copies and fills of one run, added up; None without torch, whose profiler tells."""
    try:
        from torch.profiler import ProfilerActivity, profile
    except ImportError:
        return None
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(runs):
            run()
        import torch

        torch.cuda.synchronize()
    return sum(e.self_device_time_total for e in seen.key_averages()) / runs * 1e-3


def scipy_dia(A) -> sp.dia_array:
    flat, base, offsets = A._diagonals()
    n = A.shape[0]
    data = np.zeros((len(offsets), n))
    for k, (at, o) in enumerate(zip(base.tolist(), offsets.tolist(), strict=True)):
        lo, hi = max(0, -o), min(n, n - o)
        data[k, lo + o : hi + o] = flat[at + lo : at + hi]  # SciPy aligns diagonals by column
    return sp.dia_array((data, offsets), shape=A.shape)


def measure(machine, A, B) -> dict[str, float]:
    A, B = machine.move(A), machine.move(B)
    plan = matmul_plan(A, B)
    times = {}
    C = plan(A, B)
    for label, kernel in machine.kernels().items():
        with sf.config(kernel=kernel):
            machine.take(times, label, lambda: plan(A, B))
            machine.take(times, f"{label} in place", lambda: plan(A, B, out=C))
    machine.take(times, "ours with plan", lambda: A @ B)
    times.update(machine.rivals(A, B))
    times["multiplications"] = plan.multiplications
    times["result values"] = plan.size
    return times


def tune(machine) -> None:
    """Time our kernel for several shapes of its work."""
    from spformats_plugins.cuda import diagonal_walk

    chosen = [("band 5", *band(9216, 5)), ("band 20", *band(9216, 20))]
    for count in (200, 600):
        A = structured(10_000, count, 0, 5000)
        chosen.append((f"structured {count}", A, A))
    chosen.append(("structured 600 near", structured(10_000, 600, 20, 2500), structured(10_000, 600, 21, 2500)))
    for label, A, B in chosen:
        A, B = machine.move(A), machine.move(B)
        plan = matmul_plan(A, B)
        times: dict[str, float] = {}
        for run in (2, 4, 8):
            for diags in (1, 2, 4):
                for warps in (4, 8, 16, 32):
                    diagonal_walk.FIXED = diagonal_walk.Shape(run, diags, warps)
                    plan.forget()
                    machine.take(times, f"{run} rows x {diags} diagonals, {warps} warps", lambda: plan(A, B))
        device = {k.removesuffix(" device"): t for k, t in times.items() if k.endswith(" device")}
        print(label, " ".join(f"[{k}: {t:.4f}]" for k, t in sorted(device.items(), key=lambda i: i[1])), flush=True)
    diagonal_walk.FIXED = None


def versions(device: str) -> dict[str, str]:
    """The day, and the versions of the libraries measured."""
    made = {"date": datetime.date.today().isoformat(), "numpy": np.__version__, "spformats": sf.__version__}
    if device == "cpu":
        import scipy

        return {**made, "scipy": scipy.__version__}
    import cupy

    return {**made, "cupy": cupy.__version__, "cuda runtime": str(cupy.cuda.runtime.runtimeGetVersion())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", choices=("all", "bands", "table1", "table2", "wide"), default="all")
    parser.add_argument("--no-dense", action="store_true", help="leave out the dense products")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds spent on each CPU timing")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--out", type=Path, help="write the times as JSON")
    args = parser.parse_args()
    machine = (Cpu if args.device == "cpu" else Gpu)(not args.no_dense, args.budget)
    if args.tune:
        return tune(machine)
    facts = machine_facts()
    where = f"{facts['cpu_model_name']}, {facts['cpu_count']} cores"
    if args.device == "cuda":
        where = machine.cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    rows, group = [], None
    for new_group, label, A, B, paper_cpu, paper_cuda in cases(args.only):
        if new_group != group:
            group = new_group
            print(f"\n{group}, {args.device} ({where}), ms", flush=True)
        times = measure(machine, A, B)
        paper = {"paper": paper_cpu if args.device == "cpu" else paper_cuda} if paper_cpu else {}
        shown = {k: v for k, v in {**times, **paper}.items() if k not in ("multiplications", "result values")}
        print(f"  {label}: " + "  ".join(f"{k} {v:.3f}" for k, v in shown.items()), flush=True)
        rows.append({"group": group, "case": label, **times, **paper})
    if args.out:
        head = {"device": args.device, "machine": where, **versions(args.device)}
        args.out.write_text(json.dumps({**head, "times_ms": rows}, indent=1))


if __name__ == "__main__":
    main()
