"""Products on the CPU against SciPy and MKL.

    python benchmarks/cpu.py --out results.json                     # needs no matrices from elsewhere
    python benchmarks/cpu.py --only twins --twins DIR --out more.json  # DIR holds a twins.py with twin(name, scale)
    python benchmarks/cpu.py --only files --files DIR/*.mtx.gz --out files.json

In every repeat our formats and the peers take turns, so that a slow spell of the machine meets all of them. A turn
begins with a pause, in which the threads of the one before go to sleep, and a product that is not timed, which wakes
one's own: as in a solver, where one product follows another. The result is a pyperf suite (``python -m pyperf stats
results.json``); its metadata hold the bytes a product must move. The triad, with arrays of four times the last cache as
STREAM asks, and the sum of an array, which only reads, are measured in turn with the products.
``cpu_report.py`` makes a table and a plot. GFLOPS are 2·nnz/t. Needs pyperf; with sparse_dot_mkl and MKL installed,
they are peers too.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyperf
import scipy.sparse as sp
from cpu_peers import peers
from machine import machine

import spformats as sf
from spformats import dispatch
from spformats_plugins.numba.caches import last_cache_bytes
from spformats_plugins.numba.launch import Spread

os.environ.setdefault("KMP_BLOCKTIME", "1")

Case = tuple[str, sp.csr_array, dict[str, dict[str, Any]], tuple[int, int] | None]
BLOCKS = [(r, r) for r in range(2, 9)] + [(3, 2), (2, 3), (6, 3), (5, 4)]
OTHER_BLOCKS = [(1, 4), (4, 1), (1, 9), (2, 8), (8, 2), (9, 9), (10, 10), (12, 12), (16, 16)]
#: Entries a large matrix is scaled down to.
ENTRIES = 6e6
#: Seconds between turns: more than KMP_BLOCKTIME, for which MKL's threads spin on the cores after a product.
PAUSE = 0.003
#: Products in a turn, which follow each other as in a solver: at least so many, at most so many, for so many seconds.
IN_A_TURN, MOST_IN_A_TURN, TURN = 3, 20, 2e-4


@numba.njit(nogil=True, fastmath=True)
def _triad(a, b, c, lo, hi):
    for i in range(np.uint64(lo), np.uint64(hi)):
        c[i] = a[i] + 3.0 * b[i]


@numba.njit(nogil=True, fastmath=True)
def _sum(a, sums, lo, hi):
    total = 0.0
    for i in range(np.uint64(lo), np.uint64(hi)):
        total += a[i]
    sums[lo] = total


#: Bytes of an array of the triad: as STREAM asks, four times the last cache, which then holds little of it.
STREAM = 4 * last_cache_bytes()


def triad() -> tuple[Callable[[], Any], int]:
    """The STREAM triad, and the bytes it moves (the read of c before it is written is not counted)."""
    a, b, c = np.ones((3, STREAM // 8))
    return Spread(_triad, (a, b, c), _eighths(len(a))), 3 * a.nbytes


def reading() -> tuple[Callable[[], Any], int]:
    """The sum of an array as large as the three of the triad: memory read in order. And its bytes."""
    a = np.ones(3 * STREAM // 8)
    return Spread(_sum, (a, np.empty(len(a))), _eighths(len(a))), a.nbytes


def _eighths(n: int) -> list[tuple[int, int]]:
    return [(i * n // 8, (i + 1) * n // 8) for i in range(8)]


def diagonal_cases() -> Iterator[Case]:
    for name, A in (
        ("Poisson 2048²", sf.gallery.poisson2d(2048)),
        ("Poisson 128³", sf.gallery.poisson3d(128)),
        ("27-point 96³", sf.gallery.stencil27(96)),
    ):
        csr = A.to_scipy_sparse().tocsr()
        rng = np.random.default_rng(0)
        csr.data = rng.standard_normal(csr.nnz)  # no constant diagonals: all of it has to be read
        yield name, csr, {f: {} for f in ("cds", "hm", "cdm", "csr", "pjad")}, None


def block_cases(sizes: list[tuple[int, int]]) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    width = 27
    for R, C in sizes:
        rows = int(ENTRIES / (width * R * C))
        first = np.clip(np.arange(rows) - width // 2, 0, rows - width)
        indices = (first[:, None] + np.arange(width)).ravel()
        data = rng.standard_normal((len(indices), R, C))
        matrix = sp.bsr_array((data, indices, np.arange(rows + 1) * width), shape=(rows * R, rows * C))
        yield f"{R}×{C}, 27 a row", matrix.tocsr(), {"bsr": {"blocksize": (R, C)}, "csr": {}}, (R, C)


def paper_case() -> Iterator[Case]:
    matrix = sf.gallery.block_band(32_000).to_scipy_sparse()
    yield "paper 003, 5×5, 5 %", matrix.tocsr(), {"bsr": {"blocksize": (5, 5)}}, (5, 5)


def _formats(csr: sp.csr_array) -> dict[str, dict[str, Any]]:
    return {"csr": {}, "pjad": {}, "ell": {}, "jad": {}, "bsr": {}, "cds": {}}


def twin_cases(folder: Path, names: list[str] | None) -> Iterator[Case]:
    sys.path.insert(0, str(folder))
    import twins

    for name, (_, nnz, _) in twins.TARGET.items():
        if names is None or name in names:
            csr = sp.csr_array(twins.twin(name, min(1.0, round(ENTRIES / nnz, 3))))
            csr.sort_indices()
            yield name, csr, _formats(csr), None


def file_cases(files: list[Path]) -> Iterator[Case]:
    for path in files:
        csr = sf.mmread(path).to_scipy_sparse().tocsr()
        if csr.dtype.kind == "f":
            yield path.name.partition(".")[0], csr, _formats(csr), None


@cache
def facts() -> dict[str, str]:
    """What the figures depend on; pyperf's own list would add paths and the host's name."""
    return {**machine(), "measured_on": datetime.date.today().isoformat()}


def measure(
    suite: list[pyperf.Benchmark],
    case: Case,
    dtype: str,
    k: int | None,
    yardsticks: dict[str, tuple[Callable[[], Any], int]],
    given: argparse.Namespace,
) -> None:
    name, csr, formats, blocksize = case
    csr = csr.astype(dtype)
    rng = np.random.default_rng(1)
    shape = (csr.shape[1],) if k is None else (csr.shape[1], k)
    x = rng.standard_normal(shape).astype(dtype)
    y = np.empty((csr.shape[0], *shape[1:]), dtype)
    dia = blocksize is None and "hm" in formats
    bsr = None if blocksize is None else csr.tobsr(blocksize)
    contestants = peers(csr, x, given.threads, bsr, dia)
    nbytes = dict.fromkeys(contestants, 0)
    operation = "spmv" if k is None else "spmm"
    source = sf.asarray(csr, format="csr")
    for format, layout in formats.items():
        try:
            A = source if format == "csr" else source.asformat(format, **layout)
        except (sf.StorageError, ValueError):
            continue
        label = f"spformats {format}"
        contestants[label] = lambda A=A: dispatch.run(operation, A, x, y, 1, 0)
        nbytes[label] = A.nbytes + x.nbytes + y.nbytes
    contestants |= {label: product for label, (product, _) in yardsticks.items()}
    nbytes |= {label: moved for label, (_, moved) in yardsticks.items()}
    want = csr @ x
    bound = 100 * np.finfo(dtype).eps * (abs(csr) @ abs(x))
    for label, product in contestants.items():
        got = product()
        if label not in yardsticks:
            got = y if label.startswith("spformats") else got
            assert (abs(got - want) <= bound).all(), f"{name}: {label} is wrong"
        product()
    times: dict[str, list[float]] = {label: [] for label in contestants}
    start = pyperf.perf_counter()
    while len(times["triad"]) < 3 or pyperf.perf_counter() - start < given.seconds:
        for label, product in contestants.items():
            time.sleep(PAUSE)
            product()
            begin_of_turn = pyperf.perf_counter()
            least = 1 if label in yardsticks else IN_A_TURN  # they take long, and nothing of theirs is in a cache
            for turn in range(MOST_IN_A_TURN):
                begin = pyperf.perf_counter()
                if turn >= least and begin - begin_of_turn > TURN:
                    break
                product()
                times[label].append(pyperf.perf_counter() - begin)
    common = {**facts(), "case": name, "dtype": dtype, "columns": k or 1, "operation": operation, "nnz": csr.nnz}
    for label, values in times.items():
        metadata = {
            **common,
            "name": f"{name} {dtype} {operation} {k or 1} {label}",
            "contestant": label,
            "unit": "second",
            "threads": given.threads,
            "product_bytes": nbytes[label],
        }
        suite.append(pyperf.Benchmark([pyperf.Run(values, metadata=metadata, collect_metadata=False)]))
    best = {label: min(values) for label, values in times.items()}
    ours = min((label for label in best if label.startswith("spf")), key=best.__getitem__)
    peer = min((label for label in best if label.split()[0] in ("scipy", "mkl")), key=best.__getitem__)
    print(
        f"{name:22s} {dtype} k={k or 1:<3d} {ours:16s} {best[ours] * 1e3:8.3f} ms  "
        f"best peer {peer:18s} ×{best[peer] / best[ours]:.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="pyperf JSON file to write")
    groups_there = "of diagonals, blocks, other-blocks, paper, twins, files"
    parser.add_argument("--only", default="diagonals,blocks", help=groups_there)
    parser.add_argument("--twins", type=Path, help="folder with twins.py")
    parser.add_argument("--names", help="comma-separated twins")
    parser.add_argument("--files", type=Path, nargs="*", default=[], help="Matrix Market files")
    parser.add_argument("--dtypes", default="float64,float32")
    parser.add_argument("--columns", default="1", help="comma-separated numbers of columns; 1 is a vector")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0, help="least time for a case")
    given = parser.parse_args()
    groups = {
        "diagonals": diagonal_cases,
        "blocks": lambda: block_cases(BLOCKS),
        "other-blocks": lambda: block_cases(OTHER_BLOCKS),
        "paper": paper_case,
        "twins": lambda: twin_cases(given.twins, given.names.split(",") if given.names else None),
        "files": lambda: file_cases(given.files),
    }
    suite: list[pyperf.Benchmark] = []
    yardsticks = {"triad": triad(), "read": reading()}
    with sf.config(threads=given.threads):
        for group in given.only.split(","):
            for case in groups[group]():
                for dtype in given.dtypes.split(","):
                    for columns in map(int, given.columns.split(",")):
                        measure(suite, case, dtype, None if columns == 1 else columns, yardsticks, given)
    pyperf.BenchmarkSuite(suite).dump(str(given.out), replace=True)


if __name__ == "__main__":
    main()
