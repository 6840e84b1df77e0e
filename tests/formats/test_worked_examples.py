"""The arrays printed in the papers, exactly."""

import numpy as np
import pytest

import spformats as sf

#: The 4 × 4 matrix of papers 001 and 002.
M = np.array([[7.0, 0, 1, 0], [0, 4, 2, 3], [1, 8, 0, 0], [0, 9, 0, 0]])


def test_ell():
    A = sf.asarray(M, format="ell")
    assert A.data.tolist() == [[7, 1, 0], [4, 2, 3], [1, 8, 0], [9, 0, 0]]
    assert A.indices.tolist() == [[0, 2, 0], [1, 2, 3], [0, 1, 0], [1, 0, 0]]
    assert A.rlen.tolist() == [2, 3, 2, 1]
    assert A.data.flags.f_contiguous and A.indices.flags.f_contiguous


def test_jad():
    A = sf.asarray(M, format="jad")
    assert A.data.tolist() == [4, 7, 1, 9, 2, 1, 8, 3]
    assert A.indices.tolist() == [1, 0, 0, 1, 2, 2, 1, 3]
    assert A.jd_ptr.tolist() == [0, 4, 7, 8]
    assert A.rlen.tolist() == [3, 2, 2, 1]
    assert A.perm.tolist() == [1, 0, 2, 3]


def test_pjad():
    A = sf.asarray(M, format="pjad", bsize=2)
    assert A.data.tolist() == [4, 7, 1, 9, 2, 1, 8, 0, 3, 0]
    assert A.jd_ptr.tolist() == [0, 4, 8, 10]
    assert A.brlen.tolist() == [3, 2]
    assert A.rlen.tolist() == [3, 2, 2, 1]
    assert A.perm.tolist() == [1, 0, 2, 3]
    assert A.indices.tolist() == [1, 0, 0, 1, 2, 2, 1, 0, 3, 0]
    assert (A.bsize, A.sigma) == (2, None)


def test_csr():
    """The paper prints 2 as the last column index; the 9 stands in column 1."""
    A = sf.asarray(M, format="csr")
    assert A.data.tolist() == [7, 1, 4, 2, 3, 1, 8, 9]
    assert A.indices.tolist() == [0, 2, 1, 2, 3, 0, 1, 1]
    assert A.indptr.tolist() == [0, 2, 5, 7, 8]


def test_bsr():
    A = sf.asarray(M, format="bsr", blocksize=(2, 2))
    assert A.vals.tolist() == [7, 0, 0, 4, 1, 2, 0, 3, 1, 0, 8, 9]
    assert A.indices.tolist() == [0, 1, 0]
    assert A.ptrB.tolist() == [0, 2] and A.ptrE.tolist() == [2, 3]
    assert A.data[0].tolist() == [[7, 0], [0, 4]]


def test_cds_of_paper_000():
    B = 2 * np.eye(5) + 3 * np.eye(5, k=1) + np.eye(5, k=-1)
    A = sf.asarray(B, format="cds")
    assert A.offsets.tolist() == [-1, 0, 1]
    assert A.data.tolist() == [[0, 1, 1, 1, 1], [2, 2, 2, 2, 2], [3, 3, 3, 3, 0]]


def numbered(n, upper, lower):
    """Entry (i, j) inside the band is 10 (i+1) + (j+1), as the papers number theirs."""
    i, j = np.indices((n, n))
    return np.where((j - i <= upper) & (i - j <= lower), 10.0 * (i + 1) + j + 1, 0)


def test_hm_of_paper_004():
    """Figure 2a: a banded matrix with two superdiagonals and one subdiagonal."""
    A = sf.asarray(numbered(4, 2, 1), format="hm")
    assert A.data.tolist() == [11, 22, 33, 44, 12, 23, 34, 13, 24, 21, 32, 43]
    assert A.offsets.tolist() == [0, 1, 2, -1]
    assert A.starts.tolist() == [0, 4, 7, 9]


@pytest.mark.parametrize("n", [1, 2, 4, 7])
@pytest.mark.parametrize("upper", [0, 1, 3])
@pytest.mark.parametrize("lower", [0, 2, 6])
def test_hm_sizes_and_starts_of_paper_004(n, upper, lower):
    upper, lower = min(upper, n - 1), min(lower, n - 1)
    A = sf.asarray(numbered(n, upper, lower), format="hm")
    assert A.data.size == n * (upper + lower + 1) - upper * (upper + 1) // 2 - lower * (lower + 1) // 2
    for k in range(upper + 1):
        assert A.starts[k] == n * k - k * (k - 1) // 2
    assert A.offsets.tolist() == [*range(upper + 1), *range(-1, -lower - 1, -1)]


def test_cdm_of_paper_004():
    """Compact diagonal k is superdiagonal k on top of subdiagonal n-k, each a vector of length n."""
    D = numbered(4, 3, 3)
    A = sf.asarray(D, format="cdm")
    assert A.data.tolist() == [[11, 22, 33, 44], [12, 23, 34, 41], [13, 24, 31, 42], [14, 21, 32, 43]]
    assert A.offsets.tolist() == [0, 1, 2, 3, -1, -2, -3]
    assert A.rows.tolist() == [0, 1, 2, 3, 3, 2, 1]


@pytest.mark.parametrize("format", ["hm", "cdm"])
def test_transposes_of_paper_004_move_nothing(format):
    A = sf.asarray(numbered(4, 2, 1), format=format)
    assert A.T.data.base is A.data.base or np.shares_memory(A.T.data, A.data)
    assert type(A.T) is type(A)
    np.testing.assert_array_equal(A.T.todense(), numbered(4, 2, 1).T)
    np.testing.assert_array_equal(A.T.T.todense(), numbered(4, 2, 1))
    assert A.T.offsets.tolist() == [0, 1, -1, -2]


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"])
def test_products_of_the_example(format):
    A = sf.asarray(M, format=format)
    np.testing.assert_array_equal(A @ [1.0, 2, 3, 4], M @ [1, 2, 3, 4])
    np.testing.assert_array_equal([1.0, 2, 3, 4] @ A, [1, 2, 3, 4] @ M)
