"""The LAPACK band form."""

import numpy as np
import pytest
from scipy.linalg import solve_banded

import spformats as sf

FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]


def example(dtype=float):
    M = np.diag([4.0, 5, 6, 7]) + np.diag([1.0, 2, 3], 1) + np.diag([1.0, 1], -2)
    return (M * (1 + 1j) if np.dtype(dtype).kind == "c" else M).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("format", FORMATS)
def test_to_banded(format, dtype):
    M = example(dtype)
    A = sf.asarray(M, format=format, **({"blocksize": (2, 2)} if format == "bsr" else {}))
    ab = sf.linalg.to_banded(A)
    expected = np.zeros((4, 4), dtype=dtype)
    for i in range(4):
        for j in range(max(0, i - 2), min(4, i + 2)):
            expected[1 + i - j, j] = M[i, j]
    np.testing.assert_array_equal(ab, expected)
    assert ab.dtype == dtype
    assert sf.linalg.bandwidth(A) == (2, 1)
    b = np.arange(4.0)
    np.testing.assert_allclose(solve_banded((2, 1), ab, b), np.linalg.solve(M, b), rtol=100 * np.finfo(dtype).eps)


def test_wider_bands():
    ab = sf.linalg.to_banded(sf.asarray(example()), bands=(3, 2))
    assert ab.shape == (6, 4)
    np.testing.assert_array_equal(ab[1:5], sf.linalg.to_banded(sf.asarray(example())))
    with pytest.raises(ValueError, match=r"too narrow.*\(2, 1\)"):
        sf.linalg.to_banded(sf.asarray(example()), bands=(1, 1))


def test_one_sided_and_empty():
    A = sf.from_diagonals([1.0], [2], shape=(4, 4))
    assert sf.linalg.bandwidth(A) == (0, 2)
    np.testing.assert_array_equal(sf.linalg.to_banded(A), [[0, 0, 1, 1], [0] * 4, [0] * 4])
    np.testing.assert_array_equal(sf.linalg.to_banded(sf.asarray(np.zeros((3, 3)))), np.zeros((1, 3)))
    assert sf.linalg.to_banded(sf.asarray(np.zeros((0, 0)))).shape == (1, 0)
    assert sf.linalg.bandwidth(sf.asarray(np.eye(2, 5, k=3))) == (0, 3)


def test_not_square():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        sf.linalg.to_banded(sf.asarray(np.ones((2, 3))))
