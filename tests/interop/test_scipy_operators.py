"""LinearOperator algebra with our arrays on either side, and `aslinearoperator`."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from layouts import LAYOUTS, TRANSPOSED, build, example, holds

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")]

EVERY = [*LAYOUTS, *TRANSPOSED]
DTYPES = [np.float64, np.complex128]


def applies(L, expected):
    """The operator does what the matrix does, in all four directions, to vectors, columns and matrices."""
    n, m = expected.shape
    assert tuple(L.shape) == expected.shape
    rng = np.random.default_rng(1)
    for rows in ((m,), (m, 1), (m, 3)):
        x = rng.standard_normal(rows)
        np.testing.assert_allclose(L @ x, expected @ x, atol=1e-12)
        np.testing.assert_allclose(L.dot(x), expected @ x, atol=1e-12)
    for rows in ((n,), (n, 1), (n, 3)):
        y = rng.standard_normal(rows)
        np.testing.assert_allclose(L.H @ y, expected.conj().T @ y, atol=1e-12)
        np.testing.assert_allclose(L.T @ y, expected.T @ y, atol=1e-12)
    x, y = rng.standard_normal(m), rng.standard_normal(n)
    np.testing.assert_allclose(L.matvec(x), expected @ x, atol=1e-12)
    np.testing.assert_allclose(L.rmatvec(y), expected.conj().T @ y, atol=1e-12)
    np.testing.assert_allclose(L.matmat(x[:, None]), (expected @ x)[:, None], atol=1e-12)
    np.testing.assert_allclose(L.rmatmat(y[:, None]), (expected.conj().T @ y)[:, None], atol=1e-12)


def operators(S):
    """The same matrix as an operator of each kind SciPy has."""
    D = S.toarray()
    yield sla.aslinearoperator(S)
    yield sla.aslinearoperator(D)
    yield sla.LinearOperator(
        S.shape, dtype=S.dtype, matvec=lambda v: D @ v.ravel(), rmatvec=lambda v: D.conj().T @ v.ravel()
    )


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", DTYPES)
class TestAlgebra:
    def test_products_and_sums(self, layout, dtype):
        S, R = example(dtype=dtype), example(dtype=dtype, seed=5)
        A, D, E = build(S, layout), S.toarray(), R.toarray()
        for L in operators(R):
            for got, expected in (
                (L @ A, E @ D), (A @ L, D @ E), (L * A, E @ D), (A * L, D @ E), (L.dot(A), E @ D), (A.dot(L), D @ E),
                (L + A, E + D), (A + L, D + E), (L - A, E - D), (A - L, D - E),
                (L @ A.H, E @ D.conj().T), (A.T @ L, D.T @ E), (L.H + A.T, E.conj().T + D.T),
            ):  # fmt: skip
                assert isinstance(got, sla.LinearOperator) and got.dtype == dtype
                applies(got, expected)

    def test_scaled(self, layout, dtype):
        S = example(dtype=dtype)
        L, D = sla.aslinearoperator(build(S, layout)), S.toarray()
        for got, expected in (
            (2 * L, 2 * D),
            (L * 2, 2 * D),
            (-L, -D),
            (L / 2, D / 2),
            (2j * L, 2j * D),
            (L * 2j, 2j * D),
        ):
            applies(got, expected)

    def test_identity_and_composition(self, layout, dtype):
        S = example(dtype=dtype)
        A, D = build(S, layout), S.toarray()
        identity = sla.aslinearoperator(np.eye(16))
        applies(identity - 0.5 * A, np.eye(16) - 0.5 * D)
        applies((A @ identity @ A.H) * 2, 2 * D @ D.conj().T)


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_aslinearoperator_is_the_array_itself(layout, dtype):
    A = build(example(dtype=dtype), layout)
    L = sla.aslinearoperator(A)
    assert L is A and L.dtype == dtype
    assert (L @ np.ones(16, dtype)).dtype == dtype


@pytest.mark.parametrize("layout", [n for n in EVERY if holds(n, (12, 8))])
def test_rectangular(layout):
    S = example(12, 8)
    A, D = build(S, layout), S.toarray()
    applies(A, D)
    L = sla.aslinearoperator(example(8, 12))
    applies(A @ L, D @ example(8, 12).toarray())
    applies(L @ A, example(8, 12).toarray() @ D)
    with pytest.raises(ValueError, match="shape"):
        A @ sla.aslinearoperator(np.eye(5))


@pytest.mark.parametrize("layout", EVERY)
def test_matvec_says_what_length_it_needs(layout):
    A = build(example(), layout)
    for product in (A.matvec, A.rmatvec):
        with pytest.raises(ValueError, match=r"16.*\(15,\)"):
            product(np.ones(15))
        with pytest.raises(ValueError, match=r"\(16, 2\)"):
            product(np.ones((16, 2)))
    assert A.matvec(np.ones((16, 1))).shape == (16, 1)
    assert A.matvec([1.0] * 16).shape == (16,)
    assert A.matvec(np.matrix(np.ones((16, 1)))).shape == (16, 1)
