"""A plugin from outside: installed by pip as a distribution of its own, found by its entry point, held to the suite."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parent / "plugin_dist"

CONFORMANCE = """
import numpy as np, scipy.sparse as sp, spformats as sf
from spformats.testing import check_format, check_kernel
assert "spformats_envelope" not in __import__("sys").modules
A = sf.asarray(sp.random_array((30, 20), density=0.1, rng=1), format="envelope")
assert type(A).__module__ == "spformats_envelope.format"
assert sf.dispatch.explain("spmv", A, np.ones(20)).kernel.name == "envelope"
np.testing.assert_allclose(A.asformat("bsr", blocksize=(5, 5)).asformat("envelope").todense(), A.todense())
print(check_format("envelope"))
for op in ("spmv", "spmm"):
    for name in ("envelope", "reference"):
        print(check_kernel(op, "envelope", name=name, pairs=[("float32", "float32"), ("float64", "complex64")]))
few = dict(pairs=[("complex64", "complex64")], matrices=("empty", "irregular", "wide"))
print(check_kernel("spmv", "envelope", "array_api_strict", "reference", **few))
"""

SOLVER = """
import numpy as np, scipy.sparse.linalg as sla, spformats as sf
A = sf.gallery.poisson2d(12).asformat("envelope")
b = np.ones(144)
x, info = sla.cg(A, b, rtol=1e-10)
assert info == 0 and np.linalg.norm(A @ x - b) < 1e-8
x = sla.splu(A).solve(b)
assert np.linalg.norm(A @ x - b) < 1e-10
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folder the distribution was installed into."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(SOURCE, folder / "source")  # building writes beside the source
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*pip, "--target", str(folder / "site"), str(folder / "source")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def run(code, site):
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        cwd=site,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_a_format_and_a_kernel_from_outside_pass_the_suite(installed):
    done = run(CONFORMANCE, installed)
    assert done.returncode == 0, done.stderr
    assert all(int(line) > 10 for line in done.stdout.split())


def test_solvers_take_the_format_from_outside(installed):
    done = run(SOLVER, installed)
    assert done.returncode == 0, done.stderr


def test_without_the_plugin_the_format_is_unknown(tmp_path):
    done = run("import spformats as sf; sf.eye(3).asformat('envelope')", tmp_path)
    assert "unknown format 'envelope'" in done.stderr


def test_a_plugin_that_fails_to_import_is_named_and_skipped(installed, tmp_path):
    """Its own products still run, and the warning comes once."""
    shutil.copytree(installed, tmp_path / "site")
    site = tmp_path / "site"
    (site / "spformats_envelope" / "__init__.py").write_text("raise RuntimeError('no such device')\n", encoding="utf-8")
    code = "import numpy as np, spformats as sf\nfor _ in range(2): print((sf.eye(3) @ np.ones(3)).sum())"
    done = run(code, site)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3.0", "3.0"]
    assert done.stderr.count("plugin 'envelope' (spformats_envelope) could not be imported") == 1, done.stderr
    assert "RuntimeError: no such device" in done.stderr
