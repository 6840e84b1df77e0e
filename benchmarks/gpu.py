"""Products on the GPU against cuSPARSE and torch.

    python benchmarks/gpu.py --out results.json               # everything that needs no matrices from elsewhere
    python benchmarks/gpu.py --only pjad --twins DIR          # DIR holds a twins.py with twin(name, scale)

Every figure is the median of repeats in which our product and the peers take turns, timed by events on a device that is
kept busy until the launches of the repeat are queued. "warm" repeats follow a run of the same product; "cold" ones,
taken where the L2 cache could hold the working set, come after 256 MB of other data have passed through it. Copy
bandwidth is that of a device-to-device copy of 2 GB, read and written bytes counted; a product's bytes are its arrays
read once and its vectors moved once. The host's part of a product is measured by ``cupyx.profiler.benchmark``.

``python benchmarks/gpu_report.py results.json`` makes a table and a plot of it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
from pathlib import Path
from typing import Any

import gpu_matrices


def host() -> list[dict[str, Any]]:
    """Host time of one product of n = 2000: what Python and the launch cost before the device runs."""
    import cupy as cp
    import cupyx.scipy.sparse as gs
    from cupyx.profiler import benchmark

    import spformats as sf

    S = sf.gallery.poisson2d(50).to_scipy_sparse().tocsr()[:2000, :2000]
    x = cp.ones(2000)

    def taken(A: Any) -> float:
        return float(sorted(benchmark(lambda: A @ x, n_repeat=300, n_warmup=20).cpu_times)[150])

    rows = []
    peer = taken(gs.csr_matrix(S))
    for format in ("csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"):
        A = sf.asarray(S, format=format, device="cuda", **({"blocksize": (2, 2)} if format == "bsr" else {}))
        rows.append({"work": "host", "case": format, "seconds": taken(A), "cupyx_csr_seconds": peer})
        print(f"host    {format:20s} {rows[-1]['seconds'] * 1e6:.1f} us, cupyx CSR {peer * 1e6:.1f}", flush=True)
    return rows


def environment(bench: Any) -> dict[str, Any]:
    import cupy as cp
    import gpu_peers
    import numpy as np

    import spformats as sf

    runtime = cp.cuda.runtime
    return {
        "date": datetime.date.today().isoformat(),
        "device": runtime.getDeviceProperties(0)["name"].decode(),
        "l2_bytes": bench.l2,
        "copy_bytes_per_second": bench.copy,
        "cupy": cp.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "spformats": sf.__version__,
        "cuda_runtime": runtime.runtimeGetVersion(),
        "driver": runtime.driverGetVersion(),
        "cusparse": gpu_peers.version(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="host,cds,bsr,spmm,pjad,atomic", help="comma-separated parts")
    parser.add_argument("--twins", type=Path, help="folder with twins.py")
    parser.add_argument("--names", help="comma-separated twins")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    given = parser.parse_args()
    parts = given.only.split(",")
    # built before CUDA starts: forked processes must not inherit it
    twins = gpu_matrices.twins(given.twins, given.names) if given.twins and {"pjad", "atomic"} & {*parts} else []

    import gpu_products
    from gpu_timing import Bench

    bench = Bench()
    results: dict[str, Any] = {"environment": environment(bench), "rows": []}
    print(json.dumps(results["environment"]), flush=True)
    runs = {
        "host": host,
        "cds": lambda: gpu_products.diagonals(bench),
        "bsr": lambda: gpu_products.blocks(bench),
        "spmm": lambda: gpu_products.columns(bench),
        "pjad": lambda: gpu_products.jagged(bench, twins),
        "atomic": lambda: gpu_products.atomics(bench, [twin for twin in twins if twin[0] in gpu_matrices.FOR_ATOMICS]),
    }
    for part in parts:
        results["rows"] += runs[part]()
        if given.out:
            given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
