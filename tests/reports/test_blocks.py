"""Faults reported against other libraries: blocks (B09, B10)."""

import numpy as np
import pytest
import scipy.sparse as sp
from every_format import columns
from layouts import example

import spformats as sf


# ---------------------------------------------------------------------- B09, B10: blocks
@pytest.mark.parametrize(
    "blocksize", [(2, 2), (0, 1), (5, 5), 2.5, (1, 2, 3), (-1, 1), "2x2", (1.0, 2.0), (True, 1), (1,), 2]
)
def test_B09_wrong_block_sizes_are_named(blocksize):
    A = sf.asarray(sp.csr_array(np.arange(1.0, 13).reshape(3, 4)))
    with pytest.raises((ValueError, TypeError), match=r"blocksize.*\(3, 4\)"):
        A.asformat("bsr", blocksize=blocksize)


def test_B09_a_block_size_is_found_where_none_is_given():
    S = sp.csr_array(np.kron(np.eye(4), np.ones((3, 3))))
    assert sf.asarray(S, format="bsr").blocksize == (3, 3)
    assert sf.asarray(sp.csr_array(np.ones((3, 4))), format="bsr").blocksize == (1, 1)


@pytest.mark.parametrize("blocksize", [(1, 2), (4, 4), (2, 1), (1, 1)])
def test_B09_a_block_size_given_for_bsr_input_is_used(blocksize):
    source = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    for A in (
        sf.asarray(source, format="bsr", blocksize=blocksize),
        sf.asarray(source).asformat("bsr", blocksize=blocksize),
    ):
        assert A.blocksize == blocksize
        np.testing.assert_array_equal(columns(A), np.eye(4))
    assert sf.asarray(source).blocksize == (2, 2)


def test_B09_padding_keeps_the_shape():
    M = np.arange(1.0, 13).reshape(3, 4)
    A = sf.asarray(sp.csr_array(M), format="bsr", blocksize=(2, 3), pad=True)
    assert A.shape == (3, 4) and A.T.shape == (4, 3) and A.T.blocksize == (3, 2)
    np.testing.assert_array_equal(columns(A), M)
    np.testing.assert_array_equal(columns(A.T), M.T)


@pytest.mark.parametrize("blocksize", [(2, 3), (3, 2), (1, 4), (6, 1), (3, 12), (5, 4), (7, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_B10_rectangular_blocks(blocksize, dtype):
    S = example(6, 12, dtype=dtype, density=0.5, seed=1)
    M, r = S.toarray(), np.random.default_rng(0)
    x, y, X = r.random(12), r.random(6), r.random((12, 4))
    A = sf.asarray(S).asformat("bsr", blocksize=blocksize, pad=not holds_blocks(blocksize))
    close = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(A @ x, M @ x, **close)
    np.testing.assert_allclose(A @ X, M @ X, **close)
    assert A.T.shape == (12, 6) and A.T.blocksize == blocksize[::-1]
    for B in (A.T, sf.BSR.from_csr(A.T.to_csr(), **A.T._layout())):
        np.testing.assert_allclose(B @ y, M.T @ y, **close)
    np.testing.assert_allclose(A.H @ y, M.conj().T @ y, **close)
    np.testing.assert_allclose(A.T.T @ x, M @ x, **close)
    np.testing.assert_array_equal(columns(A.asformat("csr")), M)


def holds_blocks(blocksize):
    return 6 % blocksize[0] == 0 and 12 % blocksize[1] == 0
