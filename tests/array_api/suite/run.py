"""Run data-apis/array-api-tests, restricted to two dimensions, against spformats.

    python tests/array_api/suite/run.py PATH_TO_CHECKOUT [pytest arguments]

The checkout is the suite's repository with its submodule ``array-api`` (git clone --recurse-submodules). Its
requirements are hypothesis, ndindex and pytest. With ``--bare`` our lists of skips and xfails are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    """Run the suite; returns pytest's exit status."""
    if not arguments:
        print(__doc__)
        return 2
    checkout, *rest = arguments
    environment = {
        **os.environ,
        "ARRAY_API_TESTS_MODULE": "spformats",
        "ARRAY_API_TESTS_VERSION": os.environ.get("ARRAY_API_TESTS_VERSION", "2025.12"),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH")))),
    }
    # with "=": pytest takes a path that stands alone for a test path and would number the tests from another root
    lists = [f"--skips-file={HERE / 'skips.txt'}", f"--xfails-file={HERE / 'xfails.txt'}"]
    if "--bare" in rest:
        rest.remove("--bare")
        lists = [f"--skips-file={os.devnull}", f"--xfails-file={os.devnull}"]
    selected = rest if any("test_" in a for a in rest) else [*rest, "array_api_tests/"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "two_dimensional",
        "-p",
        "no:cacheprovider",
        "-q",
        "--disable-deadline",
    ]
    return subprocess.call([*command, *lists, *selected], cwd=checkout, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
