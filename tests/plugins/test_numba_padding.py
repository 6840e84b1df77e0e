"""Products with several columns multiply padding by row 0 of x, which must not show."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf

LAYOUTS = [("ell", {}), ("jad", {}), ("pjad", {"bsize": 8}), ("pjad", {"bsize": 8, "sigma": 16})]
LAYOUTS += [("pjad", {"bsize": 12, "sigma": 1}), ("pjad", {"bsize": 32, "sigma": 1})]


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 65])
@pytest.mark.parametrize(("format", "layout"), LAYOUTS)
def test_row_0_of_x_is_not_finite(format, layout, k):
    S = sp.random_array((203, 90), density=0.05, rng=np.random.default_rng(k)).tolil()
    S[:, 0] = 0
    S[17, 1:70] = 1.5
    S[40, 0] = 2.0
    S = S.tocsr()
    A = sf.asarray(S, format=format, force=True, **layout)
    X = np.random.default_rng(1).standard_normal((90, k))
    np.testing.assert_allclose(sf.spmv(A, X), S @ X, atol=1e-12)
    for bad in (np.inf, np.nan):
        for column in range(k):
            Y = X.copy()
            Y[0, column] = bad
            product = sf.spmv(A, Y)  # also one column as a matrix
            assert np.isfinite(np.delete(product[:, column], 40)).all()
            np.testing.assert_allclose(product, S @ Y, atol=1e-12)


def test_padding_that_is_not_zero():
    data, indices = np.array([[1.0, 9.0], [2.0, 3.0]]), np.array([[1, 2], [0, 1]], np.int32)
    A = sf.ELL(data, indices, np.array([1, 2]), shape=(2, 3))
    X = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(A @ X, np.array([[0, 1, 0], [2, 3, 0]]) @ X)
