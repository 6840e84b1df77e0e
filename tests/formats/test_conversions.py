"""Any format to any format, any layout to any layout; index types; transposes; what a conversion keeps."""

import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, TRANSPOSED, build, example, holds

import spformats as sf
from spformats.formats import _arrays
from spformats.testing import edge_matrices

EVERY = [*LAYOUTS, *TRANSPOSED]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def same(A, B):
    """Equal down to every stored array."""
    assert type(A) is type(B) and A.shape == B.shape and A.dtype == B.dtype
    assert A._parameters() == B._parameters()
    for name in A.components:
        a, b = getattr(A, name), getattr(B, name)
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("source", EVERY)
def test_every_pair(source, target):
    format, options = LAYOUTS[target]
    for dtype in (np.float32, np.complex128):
        for name, S in edge_matrices(dtype, nonfinite=True):
            if not (holds(source, S.shape) and holds(target, S.shape)):
                continue
            A = build(S, source)
            B = A.asformat(format, **options)
            assert B.format == format and B.shape == S.shape and B.dtype == dtype
            with np.errstate(invalid="ignore"):
                expected = np.zeros(S.shape, S.dtype)
                np.add.at(expected, S.coords, S.data)
            np.testing.assert_array_equal(B.todense(), expected, err_msg=name)
            if np.isfinite(expected).all():
                x = np.arange(1, S.shape[1] + 1).astype(np.float32)
                np.testing.assert_allclose(B @ x, expected @ x, rtol=1e-4, atol=1e-3, err_msg=name)


@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("source", LAYOUTS)
def test_the_way_does_not_matter(source, target):
    """What comes over another format is array by array what comes directly."""
    S = example(18, 18, dtype=np.complex64, seed=3)
    format, options = LAYOUTS[target]
    if LAYOUTS[source][0] == format and not options:
        pytest.skip("the same format without options asks for nothing")
    same(build(S, source).asformat(format, **options), build(S, target))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_format_again(layout):
    A = build(example(), layout)
    assert A.asformat(A.format) is A
    assert A.asformat(None) is A
    same(A.asformat(A.format, copy=True), A)
    assert not np.shares_memory(A.asformat(A.format, copy=True).data, A.data)
    same(A.asformat(A.format, **A._layout()), A)


@pytest.mark.parametrize("layout", EVERY)
def test_an_unknown_format_or_option_is_named(layout):
    A = build(example(), layout)
    with pytest.raises(ValueError, match=r"'sell'.*bsr, cdm, cds, csr"):
        A.asformat("sell")
    with pytest.raises(TypeError, match=r"'csr' has no layout option 'blocksize'"):
        A.asformat("csr", blocksize=(2, 2))
    with pytest.raises(TypeError, match=r"'bsr' has no layout option 'bsize'; it has: blocksize, pad"):
        A.asformat("bsr", bsize=2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_64_bit_indices(layout, monkeypatch):
    """Made to believe that no index fits into 32 bits, everything works as before."""
    S = example(18, 18, dtype=np.complex128, seed=3)
    D, x = S.toarray(), np.arange(18.0)
    small = build(S, layout)
    monkeypatch.setattr(_arrays, "INT32_MAX", 2)
    A = build(S, layout)
    for name in ("indices", "perm", "rlen", "brlen"):
        if name in A.components:
            assert getattr(A, name).dtype == np.int64
            np.testing.assert_array_equal(getattr(A, name), getattr(small, name))
    for B in (A, A.asformat("csr"), A.T.T, A.copy(), A + A - A):
        np.testing.assert_allclose(B @ x, D @ x)
        np.testing.assert_allclose(B.T @ x, D.T @ x)
        np.testing.assert_allclose(B.H @ np.stack([x, x], 1), D.conj().T @ np.stack([x, x], 1))
    assert A.tocsr().indices.dtype == np.int64
    np.testing.assert_allclose((A @ A).todense(), D @ D)
    for target, (format, options) in LAYOUTS.items():
        np.testing.assert_array_equal(A.asformat(format, **options).todense(), D, err_msg=target)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_of_a_transpose(layout):
    """A lazy transpose whose parts are read is an array of its own, in the same format."""
    S = example(12, 18 if layout not in ("hm", "cdm") else 12, dtype=np.complex64)
    A = build(S, layout)
    for T, expected in ((A.T, S.toarray().T), (A.H, S.toarray().conj().T), (A.T.conj(), S.toarray().conj().T)):
        before = T @ np.ones(12)
        assert T.data.size >= 0 and T._source is None
        np.testing.assert_allclose(T @ np.ones(12), before, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(T.todense(), expected)
        np.testing.assert_array_equal(T.T.todense(), expected.T)
        again = type(A).from_csr(T.to_csr(), **T._layout())
        if layout not in ("hm", "cdm"):
            same(T, again)


def test_symmetric_cds():
    n = 9
    full = sp.csr_array(sp.diags_array([2 * np.ones(n), np.arange(1.0, n), np.arange(1.0, n)], offsets=[0, 1, -1]))
    A = sf.asarray(full, format="cds", symmetric=True)
    assert A.offsets.tolist() == [0, 1] and A.symmetric and A.nnz == full.nnz
    assert A.nbytes < sf.asarray(full, format="cds").nbytes
    assert A.T is A
    for B in (A, A.asformat("csr"), A.asformat("cds", symmetric=False), A.asformat("hm"), 2 * A / 2):
        np.testing.assert_array_equal(B.todense(), full.toarray())
        np.testing.assert_allclose(B @ np.arange(9.0), full @ np.arange(9.0))
    assert (A * 2).symmetric and A.asformat("cds").symmetric
    assert not A.asformat("cds", symmetric=False).symmetric
    tilted = full.copy()
    tilted[4, 5] = 99
    with pytest.raises(ValueError, match=r"A\[4, 5\] differs from A\[5, 4\]"):
        sf.asarray(tilted, format="cds", symmetric=True)
    with pytest.raises(ValueError, match=r"A\[0, 2\]"):
        sf.asarray(np.eye(3, k=2) + np.eye(3), format="cds", symmetric=True)
    with pytest.raises(ValueError, match=r"square.*\(2, 3\)"):
        sf.asarray(np.ones((2, 3)), format="cds", symmetric=True)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_symmetric_cds_of_complex_values_is_not_hermitian(dtype):
    M = np.array([[1, 2j, 0], [2j, 1, 3j], [0, 3j, 1]], dtype)
    A = sf.asarray(M, format="cds", symmetric=True)
    x = np.array([1, 1j, 2])
    np.testing.assert_allclose(A @ x, M @ x)
    np.testing.assert_allclose(A.T @ x, M @ x)
    np.testing.assert_allclose(A.H @ x, M.conj() @ x)
    with pytest.raises(ValueError, match="differs"):
        sf.asarray(np.array([[1, 2j], [-2j, 1]], dtype), format="cds", symmetric=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", EVERY)
def test_astype(layout, dtype):
    S = example(dtype=np.complex128)
    A = build(S, layout)
    B = A.astype(dtype)
    expected = S.toarray() if np.dtype(dtype).kind == "c" else S.toarray().real
    assert B.dtype == dtype and B.format == A.format and B.shape == A.shape
    np.testing.assert_array_equal(B.todense(), expected.astype(dtype))
    assert A.astype(A.dtype, copy=False) is A and A.astype(A.dtype) is not A
    with pytest.raises(TypeError, match=r"complex128.*float32.*'same_kind'"):
        A.astype(np.float32, casting="same_kind")


def test_rows_in_their_order_are_not_handed_on():
    """A PJAD of alike rows keeps their order; its transpose and its sums, whose rows differ, do not inherit that."""
    n = 4096
    S = sp.csr_array((np.ones(n), (np.arange(n), np.arange(n) // 32 * 32)), shape=(n, n))
    A = sf.asarray(S, format="pjad")
    assert A.sigma == 1
    for B in (A.T, A + A.T):
        assert B.format == "pjad" and B.data.size < 4 * B.nnz
    np.testing.assert_array_equal(A.T.to_csr().todense(), S.T.todense())
