"""What a benchmark ran on: the processor and the versions of the libraries."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("numpy", "scipy", "numba", "spformats")


def machine() -> dict[str, str]:
    """Processor, number of cores, and the versions that were measured."""
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "cpu_model_name": model,
        "cpu_count": str(os.cpu_count()),
        "python_version": platform.python_version(),
        **{f"{name}_version": version(name) for name in LIBRARIES},
    }
