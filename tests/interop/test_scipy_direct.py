"""Factorisations of scipy.sparse.linalg on every format: SciPy converts, and `explain` says so."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from layouts import LAYOUTS, TRANSPOSED, build, general

from spformats import dispatch

pytestmark = [
    pytest.mark.filterwarnings("error"),
    # SciPy's own advice on what it factorises; its dia_array gets the same
    pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning"),
]

EVERY = [*LAYOUTS, *TRANSPOSED]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture(params=EVERY)
def layout(request):
    return request.param


@pytest.fixture(params=DTYPES, ids=lambda d: np.dtype(d).name)
def dtype(request):
    return request.param


@pytest.fixture
def S(dtype):
    return general(16, dtype)


@pytest.fixture
def b(S):
    return S @ np.linspace(1, 2, 16).astype(S.dtype)


def near(got, expected, dtype):
    if sp.issparse(got):
        got = got.toarray()
    tolerance = 1e3 * np.finfo(dtype).eps
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_spsolve(S, b, layout, dtype):
    A = build(S, layout)
    near(sla.spsolve(A, b), np.linspace(1, 2, 16), dtype)
    near(sla.spsolve(A, np.stack([b, 2 * b], axis=1)), np.outer(np.linspace(1, 2, 16), [1, 2]), dtype)
    near(sla.spsolve(A, sp.csc_array(S)), np.eye(16), dtype)
    near(sla.spsolve(sp.csc_array(S), A), np.eye(16), dtype)
    near(sla.spsolve(A, A), np.eye(16), dtype)


def test_splu(S, b, layout, dtype):
    near(sla.splu(build(S, layout)).solve(b), np.linspace(1, 2, 16), dtype)


def test_spilu(S, b, layout, dtype):
    near(sla.spilu(build(S, layout), drop_tol=0, fill_factor=100).solve(b), np.linspace(1, 2, 16), dtype)


def test_factorized(S, b, layout, dtype):
    near(sla.factorized(build(S, layout))(b), np.linspace(1, 2, 16), dtype)


def test_inv(S, layout, dtype):
    near(sla.inv(build(S, layout)), np.linalg.inv(S.toarray()), dtype)


@pytest.mark.parametrize("lower", [True, False])
def test_spsolve_triangular(S, layout, dtype, lower):
    triangle = sp.csr_array(sp.tril(S) if lower else sp.triu(S))
    A, x = build(triangle, layout), np.linspace(1, 2, 16).astype(dtype)
    before = A.todense()
    near(sla.spsolve_triangular(A, triangle @ x, lower=lower), x, dtype)
    np.testing.assert_array_equal(A.todense(), before)


def test_is_sptriangular_and_spbandwidth(S, layout):
    A = build(S, layout)
    assert sla.is_sptriangular(A) == (False, False)
    assert sla.spbandwidth(A) == (4, 4)


@pytest.mark.parametrize("function", ["splu", "spilu", "spsolve", "factorized", "inv", "spsolve_triangular"])
def test_explain_says_that_scipy_converts(layout, function):
    explanation = dispatch.explain(function, build(general(16), layout))
    assert explanation.kernel is None
    assert "CSC" in str(explanation) and "copy" in str(explanation)
