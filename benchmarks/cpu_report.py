"""A table and a plot of the CPU benchmark.

    python benchmarks/cpu_report.py benchmarks/results/cpu_*.json.gz --plot cpu.svg

The table is Markdown on standard output. "of triad" is the bandwidth a product reached, its arrays and vectors counted
once, as a share of the triad measured in turn with it; it exceeds 1 where the working set fits the cache. "Of read" is
the same beside the sum of an array: what memory gives to a product, nearly all of whose bytes are read.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import pyperf

PEERS = ("scipy", "mkl")
Case = tuple[str, str, int]


def read(paths: list[Path]) -> tuple[dict[str, Any], dict[Case, dict[str, Any]]]:
    """Metadata of the machine, and for each case the best time of every contestant."""
    machine: dict[str, Any] = {}
    cases: dict[Case, dict[str, Any]] = {}
    for path in paths:
        for benchmark in pyperf.BenchmarkSuite.load(str(path)).get_benchmarks():
            data = benchmark.get_metadata()
            machine = machine or data
            case = cases.setdefault((data["case"], data["dtype"], data["columns"]), {"nnz": data["nnz"], "times": {}})
            case["times"][data["contestant"]] = (min(benchmark.get_values()), data["product_bytes"])
    return machine, cases


def best(times: dict[str, tuple[float, int]], *groups: str) -> str:
    return min((c for c in times if c.split()[0] in groups), key=lambda c: times[c][0])


def share(times: dict[str, tuple[float, int]], product: str, of: str) -> float:
    """The bandwidth of a product as a share of that of the triad or the sum; NaN where that was not measured."""
    (seconds, nbytes), (least, moved) = times[product], times.get(of, (math.nan, 1))
    return nbytes / seconds / (moved / least)


def rows(cases: dict[Case, dict[str, Any]]) -> list[tuple[Case, str, str, float, float, float, float, float]]:
    """Case, our best format, the best peer, our time, times ahead of the peer, shares of triad and sum, GFLOPS."""
    found = []
    for key, case in cases.items():
        times = case["times"]
        ours, peer = best(times, "spformats"), best(times, *PEERS)
        seconds = times[ours][0]
        shares = share(times, ours, "triad"), share(times, ours, "read")
        gflops = 2 * case["nnz"] * key[2] / seconds / 1e9
        found.append((key, ours, peer, seconds, times[peer][0] / seconds, *shares, gflops))
    return found


def table(machine: dict[str, Any], cases: dict[Case, dict[str, Any]]) -> str:
    found = rows(cases)
    cpu, date = machine["cpu_model_name"], machine["measured_on"]
    lines = [
        f"{cpu}, {machine['threads']} threads, {date}. Times in ms, the best of interleaved repeats.",
        "",
        "| case | values | columns | ours | ms | GFLOPS | of triad | of read | best peer | ahead |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (name, dtype, columns), ours, peer, seconds, ahead, of_triad, of_read, gflops in found:
        read = "" if math.isnan(of_read) else f"{of_read:.2f}"
        shown = f"**×{ahead:.2f}**" if ahead < 1 else f"×{ahead:.2f}"
        lines.append(
            f"| {name} | {dtype} | {columns} | {ours.removeprefix('spformats ')} | {seconds * 1e3:.3f} | {gflops:.2f} "
            f"| {of_triad:.2f} | {read} | {peer} | {shown} |"
        )
    mean = math.exp(sum(math.log(row[4]) for row in found) / len(found))
    lost = sum(row[4] < 1 for row in found)
    lines.append(f"\nGeometric mean ×{mean:.2f} over the best peer; behind it in {lost} of {len(found)} cases (bold).")
    return "\n".join(lines)


def plot(cases: dict[Case, dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    found = rows(cases)
    figure, axes = plt.subplots(figsize=(8, 0.22 * len(found) + 1))
    axes.barh([f"{n}, {d}, {c}" for (n, d, c), *_ in found], [row[4] for row in found])
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
