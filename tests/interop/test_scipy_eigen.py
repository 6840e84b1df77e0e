"""Eigenvalues, singular values, functions of matrices, norms: scipy.sparse.linalg on every format."""

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from layouts import LAYOUTS, TRANSPOSED, build, general, positive_definite

pytestmark = [
    pytest.mark.filterwarnings("error"),
    # SciPy's own advice on what it factorises; its dia_array gets the same
    pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning"),
    pytest.mark.filterwarnings("ignore:The problem size .* is too small"),
    # SciPy estimates the trace of every LinearOperator, and every format is one; traceA=A.trace() spares it that
    pytest.mark.filterwarnings("ignore:Trace of LinearOperator"),
]

EVERY = [*LAYOUTS, *TRANSPOSED]
DTYPES = [np.float64, np.complex128]


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", DTYPES)
class TestEigsh:
    def test_largest(self, layout, dtype):
        S = positive_definite(16, dtype)
        values, vectors = sla.eigsh(build(S, layout), k=3)
        np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(S.toarray())[-3:])
        np.testing.assert_allclose(S @ vectors, vectors * values, atol=1e-10)

    @pytest.mark.parametrize("sigma", [0, 4.0])
    def test_sigma(self, layout, dtype, sigma):
        S = positive_definite(16, dtype)
        values = sla.eigsh(build(S, layout), k=3, sigma=sigma, return_eigenvectors=False)
        every = np.linalg.eigvalsh(S.toarray())
        nearest = every[np.argsort(abs(every - sigma))[:3]]
        np.testing.assert_allclose(np.sort(values), np.sort(nearest))

    @pytest.mark.parametrize("sigma", [None, 0.5])
    def test_mass(self, layout, dtype, sigma):
        S, mass = positive_definite(16, dtype), sp.csr_array(sp.diags_array(np.linspace(1, 3, 16)).astype(dtype))
        values = sla.eigsh(build(S, layout), k=3, M=build(mass, layout), sigma=sigma, return_eigenvectors=False)
        every = la.eigh(S.toarray(), mass.toarray(), eigvals_only=True)
        expected = every[-3:] if sigma is None else every[np.argsort(abs(every - sigma))[:3]]
        np.testing.assert_allclose(np.sort(values), np.sort(expected))

    @pytest.mark.parametrize("mode", ["buckling", "cayley"])
    def test_modes(self, layout, dtype, mode):
        if np.dtype(dtype).kind == "c":
            pytest.skip("SciPy has these modes for real matrices only")
        S = positive_definite(16, dtype)
        values = sla.eigsh(build(S, layout), k=3, sigma=0.9, mode=mode, return_eigenvectors=False)
        theirs = sla.eigsh(S, k=3, sigma=0.9, mode=mode, return_eigenvectors=False)
        np.testing.assert_allclose(np.sort(values), np.sort(theirs))


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("sigma", "mass"), [(None, False), (1.0, False), (1 + 0.5j, False), (1.0, True), (None, True)])
def test_eigs(layout, dtype, sigma, mass):
    if isinstance(sigma, complex) and np.dtype(dtype).kind != "c":
        pytest.skip("SciPy 1.17 gives zeros for a complex sigma and a real matrix of its own")
    S = general(16, dtype)
    M = sp.csr_array(sp.diags_array(np.linspace(1, 3, 16)).astype(dtype))
    options = {"M": build(M, layout)} if mass else {}
    values = sla.eigs(build(S, layout), k=3, sigma=sigma, v0=np.ones(16, dtype), return_eigenvectors=False, **options)
    every = la.eigvals(S.toarray(), M.toarray() if mass else None)
    distance = abs(every) if sigma is None else -abs(every - sigma)
    for value in values:  # each is an eigenvalue, and one of the nearest
        assert min(abs(every - value)) < 1e-8
    best = distance.max()
    assert max(abs(values) if sigma is None else -abs(values - sigma)) == pytest.approx(best)


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("solver", ["arpack", "lobpcg", "propack"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_svds(layout, solver, dtype):
    S = general(16, dtype)
    values = sla.svds(build(S, layout), k=2, solver=solver, rng=0, maxiter=500, tol=1e-5, return_singular_vectors=False)
    np.testing.assert_allclose(np.sort(values), np.linalg.svd(S.toarray())[1][1::-1], rtol=1e-5)


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_lobpcg(layout, dtype):
    S, mass = positive_definite(16, dtype), sp.csr_array(sp.diags_array(np.linspace(1, 3, 16)).astype(dtype))
    X = np.random.default_rng(3).standard_normal((16, 3))
    every = la.eigh(S.toarray(), mass.toarray(), eigvals_only=True)
    options = {"B": build(mass, layout), "M": build(sp.csr_array(0.25 * sp.eye_array(16)).astype(dtype), layout)}
    values, _ = sla.lobpcg(build(S, layout), X, largest=False, tol=1e-9, maxiter=200, **options)
    np.testing.assert_allclose(np.sort(values), every[:3], rtol=1e-6)


@pytest.mark.parametrize("layout", EVERY)
def test_lobpcg_of_a_small_matrix(layout):
    """SciPy then makes the matrix dense by multiplying it with the identity."""
    S = positive_definite(16)
    values, _ = sla.lobpcg(build(S, layout), np.random.default_rng(3).standard_normal((16, 7)))
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(S.toarray())[-7:])


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", DTYPES)
class TestMatrixFunctions:
    def test_expm_multiply(self, layout, dtype):
        S, x = general(16, dtype), np.linspace(1, 2, 16)
        A = build(S, layout)
        expected = la.expm(S.toarray()) @ x
        np.testing.assert_allclose(sla.expm_multiply(A, x, traceA=A.trace()), expected, rtol=1e-8)
        many = sla.expm_multiply(A, x[:, None] * [1, 2], start=0, stop=1, num=3, traceA=A.trace())
        np.testing.assert_allclose(many[-1], expected[:, None] * [1, 2], rtol=1e-8)

    def test_expm_multiply_estimates_a_trace_it_is_not_given(self, layout, dtype):
        S, x = general(16, dtype), np.linspace(1, 2, 16)
        np.testing.assert_allclose(sla.expm_multiply(build(S, layout), x), la.expm(S.toarray()) @ x, rtol=1e-8)

    def test_funm_multiply_krylov(self, layout, dtype):
        S, H, x = general(16, dtype), positive_definite(16, dtype), np.linspace(1, 2, 16).astype(dtype)
        got = sla.funm_multiply_krylov(la.expm, build(S, layout), x)
        np.testing.assert_allclose(got, la.expm(S.toarray()) @ x, rtol=1e-6)
        got = sla.funm_multiply_krylov(la.expm, build(H, layout), x, assume_a="her")
        np.testing.assert_allclose(got, la.expm(H.toarray()) @ x, rtol=1e-6)

    def test_expm(self, layout, dtype):
        S = general(16, dtype)
        np.testing.assert_allclose(sla.expm(build(S, layout)).toarray(), la.expm(S.toarray()), rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("power", [0, 1, 2, 3, 5])
    def test_matrix_power(self, layout, dtype, power):
        S = general(16, dtype)
        got = sla.matrix_power(build(S, layout), power)
        np.testing.assert_allclose(got.todense(), np.linalg.matrix_power(S.toarray(), power), rtol=1e-10, atol=1e-10)

    def test_onenormest(self, layout, dtype):
        S = abs(general(16, dtype)).astype(dtype)  # of a nonnegative matrix the estimate is exact
        assert sla.onenormest(build(S, layout)) == pytest.approx(np.linalg.norm(S.toarray(), 1))

    @pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf, 2])
    def test_norm(self, layout, dtype, order):
        S = general(16, dtype)
        assert sla.norm(build(S, layout), order) == pytest.approx(np.linalg.norm(S.toarray(), order), rel=1e-6)

    @pytest.mark.parametrize("axis", [0, 1])
    def test_norm_along_an_axis(self, layout, dtype, axis):
        S = general(16, dtype)
        for order in (None, 0, 1, 2, np.inf):
            expected = np.linalg.norm(S.toarray(), order, axis=axis)
            np.testing.assert_allclose(sla.norm(build(S, layout), order, axis=axis), expected)
