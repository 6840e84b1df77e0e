"""Every example runs in a small size, and says so by its exit status."""

import re

import pytest
from documents import ROOT, run

MATRICES = sorted((ROOT / "tests" / "data").glob("*.mtx.gz"))
SMALL = {
    "poisson2d_cg.py": ["--size", 24],
    "heat3d_implicit.py": ["--size", 8, "--steps", 5],
    "deblur_pylops.py": ["--size", 32],
    "stencil_powers.py": ["--size", 32, "--steps", 10],
    "galerkin_multigrid.py": ["--levels", 4],
    "array_api_cg.py": [16],
    "solve_matrix_market.py": [ROOT / "tests" / "data" / "pyamg_knot.mtx.gz"],
}
SHARED = {"solver_table.py"}
FORMATS = ("SciPy CSR", "cds", "pjad", "bsr", "csr", "ell", "jad", "hm", "cdm")


def run_example(name, *arguments):
    return run([ROOT / "examples" / name, *arguments])


def test_no_example_is_left_out():
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(SMALL) | SHARED


@pytest.mark.parametrize("name", SMALL)
def test_example(name):
    if name == "deblur_pylops.py":
        pytest.importorskip("pylops")
    assert run_example(name, *SMALL[name])


def residuals(output):
    """Format -> (iterations, true residual) from the table an example prints."""
    lines = re.findall(r"^(SciPy CSR|\w+)(?: \d+x\d+)? +[\d.]+ +[\d.]+ +(\d+) +(\S+) ", output, flags=re.MULTILINE)
    return {name: (int(iterations), float(residual)) for name, iterations, residual in lines}


def test_poisson_prints_every_format_beside_scipy():
    table = residuals(run_example("poisson2d_cg.py", "--size", 16, "--rtol", 1e-6))
    assert tuple(table) == FORMATS
    assert all(iterations > 5 and residual <= 1e-5 for iterations, residual in table.values())


@pytest.mark.parametrize(
    "path", [path for path in MATRICES if path.name.startswith("pyamg")], ids=lambda path: path.name
)
def test_matrix_market_prints_every_format_beside_scipy(path):
    output = run_example("solve_matrix_market.py", path)
    table = residuals(output)
    assert tuple(table) == FORMATS
    assert all(residual <= 1e-7 for _, residual in table.values())
    assert "linalg.cg" in output and "recommended: format=" in output


def test_matrix_market_says_where_a_format_does_not_fit(tmp_path):
    path = tmp_path / "oblong.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 2.0\n2 2 1.0\n3 1 1.0\n")
    output = run_example("solve_matrix_market.py", path)
    assert "hm         does not fit: format 'hm' holds square matrices only" in output
    assert "linalg.lsmr" in output
