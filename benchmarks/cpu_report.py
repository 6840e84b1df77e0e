"""A table and a plot of the CPU benchmark.

    python benchmarks/cpu_report.py benchmarks/results/cpu_*.json.gz --plot cpu.svg

The table is Markdown on standard output. "of triad" is the bandwidth a product reached, its arrays and vectors counted
once, as a share of the triad measured in turn with it; it exceeds 1 where the working set fits the cache. "Of read" is
the same beside the sum of an array: what memory gives to a product, nearly all of whose bytes are read. Two figures in
a cell are by the least of all times and by their medians.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyperf

PEERS = ("scipy", "mkl")
Case = tuple[str, str, int]
Times = dict[str, tuple[float, int]]


@dataclass
class Row:
    """What one case gave, by the least of the times or by their medians."""

    ours: str
    peer: str
    seconds: float
    ahead: float
    of_triad: float
    of_read: float


def read(paths: list[Path]) -> tuple[dict[str, Any], dict[Case, dict[str, Any]]]:
    """Metadata of the machine, and for each case the least and the median time of every contestant."""
    machine: dict[str, Any] = {}
    cases: dict[Case, dict[str, Any]] = {}
    for path in paths:
        for benchmark in pyperf.BenchmarkSuite.load(str(path)).get_benchmarks():
            data = benchmark.get_metadata()
            machine = machine or data
            key = data["case"], data["dtype"], data["columns"]
            case = cases.setdefault(key, {"nnz": data["nnz"], "least": {}, "median": {}})
            case["least"][data["contestant"]] = min(benchmark.get_values()), data["product_bytes"]
            case["median"][data["contestant"]] = benchmark.median(), data["product_bytes"]
    return machine, cases


def best(times: Times, *groups: str) -> str:
    return min((c for c in times if c.split()[0] in groups), key=lambda c: times[c][0])


def share(times: Times, product: str, of: str) -> float:
    """The bandwidth of a product as a share of that of the triad or the sum; NaN where that was not measured."""
    (seconds, nbytes), (other, moved) = times[product], times.get(of, (math.nan, 1))
    return nbytes / seconds / (moved / other)


def row(times: Times) -> Row:
    ours, peer = best(times, "spformats"), best(times, *PEERS)
    ahead = times[peer][0] / times[ours][0]
    return Row(ours, peer, times[ours][0], ahead, share(times, ours, "triad"), share(times, ours, "read"))


def rows(cases: dict[Case, dict[str, Any]]) -> list[tuple[Case, int, Row, Row]]:
    """Every case with its number of entries, by the least times and by the medians."""
    return [(key, case["nnz"], row(case["least"]), row(case["median"])) for key, case in cases.items()]


def table(machine: dict[str, Any], cases: dict[Case, dict[str, Any]]) -> str:
    found = rows(cases)
    cpu, date = machine["cpu_model_name"], machine["measured_on"]
    lines = [
        f"{cpu}, {machine['threads']} threads, {date}. Best formats, peers, ms and GFLOPS by the least of the times.",
        "",
        "| case | values | columns | ours | ms | GFLOPS | of triad | of read | best peer | ahead |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (name, dtype, columns), nnz, least, median in found:
        gflops = 2 * nnz * columns / least.seconds / 1e9
        read = "" if math.isnan(least.of_read) else f"{least.of_read:.2f} / {median.of_read:.2f}"
        lines.append(
            f"| {name} | {dtype} | {columns} | {least.ours.removeprefix('spformats ')} | {least.seconds * 1e3:.3f} "
            f"| {gflops:.2f} | {least.of_triad:.2f} / {median.of_triad:.2f} | {read} | {least.peer} "
            f"| {_ahead(least)} / {_ahead(median)} |"
        )
    lines += ["", "| peers | by the least times | by the medians |", "|---|---|---|"]
    packaged = rows(without_handles(cases))
    for title, some in (("SciPy, `sparse_dot_mkl`", packaged), ("MKL's inspected handles too", found)):
        by_least, by_median = [least.ahead for *_, least, _ in some], [median.ahead for *_, median in some]
        lines.append(f"| {title} | {_summary(by_least)} | {_summary(by_median)} |")
    return "\n".join(lines)


def without_handles(cases: dict[Case, dict[str, Any]]) -> dict[Case, dict[str, Any]]:
    """The cases without peers that no Python package offers: MKL's inspector, called through handles of our own."""
    return {
        key: {
            "nnz": case["nnz"],
            **{kind: {c: t for c, t in case[kind].items() if "inspected" not in c} for kind in ("least", "median")},
        }
        for key, case in cases.items()
    }


def _summary(ahead: list[float]) -> str:
    """Geometric mean over the best peer, and in how many cases that is ahead."""
    mean = math.exp(sum(map(math.log, ahead)) / len(ahead))
    behind = [a for a in ahead if a < 1]
    least = f" (×{min(behind):.2f} at least)" if behind else ""
    return f"mean ×{mean:.2f}, behind in {len(behind)} of {len(ahead)}{least}"


def _ahead(found: Row) -> str:
    return f"**×{found.ahead:.2f}**" if found.ahead < 1 else f"×{found.ahead:.2f}"


def plot(cases: dict[Case, dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    found = rows(cases)
    figure, axes = plt.subplots(figsize=(8, 0.22 * len(found) + 1))
    axes.barh([f"{n}, {d}, {c}" for (n, d, c), *_ in found], [least.ahead for *_, least, _ in found])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("time of the best peer / time of our best format")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    machine, cases = read(given.results)
    print(table(machine, cases))
    if given.plot:
        plot(cases, given.plot)


if __name__ == "__main__":
    main()
