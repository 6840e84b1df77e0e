"""The same again with SciPy's array API support switched on, which it reads when it is imported: in a process of its
own."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("module", ["iterative", "eigen", "direct", "operators", "containers"])
def test_with_scipy_array_api(module):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        str(HERE / f"test_scipy_{module}.py"),
    ]
    # one layout of each kind of format, to keep it short
    chosen = "csr or pjad-papers or bsr or cds or hm or cdm"
    run = subprocess.run(
        [*command, "-k", chosen],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
