"""Sparse products A @ A of CSR arrays on a GPU against cuSPARSE, as cupyx calls it.

    python benchmarks/gpu_spgemm.py --out results.json

Times are of whole calls from Python, the host waiting for each, in turns: least and median, in milliseconds. Ours has
sorted rows; cuSPARSE's are sorted for the comparison of the results only.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cupy
import cupyx.scipy.sparse
import numpy as np
import scipy.sparse as sp

import spformats as sf


def power_law(n: int, mean: float, longest: int) -> sp.csr_array:
    """Rows and columns of falling length, as a graph of links has them."""
    rng = np.random.default_rng(0)
    lengths = np.minimum((0.6 * mean * rng.pareto(1.6, n) + 1).astype(int), longest)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = (n * rng.random(indptr[-1]) ** 2).astype(np.int64)
    S = sp.csr_array((np.ones(indptr[-1]), indices, indptr), shape=(n, n))
    S.sum_duplicates()
    S.data[:] = rng.random(S.nnz)
    return S


def scattered(n: int, count: int) -> sp.csr_array:
    """``count`` diagonals anywhere within 4000 of the main one."""
    rng = np.random.default_rng(0)
    offsets = np.sort(rng.choice(np.arange(-4000, 4000), count, replace=False))
    return sp.diags_array(rng.random((count, n)), offsets=offsets, shape=(n, n)).tocsr()


def matrices() -> Iterator[tuple[str, sp.csr_array]]:
    yield "poisson2d 1000^2", sf.gallery.poisson2d(1000).tocsr()
    yield "poisson3d 100^3", sf.gallery.poisson3d(100).tocsr()
    yield "27-point 60^3", sf.gallery.stencil27(60).tocsr()
    yield "60 scattered diagonals", scattered(200_000, 60)
    yield "power law", power_law(200_000, 6, 3000)
    yield "random, 8 a row", sp.random_array((300_000,) * 2, density=8 / 300_000, rng=np.random.default_rng(0)).tocsr()


def timed(calls: dict[str, Callable[[], object]], repeats: int = 11) -> dict[str, list[float]]:
    """Milliseconds of each call, one repeat of all of them after the other."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for repeat in range(repeats + 1):
        for name, call in calls.items():
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            call()
            cupy.cuda.Device().synchronize()
            if repeat:
                times[name].append(1e3 * (time.perf_counter() - start))
    return times


def measure(case: str, S: sp.csr_array) -> dict[str, object]:
    G = cupyx.scipy.sparse.csr_matrix(sp.csr_matrix(S))
    A = sf.asarray(G)
    C, P = A @ A, G @ G
    P.sort_indices()
    difference = abs(C.to_cupyx_sparse() - P)
    error = float(difference.max() / abs(P).max()) if difference.nnz else 0.0
    entries = int(C.data.size)
    del C, P, difference
    times = timed({"spformats": lambda: A @ A, "cusparse": lambda: G @ G})
    least = {name: min(t) for name, t in times.items()}
    products = int(np.diff(S.indptr)[S.indices].sum())
    row = {"case": case, "nnz": S.nnz, "products": products, "entries": entries, "relative_difference": error}
    row |= {"least_ms": least, "median_ms": {name: float(np.median(t)) for name, t in times.items()}}
    row["times_cusparse"] = least["cusparse"] / least["spformats"]
    print(
        f"{case:24s} {least['spformats']:8.2f} ms, cuSPARSE {least['cusparse']:8.2f}", f"x{row['times_cusparse']:.2f}"
    )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for case, S in matrices():
        rows.append(measure(case, S))
        cupy.get_default_memory_pool().free_all_blocks()
    if given.out:
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        facts = {
            "device": properties["name"].decode(),
            "driver": cupy.cuda.runtime.driverGetVersion(),
            "cuda": cupy.cuda.runtime.runtimeGetVersion(),
            "cupy": cupy.__version__,
            "spformats": sf.__version__,
            "date": datetime.date.today().isoformat(),
        }
        given.out.write_text(json.dumps({"environment": facts, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
