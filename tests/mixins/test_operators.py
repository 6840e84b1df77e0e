"""Operators with scalars, arrays, SciPy's arrays, on either side: values, formats, refusals."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, TRANSPOSED, build, example

import spformats as sf

EVERY = [*LAYOUTS, *TRANSPOSED]
SCALARS = [2, -1.5, np.float32(2), np.float64(2), np.int8(2), True, np.array(2.0), 0]


@pytest.fixture(params=EVERY)
def layout(request):
    return request.param


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_scalars(layout, dtype):
    S = example(dtype=dtype)
    A, D = build(S, layout), S.toarray()
    for s in [*SCALARS, *([2j] if np.dtype(dtype).kind == "c" else [])]:
        for B in (A * s, s * A, A.multiply(s)):
            assert type(B) is type(A) and B.dtype == (D * s).dtype
            np.testing.assert_array_equal(B.todense(), D * s)
        if s:
            assert (A / s).format == A.format and (A / s).dtype == (D / s).dtype
            np.testing.assert_array_equal((A / s).todense(), D / s)
    np.testing.assert_array_equal((-A).todense(), -D)
    np.testing.assert_array_equal(abs(A).todense(), abs(D))
    np.testing.assert_allclose((A**2).todense(), D**2, rtol=1e-6)
    np.testing.assert_array_equal((A + 0).todense(), D)
    np.testing.assert_array_equal((0 - A).todense(), -D)
    np.testing.assert_array_equal(sum([A, A]).todense(), 2 * D)


@pytest.mark.parametrize("other", LAYOUTS)
def test_sums_and_products_of_two(layout, other):
    S, R = example(dtype=np.float32), example(dtype=np.complex64, seed=9)
    A, B, D, E = build(S, layout), build(R, other), S.toarray(), R.toarray()
    for C, expected in ((A + B, D + E), (A - B, D - E), (A * B, D * E), (A.multiply(B), D * E)):
        assert isinstance(C, sf.SparseArray) and C.dtype == np.complex64
        np.testing.assert_allclose(C.todense(), expected, rtol=1e-6)
        np.testing.assert_allclose(C @ np.ones(16), expected.sum(axis=1), rtol=1e-4, atol=1e-4)
    if A.format == B.format:
        assert (A + B).format == (A * B).format == A.format
    elif {A.format, B.format} <= {"cds", "hm", "cdm"}:
        assert (A + B).format in ("cds", "hm", "cdm")


def test_dense_operands(layout):
    S = example()
    A, D = build(S, layout), S.toarray()
    M = np.random.default_rng(1).standard_normal((16, 16))
    for got, expected in ((A * M, D * M), (M * A, D * M), (A * M[0], D * M[0]), (A * M[:, :1], D * M[:, :1])):
        got = got.todense() if isinstance(got, sf.SparseArray) else got
        np.testing.assert_allclose(got, expected, atol=1e-12)
    assert isinstance(A * M, sf.SparseArray)


def test_refusals(layout):
    A = build(example(), layout)
    with pytest.raises((ValueError, TypeError)):
        A + 1
    with pytest.raises((ValueError, TypeError)):
        1 - A
    with pytest.raises(ValueError):
        A + build(example(12), "csr")
    with pytest.raises(ValueError):
        A * np.ones(15)
    with pytest.raises((ValueError, TypeError)):
        A @ 2
    with pytest.raises((ValueError, TypeError)):
        2 @ A
    for other in ("x", object(), None, {}):
        with pytest.raises((TypeError, ValueError)):
            A + other
        with pytest.raises((TypeError, ValueError)):
            A * other


def test_arguments_are_not_changed(layout):
    S = example()
    A, D = build(S, layout), S.toarray()
    x, R = np.arange(16.0), sp.csr_array(S.copy())
    before = x.copy(), R.copy()
    A @ x, x @ A, A @ R, R @ A, A + R, R + A, A * R, A * x, A / 2, A.sum(), A.T @ x
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(R.toarray(), before[1].toarray())
    np.testing.assert_array_equal(A.todense(), D)


@pytest.mark.parametrize("namespace", [np, array_api_strict])
@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"])
def test_the_nnz_of_a_comparison_counts_what_differs(format, namespace):
    S = sp.csr_array(np.array([[2.0, 1, 0, 0], [1, 0, 3, 0], [0, 3, 2, 0], [0, 0, 0, 5]]))
    layouts = [{}, {"symmetric": True}] if format == "cds" else [{}]
    for layout in layouts:
        A = sf.asarray(S, format=format, **layout).to_namespace(namespace)
        same = A != A
        assert same.dtype == namespace.bool
        assert same.nnz == same.T.nnz == same.getnnz() == 0
        assert same.getnnz(axis=0).tolist() == [0] * 4
        assert same.asformat("csr").nnz == 0
        big = A > 2.5
        assert big.nnz == big.T.nnz == big.getnnz() == 3, layout
        assert np.asarray(big.asformat(format).todense()).tolist() == (S.toarray() > 2.5).tolist()


def test_equality_says_how_to_test_for_it():
    A = sf.gallery.laplace1d(4)
    with pytest.raises(sf.DensifyError, match=r"to test for equality: not spformats.any\(A != B\)"):
        A == A  # noqa: B015
