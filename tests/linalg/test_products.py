"""Products with dense and sparse operands, on both sides, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, TRANSPOSED, build, example, holds

import spformats as sf

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # np.matrix

EVERY = [*LAYOUTS, *TRANSPOSED]


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_from_both_sides(layout, dtype):
    S = example(12, 8 if holds(layout, (12, 8)) else 12, dtype=dtype)
    A, D = build(S, layout), S.toarray()
    n, m = D.shape
    rng = np.random.default_rng(0)
    close = {"rtol": 1e-4, "atol": 1e-4}
    for k in (0, 1, 4, 17):
        X, Y = rng.standard_normal((m, k)), rng.standard_normal((k, n)).astype(np.float32)
        np.testing.assert_allclose(A @ X, D @ X, **close)
        np.testing.assert_allclose(Y @ A, Y @ D, **close)
        np.testing.assert_allclose(A.H @ Y.T, D.conj().T @ Y.T, **close)
    for x in (list(range(m)), tuple(range(m)), np.arange(m), np.ones(m, bool)):
        np.testing.assert_allclose(A @ x, D @ np.asarray(x), **close)
    np.testing.assert_allclose(A.dot(np.ones(m)), D.sum(axis=1), **close)
    np.testing.assert_allclose(A.dot(2).todense(), 2 * D)
    np.testing.assert_allclose(A @ np.matrix(np.ones((m, 2))), D @ np.ones((m, 2)), **close)


@pytest.mark.parametrize("left", EVERY)
@pytest.mark.parametrize("right", LAYOUTS)
def test_sparse_times_sparse(left, right):
    S, R = example(12, dtype=np.float64), example(12, dtype=np.complex64, seed=6)
    A, B = build(S, left), build(R, right)
    C = A @ B
    assert isinstance(C, sf.SparseArray) and C.dtype == np.complex128 and C.shape == (12, 12)
    np.testing.assert_allclose(C.todense(), S.toarray() @ R.toarray(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose((B.T @ A.T).todense(), (S.toarray() @ R.toarray()).T, rtol=1e-5, atol=1e-5)


def test_the_format_of_a_sparse_product():
    S = example(12)
    blocks = build(S, "bsr")
    assert (blocks @ blocks).format == "bsr" and (blocks @ blocks).blocksize == (2, 2)
    for format in ("cds", "hm", "cdm"):
        assert (build(S, format) @ build(S, format)).format == format
    assert (build(S, "ell") @ build(S, "jad")).format == "csr"


@pytest.mark.parametrize("layout", [n for n in EVERY if holds(n, (12, 8))])
def test_rectangular_sparse_products(layout):
    S, R = example(12, 8), example(8, 10)
    A = build(S, layout)
    np.testing.assert_allclose((A @ sf.asarray(R)).todense(), (S @ R).toarray(), atol=1e-12)
    np.testing.assert_allclose((A @ R).todense(), (S @ R).toarray(), atol=1e-12)
    np.testing.assert_allclose((A.T @ A).todense(), (S.T @ S).toarray(), atol=1e-12)
    with pytest.raises(ValueError, match=r"\(12, 8\).*\(12, 8\).*8 != 12"):
        A @ A


@pytest.mark.parametrize("layout", EVERY)
def test_duck_arrays_and_foreign_libraries(layout):
    A = build(example(), layout)

    class Column:
        """What a pandas Series looks like to us."""

        shape, ndim = (16,), 1

        def __array__(self, dtype=None, copy=None):
            return np.arange(16.0)

    np.testing.assert_allclose(A @ Column(), A @ np.arange(16.0))
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match=r"host.*array_api_strict"):
        A @ strict.ones(16)
    B = A.to_namespace(strict)
    with pytest.raises(TypeError, match=r"array_api_strict.*host"):
        B @ np.ones(16)
    got = B @ strict.arange(16.0)
    assert type(got).__module__.startswith("array_api_strict")
    np.testing.assert_allclose(np.asarray(got), A @ np.arange(16.0))
    with pytest.raises(TypeError, match="array_api_strict"):
        A @ B


@pytest.mark.parametrize("layout", LAYOUTS)
def test_empty_shapes(layout):
    for shape in ((0, 0), (0, 6), (6, 0)):
        if not holds(layout, shape):
            continue
        A = build(sp.csr_array(shape), layout)
        n, m = shape
        assert (A @ np.ones(m)).tolist() == [0.0] * n and (A.T @ np.ones(n)).tolist() == [0.0] * m
        assert (A @ np.ones((m, 3))).shape == (n, 3) and (np.ones((3, n)) @ A).shape == (3, m)
        assert (A @ A.T).shape == (n, n) and (A.T @ A).shape == (m, m)
        assert A.sum() == 0 and A.todense().shape == shape and A.nnz == 0
