"""The reference kernels: right for every format, on every array library, with nothing but the standard's functions."""

import ast
import pathlib

import numpy as np
import pytest
from layouts import LAYOUTS, build, example

import spformats as sf
import spformats_plugins.reference as reference
from spformats.testing import check_kernel

LAYOUT = pytest.mark.parametrize("layout", [*LAYOUTS, "cds-symmetric"])
#: Enough to meet every branch of a layout; array_api_strict checks each call and is a hundred times slower than NumPy.
FEW = ("empty", "no_columns", "single_column", "wide", "square", "irregular", "blocks", "explicit_zeros")


def _layout(name):
    return ("cds", {"symmetric": True}) if name == "cds-symmetric" else LAYOUTS[name]


@LAYOUT
@pytest.mark.parametrize("op", ["spmv", "spmm"])
def test_conformance_on_other_libraries(op, layout, backend):
    if backend.name == "numpy":
        pytest.skip("in full in test_conformance.py")
    format, options = _layout(layout)
    pairs = [("float32", "float64"), ("complex128", "complex128")]
    assert check_kernel(op, format, backend.name, "reference", pairs=pairs, matrices=FEW, **options)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_result_is_the_backends_own_array(layout, backend):
    M = example(12)
    A = backend.matrix(build(M, layout))
    x = backend.asarray(np.arange(12.0))
    with sf.config(kernel="reference"):
        y = A @ x
    assert type(y) is type(x)
    np.testing.assert_allclose(backend.to_numpy(y), M @ np.arange(12.0), rtol=1e-13, atol=1e-13)


def test_no_difference_of_running_sums():
    """A huge row must cost the rows after it no digits, an infinite one must not turn them into NaN."""
    dense = np.zeros((4, 3))
    dense[0], dense[1], dense[2], dense[3, 1] = 1e300, 1.0, np.inf, 3.0
    for layout in ("csr", "ell", "jad", "pjad-papers", "pjad-window"):
        A = build(dense, layout)
        with sf.config(kernel="reference"):
            y = A @ np.ones(3)
        assert y.tolist() == [3e300, 3.0, np.inf, 3.0], layout


@pytest.mark.parametrize("layout", ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm"])
def test_plans_are_made_once_and_dropped_by_copies(layout):
    A = build(example(8), layout)
    with sf.config(kernel="reference"):
        A @ np.ones(8)
        keys = set(A._plans)
        plan = {k: A._plans[k] for k in keys if k[0] == "reference"}
        A @ np.ones(8)
        sf.spmv(A, np.ones((8, 3)))
    assert plan and all(A._plans[k] is v for k, v in plan.items())
    assert not A.copy()._plans


def test_nothing_names_an_array_library():
    """The folder imports the standard's helpers and spformats only, so no library can be favoured."""
    allowed = {"__future__", "collections", "dataclasses", "itertools", "typing", "array_api_compat"}
    for path in pathlib.Path(reference.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            roots = {name.partition(".")[0] for name in names}
            assert roots <= allowed | {"spformats", "spformats_plugins"}, f"{path.name} imports {roots}"
