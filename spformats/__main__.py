"""The command line: ``python -m spformats info FILE.mtx``, ``warmup``, ``--version``."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="spformats", description="Structure and formats of sparse matrices.")
    parser.add_argument("--version", action="store_true", help="print the versions of spformats and what it runs on")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    info = commands.add_parser("info", help="structure of a Matrix Market file and the format that suits it")
    info.add_argument("files", nargs="+", metavar="FILE", help="a .mtx file, also gzip, bzip2 or xz")
    commands.add_parser("warmup", help="compile the common CPU kernels now, so that no first product waits for them")
    options = parser.parse_args(arguments)
    if options.version:
        return _version()
    if options.command == "info":
        return _info(options.files)
    if options.command == "warmup":
        return _warmup()
    parser.print_help()
    return 2


def _version() -> int:
    from importlib import metadata

    for package in ("spformats", "numpy", "scipy", "numba"):
        print(f"{package} {metadata.version(package)}")
    return 0


def _info(files: Sequence[str]) -> int:
    from spformats.advisor import recommend
    from spformats.interop.matrix_market import mmread

    status = 0
    for name in files:
        try:
            advice = recommend(mmread(name))
        except (OSError, ValueError) as error:
            print(error if str(error).startswith(name) else f"{name}: {error}", file=sys.stderr)
            status = 1
            continue
        print(f"{name}\n{advice.features}\nrecommended      {advice}\n")
    return status


def _warmup() -> int:
    """Compile through the Numba plugin, which reports each kernel as ``progress(done, total, name)``."""
    warmup = importlib.import_module("spformats_plugins.numba").warmup
    start = time.perf_counter()

    def progress(done: int, total: int, name: str) -> None:
        print(f"[{done:>3}/{total}] {time.perf_counter() - start:6.1f} s  {name}", flush=True)

    warmup(progress)
    return 0


if __name__ == "__main__":
    sys.exit(main())
