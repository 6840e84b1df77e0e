"""Faults reported against other libraries: padding and explicit zeros (B06, B08)."""

import numpy as np
import pytest
import scipy.sparse as sp
from every_format import all_formats, columns
from layouts import LAYOUTS, build, example

import spformats as sf

DIAGONAL = ["cds", "hm", "cdm"]


# ---------------------------------------------------------------------- B06: what is in the padding
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_B06_padding_does_not_touch_x(bad):
    S = sp.csr_array(np.array([[0, 2.0, 3.0], [0, 0, 4.0], [0, 0, 0]]))
    for format, A in all_formats(S):
        np.testing.assert_array_equal(A @ np.array([bad, 1, 1]), [5, 4, 0], err_msg=format)
        np.testing.assert_array_equal(
            A @ np.array([[bad, 1], [1, 1], [1, 1]]), [[5, 5], [4, 4], [0, 0]], err_msg=format
        )
        np.testing.assert_array_equal(A.T @ np.array([1, 1, bad]), [0, 2, 7], err_msg=format)


@pytest.mark.parametrize(
    "layout", [name for name in LAYOUTS if name.partition("-")[0] in ("csr", "ell", "jad", "pjad")]
)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_B06_rows_that_miss_a_column_stay_finite(layout, bad):
    S = example(17, 23, seed=2)
    A, D = build(S, layout), S.toarray()
    for j in (0, 11, 22):
        x = np.ones(23)
        x[j] = bad
        untouched = D[:, j] == 0
        np.testing.assert_allclose((A @ x)[untouched], D.sum(axis=1)[untouched], atol=1e-12)
        assert not np.isfinite((A @ x)[~untouched]).any()


def test_B06_stored_nan_and_inf_survive():
    X = np.ones((8, 8))
    X[0, 0], X[3, 4], X[7, 1] = np.nan, np.inf, -np.inf
    X[5] = 0
    for format, A in all_formats(sp.csr_array(X)):
        np.testing.assert_array_equal(A.todense(), X, err_msg=format)
        for other, B in all_formats(A.to_scipy_sparse()):
            np.testing.assert_array_equal(B.todense(), X, err_msg=f"{format} to {other}")
            np.testing.assert_array_equal(A.asformat(other).todense(), X, err_msg=f"{format} to {other}")
    row = np.ones((1, 8))
    row[0, 0] = np.nan
    for format, A in all_formats(sp.csr_array(row)):
        assert A.nnz == 8 and np.isnan(A @ np.eye(8)[0]).all(), format


# ---------------------------------------------------------------------- B08: explicit zeros
def with_zeros():
    return sp.csr_array((np.array([1.0, 0, 2]), (np.array([0, 0, 1]), np.array([0, 3, 1]))), shape=(4, 4))


def only_zeros():
    return sp.csr_array((np.zeros(2), (np.array([0, 1]), np.array([1, 0]))), shape=(4, 4))


@pytest.mark.parametrize("matrix", [with_zeros, only_zeros])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_B08_stored_zeros(matrix, layout):
    S = matrix()
    A = build(S, layout)
    for B in (A, A.asformat("csr"), A.T.T):
        np.testing.assert_array_equal(columns(B), S.toarray())
        np.testing.assert_array_equal(columns(B.T), S.toarray().T)
        assert B.nnz >= 0 and all(
            (getattr(B, name) >= 0).all() for name in B.components if name in ("indices", "indptr", "rlen")
        )
    if A.format in ("csr", "ell", "jad", "pjad"):  # kept where entries are stored one by one, unless asked
        assert A.nnz == S.nnz
        assert build(S, layout, prune=True).nnz == np.count_nonzero(S.toarray())


def test_B08_a_stored_zero_costs_no_diagonal():
    for format in DIAGONAL:
        assert sf.asarray(with_zeros(), format=format).offsets.tolist() == [0]
        assert sf.asarray(only_zeros(), format=format).nnz == 0
