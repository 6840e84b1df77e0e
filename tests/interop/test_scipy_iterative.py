"""The iterative solvers of scipy.sparse.linalg, unmodified, on every format; their products run our kernels."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from layouts import LAYOUTS, TRANSPOSED, build, general, positive_definite

from spformats.dispatch import running

pytestmark = pytest.mark.filterwarnings("error")

EVERY = [*LAYOUTS, *TRANSPOSED]
DTYPES = [np.float64, np.complex128]
HERMITIAN = ("cg", "minres")
SOLVERS = ("cg", "bicg", "bicgstab", "cgs", "gmres", "lgmres", "gcrotmk", "minres", "qmr", "tfqmr")
#: What each of them calls the preconditioner.
PRECONDITIONER = {name: ("M1", "M2") if name == "qmr" else ("M",) for name in SOLVERS}


def problem(solver, dtype, n=16):
    S = positive_definite(n, dtype) if solver in HERMITIAN else general(n, dtype)
    x = np.linspace(1, 2, n).astype(dtype) * (1 + 1j if np.dtype(dtype).kind == "c" else 1)
    return S, x


def skip_unsupported(solver, dtype):
    if solver == "minres" and np.dtype(dtype).kind == "c":
        pytest.skip("SciPy's minres is for real symmetric matrices")


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_solver(solver, layout, dtype):
    skip_unsupported(solver, dtype)
    S, x = problem(solver, dtype)
    A = build(S, layout)
    for b in (S @ x, (S @ x)[:, None]):
        got, info = getattr(sla, solver)(A, b, rtol=1e-11)
        assert info == 0
        assert got.shape in ((16,), (16, 1)) and got.dtype == dtype
        np.testing.assert_allclose(got.ravel(), x, rtol=1e-7)


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_in_single_precision(solver, layout):
    S, x = problem(solver, np.float32)
    got, _ = getattr(sla, solver)(build(S, layout), S @ x, rtol=1e-5, maxiter=100)
    np.testing.assert_allclose(got, x, rtol=1e-3)


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_as_preconditioner(solver, layout, dtype):
    skip_unsupported(solver, dtype)
    S, x = problem(solver, dtype)
    halves = S.copy()
    halves.setdiag(0)
    halves.eliminate_zeros()
    halves.data *= -0.05  # I/4 plus a little: close to the inverse, and positive definite where S is
    halves.setdiag(0.25)
    given = PRECONDITIONER[solver]
    got, info = getattr(sla, solver)(build(S, layout), S @ x, rtol=1e-11, **dict.fromkeys(given, build(halves, layout)))
    assert info == 0
    if solver == "tfqmr":  # SciPy 1.17 misuses M there, whatever it is: the same wrong turn must come out
        x = sla.tfqmr(S, S @ x, rtol=1e-11, M=halves)[0]
    np.testing.assert_allclose(got, x, rtol=1e-6)


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("solver", ["lsqr", "lsmr"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares(solver, layout, dtype):
    S, x = problem(solver, dtype)
    got = getattr(sla, solver)(build(S, layout), S @ x, atol=1e-13, btol=1e-13)[0]
    np.testing.assert_allclose(got, x, rtol=1e-7)


@pytest.mark.parametrize("layout", [n for n in LAYOUTS if n not in ("hm", "cdm")])
@pytest.mark.parametrize("solver", ["lsqr", "lsmr"])
def test_least_squares_of_a_tall_matrix(solver, layout):
    S = general(16)[:, :10]
    b = np.cos(np.arange(16.0))
    got = getattr(sla, solver)(build(S, layout), b, atol=1e-13, btol=1e-13)[0]
    np.testing.assert_allclose(got, np.linalg.lstsq(S.toarray(), b, rcond=None)[0], rtol=1e-6)


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("solver", [*SOLVERS, "lsqr", "lsmr", "eigsh", "eigs", "svds", "lobpcg", "expm_multiply"])
def test_products_run_our_kernels(solver, layout, monkeypatch):
    """Every product the solver asks for is one run of a kernel of ours, and nothing is converted to SciPy's arrays."""
    S, x = problem(solver, np.float64)
    S = positive_definite(16) if solver in ("eigsh", "lobpcg") else S
    A = build(S, layout)
    runs = []
    prepared = running._prepared

    def counted(operation, *args):
        product = prepared(operation, *args)

        def run(*operands):
            runs.append(operation)
            return product(*operands)

        return run

    def refused(*args, **kwargs):
        raise AssertionError("a conversion to a SciPy array")

    monkeypatch.setattr(running, "_prepared", counted)
    for name in ("tocsr", "tocsc", "tocoo", "todense", "toarray", "to_scipy_sparse"):
        monkeypatch.setattr(type(A), name, refused)
    steps = []
    if solver in SOLVERS:
        options = {"callback_type": "pr_norm"} if solver == "gmres" else {}
        getattr(sla, solver)(A, S @ x, rtol=1e-10, callback=steps.append, **options)
    elif solver == "lobpcg":
        sla.lobpcg(A, np.eye(16, 3) + 0.1, maxiter=20, tol=1e-3, largest=True)
    elif solver == "expm_multiply":
        sla.expm_multiply(A, x, traceA=67.2)
    elif solver in ("lsqr", "lsmr"):
        getattr(sla, solver)(A, S @ x)
    else:
        getattr(sla, solver)(A, k=2, v0=x)
    assert len(runs) >= max(len(steps), 2)
    assert set(runs) <= {"spmv", "spmm"}
