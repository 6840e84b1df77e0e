"""Time of conversions beside SciPy's nearest work, on five million nonzeros.

Run: ``python benchmarks/conversions.py [--nnz 5000000]``. For each matrix and format: seconds of CPU to the format and
back to CSR, and their ratio to what SciPy does of the kind: ``todia()`` for diagonal formats, else ``tobsr()``.
``overheads.py`` writes the same as JSON.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import spformats as sf

LAYOUTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ell", {}),
    ("jad", {}),
    ("pjad", {}),
    ("pjad", {"bsize": 32}),
    ("bsr", {"blocksize": (2, 2)}),
    ("bsr", {"blocksize": (3, 3), "pad": True}),
    ("cds", {}),
    ("hm", {}),
    ("cdm", {}),
)


def matrices(nnz: int) -> Iterator[tuple[str, sp.csr_array]]:
    """A stencil, a random band, 3 × 3 blocks and a power law of about ``nnz`` entries."""
    rng = np.random.default_rng(0)
    side = int((nnz / 5) ** 0.5)
    yield "5-point stencil", sf.gallery.poisson2d(side).tocsr()
    n = nnz // 25
    rows = np.repeat(np.arange(n), 25)
    cols = np.clip(rows + rng.integers(-300, 300, rows.size), 0, n - 1)
    yield "random band", sp.csr_array((rng.random(rows.size), (rows, cols)), shape=(n, n))
    blocks = nnz // 9
    n = blocks // 9
    pattern = sp.coo_array((np.ones(blocks), rng.integers(0, n, (2, blocks))), shape=(n, n)).tocsr()
    yield "3 x 3 blocks", sp.csr_array(sp.kron(pattern, np.ones((3, 3))))
    n = nnz // 10
    lengths = np.clip((rng.pareto(1.3, n) * 4).astype(int), 0, 5000)
    rows = np.repeat(np.arange(n), lengths)[:nnz]
    yield "power law", sp.csr_array((np.ones(rows.size), (rows, rng.integers(0, n, rows.size))), shape=(n, n))


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Least CPU time of a few runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def conversions(nnz: int) -> Iterator[dict[str, Any]]:
    """A row for each matrix and format; ``refused`` says why there are no times."""
    warnings.filterwarnings("ignore", category=sp.SparseEfficiencyWarning)  # todia() of many diagonals
    for name, S in matrices(nnz):
        S.sum_duplicates()
        A = sf.asarray(S)
        size = (2, 2) if S.shape[0] % 2 == 0 else (1, 1)
        tobsr = seconds(lambda: S.tobsr(blocksize=size))
        todia = None
        for format, layout in LAYOUTS:
            row = {"matrix": name, "nnz": S.nnz, "format": format, "layout": layout}
            try:
                B = A.asformat(format, **layout)
            except (sf.StorageError, ValueError) as error:
                yield row | {"refused": str(error)}
                continue
            theirs = tobsr
            if format in ("cds", "hm", "cdm"):
                todia = seconds(lambda: S.todia(), 1) if todia is None else todia
                theirs = todia
            there = seconds(lambda: A.asformat(format, **layout))
            back = seconds(lambda: B.asformat("csr"))
            yield row | {"scipy": theirs, "to": there, "back": back}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nnz", type=int, default=5_000_000)
    shown = None
    for row in conversions(parser.parse_args().nnz):
        if row["matrix"] != shown:
            shown = row["matrix"]
            print(f"\n{shown}: {row['nnz']} nonzeros")
        label = f"  {row['format']:5}{row['layout'] or ''!s:40}"
        if "refused" in row:
            print(f"{label} refused: {row['refused'][:60]}…")
        else:
            theirs, there, back = row["scipy"], row["to"], row["back"]
            print(
                f"{label} SciPy {theirs:6.3f} s   to {there:6.3f} s ({there / theirs:4.1f}×)"
                f"   back {back:6.3f} s ({back / theirs:4.1f}×)"
            )


if __name__ == "__main__":
    main()
