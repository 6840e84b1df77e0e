"""A table and a plot of the GPU benchmark.

    python benchmarks/gpu_report.py benchmarks/results/gpu_2026-11-28.json --plot gpu.svg

The table is Markdown on standard output.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any


def cells(row: dict[str, Any], kind: str) -> str:
    """Time, fraction of copy bandwidth, best peer and its time over ours."""
    if kind not in row:
        return "| | | | "
    taken = row[kind]
    ours = taken["seconds"][taken["best_peer"]] / taken["times_best_peer"]
    fraction, ahead = taken["fraction_of_copy"], taken["times_best_peer"]
    return f"| {ours * 1e6:.1f} | {fraction:.2f} | {taken['best_peer']} | ×{ahead:.2f} "


def mean(rows: list[dict[str, Any]], kind: str) -> float:
    """Geometric mean of the peers' time over ours; warm times stand in where there are no cold ones."""
    logs = [math.log(row.get(kind, row["warm"])["times_best_peer"]) for row in rows]
    return math.exp(sum(logs) / len(logs))


def table(results: dict[str, Any]) -> str:
    env = results["environment"]
    lines = [
        f"{env['device']}, copy {env['copy_bytes_per_second'] / 1e12:.2f} TB/s, CuPy {env['cupy']}, "
        f'cuSPARSE {env["cusparse"]}, {env["date"]}. Times in µs; "cold" has the L2 cache flushed before each product.',
        "",
        "| work | case | warm | of copy | best peer | ahead | cold | of copy | best peer | ahead |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    timed = [row for row in results["rows"] if "warm" in row]
    lines += [f"| {row['work']} | {row['case']} {cells(row, 'warm')}{cells(row, 'cold')}|" for row in timed]
    for work in dict.fromkeys(row["work"] for row in timed):
        rows = [row for row in timed if row["work"] == work]
        lines.append(f"| {work} | geometric mean | | | | ×{mean(rows, 'warm'):.2f} | | | | ×{mean(rows, 'cold'):.2f} |")
    atomics = [row for row in results["rows"] if row["work"] == "atomic"]
    if atomics:
        names = ("default", "atomic", "default_first", "atomic_first")
        lines += [
            "",
            'Kernels that add by atomics (`sf.config(kernel="atomic")`), µs; first products include what they prepare.',
            "",
            "| product | default | atomic | first, default | first, atomic |",
            "|---|---|---|---|---|",
        ]
        for row in atomics:
            times = " | ".join(f"{row[f'{name}_seconds'] * 1e6:.1f}" for name in names)
            lines.append(f"| {row['case']} | {times} |")
    hosts = [row for row in results["rows"] if row["work"] == "host"]
    if hosts:
        times = ", ".join(f"{row['case']} {row['seconds'] * 1e6:.0f}" for row in hosts)
        lines += [
            "",
            f"Host time of a product, n = 2000: {times} µs; cupyx CSR {hosts[0]['cupyx_csr_seconds'] * 1e6:.0f} µs.",
        ]
    return "\n".join(lines)


def plot(results: dict[str, Any], path: Path) -> None:
    import matplotlib.pyplot as plt

    rows = [row for row in results["rows"] if "warm" in row]
    figure, axes = plt.subplots(figsize=(8, 0.22 * len(rows) + 1))
    ahead = [row["warm"]["times_best_peer"] for row in rows]
    axes.barh(range(len(rows)), ahead, color=["tab:blue" if a >= 1 else "tab:red" for a in ahead])
    axes.set_yticks(range(len(rows)), [f"{row['work']} {row['case']}" for row in rows], fontsize=6)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel(f"time of the best peer over ours, warm ({results['environment']['device']})")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--plot", type=Path, help="picture to write")
    given = parser.parse_args()
    results = json.loads(given.results.read_text())
    print(table(results))
    if given.plot:
        plot(results, given.plot)


if __name__ == "__main__":
    main()
