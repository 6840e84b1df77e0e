"""What a product costs beside its arithmetic: calls, imports, the first product of a process, conversions.

    python benchmarks/overheads.py --out overheads.json
    python benchmarks/overheads.py --quick                 # a look, in seconds
    python benchmarks/overheads.py --only calls imports

Our formats and SciPy take turns, so that a slow spell of the machine meets all of them. Times are seconds, the least
and the median of the turns. The parts:

* ``calls``: ``A @ x`` and ``A.matvec(x)`` (what a solver calls) for a tridiagonal matrix of 100 rows.
* ``imports``: ``import spformats`` where ``scipy.sparse`` is already imported, in fresh processes. Part of that is
  SciPy's own ``scipy.sparse.linalg``, which has the LinearOperator our arrays are; it is given apart.
* ``first_products``: the first and the second ``A @ x`` of a fresh process, which imports Numba; with the compiled
  kernels in Numba's cache (``warm``) and with an empty cache (``cold``).
* ``conversions``: see ``conversions.py``.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from conversions import conversions
from machine import machine
from scipy.sparse.linalg import aslinearoperator

import spformats as sf

FORMATS = ("csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm")
Row = dict[str, Any]

IMPORTS = """
import time
start = time.perf_counter()
import scipy.sparse
scipy_sparse = time.perf_counter()
import scipy.sparse.linalg
linalg = time.perf_counter()
import spformats
end = time.perf_counter()
print(scipy_sparse - start, linalg - scipy_sparse, end - scipy_sparse)
"""

FIRST = """
import sys, time
import numpy as np, scipy.sparse as sp
import spformats as sf
n, format = int(sys.argv[1]), sys.argv[2]
A = sf.gallery.laplace1d(n).tocsr()
if format != "scipy":
    A = sf.asarray(A, format=format)
x = np.ones(n)
for _ in range(2):
    start = time.perf_counter()
    A @ x
    print(time.perf_counter() - start)
"""


def summary(times: list[float]) -> Row:
    """Least and median of the turns."""
    return {"least": min(times), "median": statistics.median(times), "turns": len(times)}


def in_turns(works: dict[str, Callable[[], Any]], turns: int, number: int) -> dict[str, Row]:
    """Seconds of one call of each, measured over ``number`` calls a turn."""
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(turns):
        for name, work in works.items():
            times[name].append(timeit.timeit(work, number=number) / number)
    return {name: summary(found) for name, found in times.items()}


def calls(turns: int) -> dict[str, dict[str, Row]]:
    """Seconds of ``A @ x`` and of ``A.matvec(x)`` where the arithmetic is next to nothing."""
    S, x = sf.gallery.laplace1d(100).tocsr(), np.ones(100)
    ours = {format: sf.asarray(S, format=format) for format in FORMATS}
    products: dict[str, Callable[[], Any]] = {"scipy": lambda: S @ x}
    operator = aslinearoperator(S)
    solvers: dict[str, Callable[[], Any]] = {"scipy": lambda: operator.matvec(x)}
    for name, A in ours.items():
        products[name] = lambda A=A: A @ x  # type: ignore[misc]
        solvers[name] = lambda A=A: A.matvec(x)  # type: ignore[misc]
    return {"A @ x": in_turns(products, turns, 500), "A.matvec(x)": in_turns(solvers, turns, 500)}


def printed_by(code: str, *arguments: str, cache: str | None = None) -> list[float]:
    """The numbers a fresh process prints."""
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(word) for word in run.stdout.split()]


def imports(turns: int) -> dict[str, Row]:
    """Seconds of imports in fresh processes."""
    printed_by(IMPORTS)  # writes the bytecode
    found = zip(*(printed_by(IMPORTS) for _ in range(turns)), strict=True)
    names = ("scipy.sparse", "scipy.sparse.linalg above scipy.sparse", "spformats above scipy.sparse")
    return {name: summary(list(times)) for name, times in zip(names, found, strict=True)}


def first_products(turns: int, n: int = 100_000) -> dict[str, dict[str, Row]]:
    """Seconds of the first and the second product of a process."""
    times: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as warm:
        for format in FORMATS:
            printed_by(FIRST, str(n), format, cache=warm)
        for _ in range(turns):
            for format in ("scipy", *FORMATS):
                with tempfile.TemporaryDirectory() as cold:
                    for name, cache in (("warm", warm), ("cold", cold)):
                        first, second = printed_by(FIRST, str(n), format, cache=cache)
                        found = times.setdefault(format, {})
                        found.setdefault(name, []).append(first)
                        found.setdefault("second", []).append(second)
    return {format: {name: summary(t) for name, t in found.items()} for format, found in times.items()}


PARTS: dict[str, Callable[[bool], Any]] = {
    "calls": lambda quick: calls(5 if quick else 200),
    "imports": lambda quick: imports(2 if quick else 20),
    "first_products": lambda quick: first_products(1 if quick else 5, 1000 if quick else 100_000),
    "conversions": lambda quick: list(conversions(20_000 if quick else 5_000_000)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="few turns, small matrices")
    parser.add_argument("--out", help="a JSON file")
    given = parser.parse_args()
    results: Row = {"date": datetime.date.today().isoformat(), "quick": given.quick, "machine": machine()}
    for name in given.only:
        results[name] = PARTS[name](given.quick)
        print(name, json.dumps(results[name], indent=1), flush=True)
    if given.out:
        with open(given.out, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
