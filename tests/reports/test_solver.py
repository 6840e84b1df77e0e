"""Faults reported against other libraries: conjugate gradients (B27, B28, B30)."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, build

import spformats as sf


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


def tridiagonal(n, dtype=np.float64):
    side = -np.ones(n - 1)
    return sp.csr_array(sp.diags_array([side, 2 * np.ones(n), side], offsets=[-1, 0, 1]).astype(dtype))


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# ---------------------------------------------------------------------- B27: nothing to do, or a bad start
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_B27_start_vectors(layout, dtype):
    S = tridiagonal(8, dtype)
    exact = np.arange(1, 9).astype(dtype)
    b = S @ exact
    A = build(S, layout)
    loose = 1e-3 if dtype == np.float32 else 1e-9
    tight = 1e-5 if dtype == np.float32 else 1e-12
    for right, start, expected in (
        (b, exact, exact), (b, -5 * exact, exact), (b, 1e3 * exact, exact), (b, 0 * exact, exact), (b, None, exact),
        (0 * b, None, 0 * exact), (0 * b, exact, 0 * exact), (0 * b, 0 * exact, 0 * exact),
    ):  # fmt: skip
        kept = None if start is None else start.copy()
        x, info = sf.linalg.cg(A, right, x0=start, rtol=tight)
        assert info == 0 and x.dtype == dtype
        np.testing.assert_allclose(x, expected, atol=loose, rtol=loose)
        if start is not None:
            np.testing.assert_array_equal(start, kept)  # the start vector is the caller's


def test_B27_the_tolerance_is_relative_to_b(layout):
    """From a start far away the first residual is huge: a test relative to that would stop at once."""
    S = tridiagonal(40)
    b = np.ones(40)
    A = build(S, layout)
    x, info = sf.linalg.cg(A, b, x0=np.full(40, 1e8), rtol=1e-8)
    assert info == 0 and np.linalg.norm(b - S @ x) <= 1e-8 * np.linalg.norm(b)
    x, info = sf.linalg.cg(A, b, x0=np.full(40, 1e8), rtol=0, atol=1e-3)
    assert info == 0 and np.linalg.norm(b - S @ x) <= 1e-3
    x, info = sf.linalg.cg(A, b, maxiter=0)
    assert info > 0 and not x.any()


def test_B27_matrices_that_break_cg_down(layout):
    S = sp.csr_array(np.diag([1.0, -1, 2, 3, 4, 5, 6, 7]))
    x, info = sf.linalg.cg(build(S, layout), np.ones(8))
    assert info != 0 or np.linalg.norm(np.ones(8) - S @ x) <= 1e-5 * np.sqrt(8)
    x, info = sf.linalg.cg(build(sp.csr_array((8, 8)), layout), np.ones(8))
    assert info != 0 and np.isfinite(x).all()
    x, info = sf.linalg.cg(build(-tridiagonal(8), layout), np.ones(8))
    assert info != 0 and np.isfinite(x).all()


def test_B27_tiny_systems():
    for format in ("csr", "ell", "jad", "pjad", "cds", "hm", "cdm"):
        x, info = sf.linalg.cg(sf.asarray(np.array([[4.0]]), format=format), np.array([2.0]))
        assert info == 0 and x.tolist() == [0.5]
        x, info = sf.linalg.cg(sf.asarray(sp.csr_array((0, 0)), format=format), np.zeros(0))
        assert info == 0 and x.shape == (0,)


# ---------------------------------------------------------------------- B28: success means the true residual
@pytest.mark.parametrize(("n", "rtol"), [(400, 1e-6), (400, 1e-7), (1500, 1e-6), (200, 1e-5)])
@pytest.mark.parametrize("seed", [0, 1])
def test_B28_success_is_judged_by_the_true_residual(layout, n, rtol, seed):
    b = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
    x, info = sf.linalg.cg(build(tridiagonal(n, np.float32), layout), b, rtol=rtol, maxiter=4 * n)
    true = np.linalg.norm(b - tridiagonal(n) @ x.astype(float)) / np.linalg.norm(b)
    assert info != 0 or true <= 10 * rtol
    assert info >= 0


def test_B28_an_ill_conditioned_matrix_in_double_precision(layout):
    S = sp.csr_array(sp.diags_array(np.logspace(-12, 0, 60)))
    b = np.ones(60)
    x, info = sf.linalg.cg(build(S, layout), b, rtol=1e-14, maxiter=400)
    assert info != 0 or np.linalg.norm(b - S @ x) <= 1e-13 * np.linalg.norm(b)


# ---------------------------------------------------------------------- B30: callback and maxiter
@pytest.mark.parametrize("maxiter", [1, 2, 5])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_B30_one_call_an_iteration(layout, maxiter, preconditioned):
    S = tridiagonal(30)
    A, b = build(S, layout), np.ones(30)
    M = build(sp.csr_array(sp.diags_array(np.linspace(0.4, 0.6, 30))), layout) if preconditioned else None
    seen = []
    x, info = sf.linalg.cg(A, b, rtol=1e-30, maxiter=maxiter, M=M, callback=lambda v: seen.append(v.copy()))
    again, info_again = sf.linalg.cg(A, b, rtol=1e-30, maxiter=maxiter, M=M)
    assert len(seen) == maxiter and info == info_again == maxiter
    np.testing.assert_array_equal(x, again)
    np.testing.assert_array_equal(seen[-1], x)
    assert all(not np.array_equal(a, b) for a, b in itertools.pairwise(seen))


def test_B30_iterates_are_the_callers_to_keep(layout):
    """What the callback is given is not overwritten by the next iteration."""
    kept = []
    A = build(tridiagonal(30), layout)
    sf.linalg.cg(A, np.ones(30), rtol=1e-30, maxiter=4, callback=kept.append)
    assert len({v.tobytes() for v in kept}) == 4


def test_B30_converged_before_maxiter(layout):
    seen = []
    x, info = sf.linalg.cg(build(tridiagonal(30), layout), np.ones(30), rtol=1e-10, maxiter=1000, callback=seen.append)
    assert info == 0 and 0 < len(seen) <= 31
    assert np.linalg.norm(np.ones(30) - tridiagonal(30) @ x) <= 1e-10 * np.sqrt(30)
