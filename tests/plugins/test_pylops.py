"""Sparse arrays inside PyLops."""

import numpy as np
import pytest

import spformats as sf

pylops = pytest.importorskip("pylops")
from pylops.utils import dottest  # noqa: E402

FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def example(format, dtype=np.float64, shape=(12, 12), seed=0):
    rng = np.random.default_rng(seed)
    n, m = (shape[0], shape[0]) if format in ("hm", "cdm") else shape
    M = rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.4) + 3 * np.eye(n, m)
    if np.dtype(dtype).kind == "c":
        M = M * (1 - 0.5j) + 1j * (M > 0.5)
    M = M.astype(dtype)
    return M, sf.asarray(M, format=format, **({"blocksize": (2, 3)} if format == "bsr" else {}))


def tolerance(dtype):
    return 200 * float(np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_dottest_and_todense(format, dtype):
    M, A = example(format, dtype, shape=(12, 9))
    Op = A.to_pylops()
    assert Op.dtype == dtype and Op.shape == M.shape and Op.explicit is False
    kind = 3 if np.dtype(dtype).kind == "c" else 0
    assert dottest(Op, *M.shape, complexflag=kind, rtol=tolerance(dtype), atol=tolerance(dtype))
    dense = Op.todense()
    assert dense.dtype == dtype
    np.testing.assert_allclose(dense, M, rtol=tolerance(dtype), atol=tolerance(dtype))
    np.testing.assert_allclose(Op.H.todense(), M.conj().T, rtol=tolerance(dtype), atol=tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_products(format, dtype):
    M, A = example(format, dtype, shape=(12, 9))
    Op = A.to_pylops()
    rng = np.random.default_rng(1)
    x, X = rng.standard_normal(M.shape[1]).astype(dtype), rng.standard_normal((M.shape[1], 3)).astype(dtype)
    y, Y = rng.standard_normal(M.shape[0]).astype(dtype), rng.standard_normal((M.shape[0], 3)).astype(dtype)
    for got, expected in (
        (Op.matvec(x), M @ x),
        (Op.rmatvec(y), M.conj().T @ y),
        (Op.matmat(X), M @ X),
        (Op.rmatmat(Y), M.conj().T @ Y),
        (Op.T @ y, M.T @ y),
    ):
        assert isinstance(got, np.ndarray) and got.dtype == dtype
        np.testing.assert_allclose(got, expected, rtol=tolerance(dtype), atol=tolerance(dtype))


@pytest.mark.parametrize("format", FORMATS)
def test_todense_above_a_thousand_columns(format):
    """There PyLops multiplies by a sparse identity."""
    n = 1002
    A = sf.gallery.laplace1d(n, format=format)
    dense = A.to_pylops().todense()
    assert isinstance(dense, np.ndarray)
    np.testing.assert_array_equal(dense, 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))


@pytest.mark.parametrize("format", FORMATS)
def test_model_and_data_of_any_dimension(format):
    A = sf.gallery.poisson3d(4, 3, 2, format=format)
    Op = A.to_pylops(dims=(2, 3, 4), dimsd=(6, 4))
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    y = Op @ x
    assert y.shape == (6, 4)
    np.testing.assert_allclose(y.ravel(), A.todense() @ x.ravel(), rtol=1e-14, atol=1e-14)
    assert (Op.H @ y).shape == (2, 3, 4)
    assert A.to_pylops(dims=24).dims == (24,)


def test_dims_must_fit():
    A = sf.gallery.poisson2d(4, 3)
    with pytest.raises(ValueError, match=r"dims = \(3, 3\) has 9 points.*12"):
        A.to_pylops(dims=(3, 3))
    with pytest.raises(ValueError, match="dimsd"):
        A.to_pylops(dimsd=5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_composed_operators(format, dtype):
    M, A = example(format, dtype)
    Op = A.to_pylops()
    eps = tolerance(dtype)
    other = pylops.Diagonal(np.arange(1, M.shape[1] + 1).astype(dtype), dtype=dtype)
    D = other.todense()
    zero = np.zeros_like(M)
    I3 = pylops.Identity(3, dtype=dtype)
    for composed, expected in (
        (pylops.VStack([Op, other]), np.vstack([M, D])),
        (pylops.HStack([Op, other]), np.hstack([M, D])),
        (pylops.BlockDiag([Op, other]), np.block([[M, zero], [zero, D]])),
        (pylops.Kronecker(I3, Op), np.kron(np.eye(3), M)),
        (pylops.Kronecker(Op, I3), np.kron(M, np.eye(3))),
        (Op * other, M @ D),
        (2 * Op + Op.H, 2 * M + M.conj().T),
        (Op**2, M @ M),
    ):
        np.testing.assert_allclose(composed.todense(), expected, rtol=eps, atol=eps * np.abs(expected).max())
        kind = 3 if np.dtype(dtype).kind == "c" else 0
        assert dottest(composed, *expected.shape, complexflag=kind, rtol=10 * eps, atol=10 * eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_solvers(format, dtype):
    M, A = example(format, dtype)
    M = M.conj().T @ M + np.eye(12, dtype=dtype)
    A = sf.asarray(M, format=format, **({"blocksize": (2, 3)} if format == "bsr" else {}))
    Op = A.to_pylops()
    x = np.arange(1, 13).astype(dtype)
    loose = 1e-3 if np.finfo(dtype).eps > 1e-10 else 1e-7
    start = np.zeros(12, dtype=dtype)
    for solve in (pylops.cg, pylops.cgls):
        # PyLops stops on the squared residual, and divides by zero once that underflows
        found = solve(Op, M @ x, x0=start.copy(), niter=200, tol=1e-7 if loose == 1e-3 else 1e-18)[0]
        np.testing.assert_allclose(found, x, rtol=loose * np.linalg.cond(M), atol=loose)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_matrixmult_takes_the_array_itself(format, dtype):
    M, A = example(format, dtype)
    Op = pylops.MatrixMult(A, dtype=dtype)
    eps = tolerance(dtype)
    kind = 3 if np.dtype(dtype).kind == "c" else 0
    assert dottest(Op, *M.shape, complexflag=kind, rtol=eps, atol=eps)
    x = np.arange(12).astype(dtype)
    np.testing.assert_allclose(Op @ x, M @ x, rtol=eps, atol=10 * eps)
    np.testing.assert_allclose(Op.H @ x, M.conj().T @ x, rtol=eps, atol=10 * eps)


def test_the_plugin_does_not_import_pylops_by_itself():
    import subprocess
    import sys

    code = "import spformats_plugins.pylops, sys; assert 'pylops' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
