"""`spformats.spmv` skips its checks where operands of this kind have passed them before; never where they matter."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf


@pytest.fixture(params=["csr", "cds", "pjad", "bsr"])
def A(request):
    dense = np.random.default_rng(0).standard_normal((6, 6))
    return sf.asarray(sp.csr_array(dense * (np.arange(36).reshape(6, 6) % 3 > 0)), format=request.param, force=True)


def test_again_with_other_values(A):
    dense = A.to_scipy_sparse().toarray()
    rng = np.random.default_rng(1)
    for op, trans in ((dense, "N"), (dense.T, "T"), (dense.T, "C")):
        for M, given in ((A, trans), (A.T, "T" if trans == "N" else "N")):
            for _ in range(3):
                x, y = rng.standard_normal((2, 6))
                want = 2 * (op @ x) - 3 * y
                got = sf.spmv(M, x, y, alpha=2, beta=-3, trans=given)
                assert got is y
                np.testing.assert_allclose(y, want, rtol=1e-12, atol=1e-12)


def test_shared_memory_is_seen_every_time(A):
    dense = A.to_scipy_sparse().toarray()
    sf.spmv(A, np.ones(6), np.empty(6))
    x = np.arange(6.0)
    assert sf.spmv(A, x, x) is x
    np.testing.assert_allclose(x, dense @ np.arange(6.0), rtol=1e-12)
    room = np.arange(9.0)
    x, y = room[:6], room[3:]
    want = dense @ x
    np.testing.assert_allclose(sf.spmv(A, x, y), want, rtol=1e-12)


def test_what_does_not_fit_is_refused_every_time(A):
    x, y = np.ones(6), np.empty(6)
    sf.spmv(A, x, y)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        sf.spmv(A, x, y)
    with pytest.raises(ValueError, match="shape"):
        sf.spmv(A, x, np.empty(5))
    with pytest.raises(ValueError, match="shape"):
        sf.spmv(A, np.ones(5), np.empty(6))
    with pytest.raises(TypeError, match="dtype"):
        sf.spmv(A, x, np.empty(6, np.float32))
    with pytest.raises(TypeError, match="complex"):
        sf.spmv(A, x, np.empty(6), alpha=1j)
    with pytest.raises(TypeError, match="number"):
        sf.spmv(A, x, np.empty(6), alpha="2")
    with pytest.raises(ValueError, match="trans"):
        sf.spmv(A, x, np.empty(6), trans="n")
    with pytest.raises(TypeError, match="SparseArray"):
        sf.spmv(A.to_scipy_sparse(), x, np.empty(6))


def test_strided_operands_after_plain_ones(A):
    dense = A.to_scipy_sparse().toarray()
    sf.spmv(A, np.ones(6), np.empty(6))
    x, room = np.arange(12.0)[::2], np.full(12, 77.0)
    sf.spmv(A, x, room[1::2])
    np.testing.assert_allclose(room[1::2], dense @ x, rtol=1e-12)
    assert (room[::2] == 77).all()
    x.flags.writeable = False
    np.testing.assert_allclose(sf.spmv(A, x, np.empty(6)), dense @ x, rtol=1e-12)


def test_settings_count_every_time(A):
    x, y = np.ones(6), np.empty(6)
    sf.spmv(A, x, y)
    with sf.config(kernel="no such kernel"), pytest.raises(LookupError, match="no such kernel"):
        sf.spmv(A, x, y)


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_what_is_kept_does_not_keep_the_matrix(format, columns):
    B = sf.asarray(np.eye(6) + np.eye(6, k=1), format=format, force=True)
    x, y = np.ones((6, *columns)), np.empty((6, *columns))
    sf.spmv(B.copy(), x, y)  # compiles
    gone = weakref.ref(B)
    gc.collect()
    gc.disable()
    try:
        for M in (B, B.T):
            sf.spmv(M, x, y)
            _ = M @ x
        del B, M
        assert gone() is None
    finally:
        gc.enable()


def test_matrices_of_columns_and_other_types():
    rng = np.random.default_rng(5)
    dense = rng.standard_normal((6, 6)) + 1j * rng.standard_normal((6, 6))
    for values in (dense.real, dense):
        A = sf.asarray(values, format="csr")
        for k in (1, 3, 3, 1):
            for dtype in (np.float32, np.complex128, np.float32):
                x = rng.standard_normal((6, k)).astype(dtype)
                y = np.empty((6, k), np.result_type(values, dtype))
                np.testing.assert_allclose(sf.spmv(A, x, y), values @ x, rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(sf.spmv(A.H, x, y, trans="T"), values.conj() @ x, rtol=1e-6, atol=1e-6)


def test_integer_matrices():
    A, x, y = sf.asarray(np.arange(9).reshape(3, 3), format="csr", dtype=np.int64), np.ones(3), np.empty(3)
    for _ in range(3):
        np.testing.assert_array_equal(sf.spmv(A, x, y, alpha=2), 2 * np.arange(9).reshape(3, 3).sum(axis=1))


def test_a_kernel_registered_later_is_found(A):
    x, y = np.ones(6), np.empty(6)
    sf.spmv(A, x, y)

    def seven(A, x, y, alpha, beta, trans):
        y[...] = 7
        return y

    with sf.config(kernel="seven"):
        with pytest.raises(LookupError):
            sf.spmv(A, x, y)
        sf.dispatch.register("spmv", A.format, "numpy", name="seven", priority=-50)(seven)
        assert (sf.spmv(A, x, y) == 7).all()
    assert not (sf.spmv(A, x, y) == 7).all()
