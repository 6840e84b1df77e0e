"""Faults reported against other libraries: Matrix Market files and the band form of LAPACK (B40, B41, B43, B45)."""

import numpy as np
import pytest
from scipy.linalg import solve_banded

import spformats as sf

DENSE = {
    "real": ("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", [[0, -1, -2], [1, 0, -3], [2, 3, 0]]),
    "integer": ("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n", [[0, -7], [7, 0]]),
    "complex skew": ("%%MatrixMarket matrix array complex skew-symmetric\n2 2\n1 2\n", [[0, -1 - 2j], [1 + 2j, 0]]),
    "hermitian": ("%%MatrixMarket matrix array complex hermitian\n2 2\n3 0\n1 2\n4 0\n", [[3, 1 - 2j], [1 + 2j, 4]]),
    "symmetric": ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", [[1, 2], [2, 3]]),
    "general": ("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", [[1, 3, 5], [2, 4, 6]]),
}
COORDINATES = {
    "skew": ("real skew-symmetric\n3 3 2\n2 1 4\n3 2 -1\n", [[0, -4, 0], [4, 0, 1], [0, -1, 0]]),
    "hermitian": ("complex hermitian\n2 2 2\n1 1 5 0\n2 1 1 2\n", [[5, 1 - 2j], [1 + 2j, 0]]),
    "complex symmetric": ("complex symmetric\n2 2 1\n2 1 1 2\n", [[0, 1 + 2j], [1 + 2j, 0]]),
    "pattern": ("pattern symmetric\n2 2 1\n2 1\n", [[0, 1], [1, 0]]),
    "pattern skew": ("pattern general\n2 2 2\n1 2\n2 2\n", [[0, 1], [0, 1]]),
    "integer": ("integer symmetric\n2 2 2\n1 1 3\n2 1 4\n", [[3, 4], [4, 0]]),
}


def read(tmp_path, text, **options):
    path = tmp_path / "matrix.mtx"
    path.write_text(text, newline="")
    return sf.mmread(path, **options)


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("format", ["csr", "pjad", "bsr", "cds"])
def test_B40_dense_files(tmp_path, name, format):
    text, expected = DENSE[name]
    A = read(tmp_path, text, format=format)
    np.testing.assert_array_equal(A @ np.eye(A.shape[1]), expected)


@pytest.mark.parametrize("name", COORDINATES)
@pytest.mark.parametrize("format", ["csr", "pjad", "bsr", "cds"])
def test_B40_coordinate_files(tmp_path, name, format):
    text, expected = COORDINATES[name]
    A = read(tmp_path, "%%MatrixMarket matrix coordinate " + text, format=format)
    np.testing.assert_array_equal(A @ np.eye(A.shape[1]), expected)


BODY = "2 2 2\n1 1 3\n2 1 4\n"
GENERAL = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    "text",
    [
        GENERAL + BODY,
        "%%MatrixMarket MATRIX Coordinate Real General\n% c\n%\n" + BODY,
        (GENERAL + "\n% c\n\n" + BODY.replace("\n", "\n\n")).replace("\n", "\r\n"),
        "%%MatrixMarket matrix coordinate integer general\n  2 2 2\n  1 1 3\n\t2 1 4\n",
        "%" + GENERAL[2:] + BODY,
        GENERAL + BODY + "\n\n",
    ],
)
def test_B41_spellings(tmp_path, text):
    np.testing.assert_array_equal(read(tmp_path, text).todense(), [[3, 0], [4, 0]])


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (GENERAL + "2 1\n", "2 1"),
        ("", ""),
        (BODY, "2 2 2"),
        (GENERAL, ""),
        (GENERAL + "2 2 2\n1 1 3\n", ""),
        (GENERAL + "2 2 1\n3 1 4\n", "3 1 4"),
        (GENERAL + "2 2 1\n1 0 4\n", "1 0 4"),
        (GENERAL + "2 2 1\n1 1 x\n", "1 1 x"),
        (GENERAL + "2 2 x\n", "2 2 x"),
        (GENERAL + "-2 2 0\n", "-2 2 0"),
        ("%%MatrixMarket matrix coordinate quaternion general\n" + BODY, "quaternion"),
        ("%%MatrixMarket vector coordinate real general\n" + BODY, "vector"),
    ],
)
def test_B41_bad_files_are_quoted(tmp_path, text, quoted):
    with pytest.raises(ValueError) as error:
        read(tmp_path, text)
    assert quoted in str(error.value)


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "cds", "hm", "cdm"])
def test_B43_the_diagonal_of_a_symmetric_file_counts_once(tmp_path, format):
    A = read(tmp_path, "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 1\n", format=format)
    np.testing.assert_array_equal(A.todense(), [[4, 1], [1, 0]])
    assert A.asformat("csr").nnz == 3
    assert A.trace() == 4


def test_B43_stored_zeros_on_the_diagonal(tmp_path):
    A = read(tmp_path, "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 0\n2 1 1\n")
    assert A.nnz == 3
    np.testing.assert_array_equal(A.todense(), [[0, 1], [1, 0]])


@pytest.mark.parametrize("format", ["csr", "ell", "pjad", "bsr", "cds", "hm", "cdm"])
@pytest.mark.parametrize(("lower", "upper"), [(2, 1), (0, 2), (3, 0), (0, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_B45_band_form(format, lower, upper, dtype):
    n = 6
    rng = np.random.default_rng(0)
    M = np.triu(np.tril(rng.standard_normal((n, n)), upper), -lower) + 4 * np.eye(n)
    if lower > 1:
        M -= np.diag(np.diag(M, -1), -1)  # a diagonal inside the band that does not exist
    M = M.astype(dtype) * (1 + (1j if dtype == np.complex64 else 0))
    A, b = sf.asarray(M, format=format), np.arange(float(n))
    ab = sf.linalg.to_banded(A)
    assert ab.shape == (lower + upper + 1, n) and ab.dtype == dtype
    expected = np.zeros_like(ab)
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            expected[upper + i - j, j] = M[i, j]
    np.testing.assert_array_equal(ab, expected)
    np.testing.assert_allclose(solve_banded((lower, upper), ab, b), np.linalg.solve(M, b), rtol=1e-4, atol=1e-6)


def test_B45_square_matrices_only():
    with pytest.raises(ValueError, match=r"square.*\(2, 3\)"):
        sf.linalg.to_banded(sf.asarray(np.ones((2, 3)), format="cds"))
