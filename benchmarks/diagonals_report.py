"""Tables and a plot of products of diagonal matrices: paper 004's Figures 6-9 and Tables 1-2, its numbers beside ours.

    python benchmarks/diagonals_report.py benchmarks/results/diagonals_*.json --plot diagonals.svg

The tables are Markdown on standard output; times in ms, the best of several runs, as called from Python.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

#: Columns, where they were measured, and what to call them.
COLUMNS = {
    "ours": "ours",
    "ours in place": "ours, in place",
    "paper tile": "paper's tiles",
    "paper atomic": "paper's atomics",
    "cusparse csr@csr": "cuSPARSE csr@csr",
    "scipy csr@csr": "SciPy csr@csr",
    "scipy dia@dia": "SciPy dia@dia",
    "dense": "dense",
    "paper": "printed in the paper",
}
PEERS = ("cusparse csr@csr", "scipy csr@csr", "scipy dia@dia", "dense")


def table(results: dict[str, Any]) -> str:
    """One table for each group of cases."""
    versions = ", ".join(f"{k} {results[k]}" for k in ("numpy", "scipy", "cupy", "cuda runtime") if k in results)
    lines = [f"## {results['machine']}, {results['date']} ({versions})"]
    if "note" in results:
        lines += ["", results["note"]]
    for group in dict.fromkeys(row["group"] for row in results["times_ms"]):
        rows = [row for row in results["times_ms"] if row["group"] == group]
        columns = [key for key in COLUMNS if any(key in row for row in rows)]
        peers = [key for key in PEERS if key in columns]
        head = ["case", *(COLUMNS[key] for key in columns), *(f"× {COLUMNS[key]}" for key in peers)]
        lines += ["", f"### {group}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for row in rows:
            times = [f"{row[key]:.4g}" if key in row else "" for key in columns]
            ahead = [f"×{row[key] / row['ours']:.1f}" if key in row else "" for key in peers]
            lines.append(f"| {' | '.join([row['case'], *times, *ahead])} |")
    return "\n".join(lines)


def plot(results: dict[str, Any], path: Path) -> None:
    """The groups side by side: times of every contestant over the cases."""
    import matplotlib.pyplot as plt

    groups = list(dict.fromkeys(row["group"] for row in results["times_ms"]))
    figure, axes = plt.subplots(1, len(groups), figsize=(5 * len(groups), 5))
    for axis, group in zip(axes, groups, strict=True):
        rows = [row for row in results["times_ms"] if row["group"] == group]
        for key, label in COLUMNS.items():
            found = [(row["case"], row[key]) for row in rows if key in row]
            if found:
                axis.plot(*zip(*found, strict=True), marker=".", label=label)
        axis.set(title=group, yscale="log", ylabel="ms")
        axis.tick_params(axis="x", rotation=90, labelsize=6)
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path, help="of the first file")
    given = parser.parse_args()
    measured = [json.loads(path.read_text()) for path in given.results]
    print("\n\n".join(table(results) for results in measured))
    if given.plot:
        plot(measured[0], given.plot)


if __name__ == "__main__":
    main()
