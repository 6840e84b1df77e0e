"""Faults reported against other libraries: diagonal storage and its memory (B01, B03, B05)."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from every_format import FORMATS, all_formats, columns

import spformats as sf
from spformats import advisor

DIAGONAL = ["cds", "hm", "cdm"]


def tridiagonal(n, dtype=np.float64):
    side = -np.ones(n - 1)
    return sp.csr_array(sp.diags_array([side, 2 * np.ones(n), side], offsets=[-1, 0, 1]).astype(dtype))


# ---------------------------------------------------------------------- B01: width and offsets of DIA input
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("offsets", [[0, 1], [1, 0], [-1, 2], [3, -1]])
@pytest.mark.parametrize("shape", [(2, 4), (4, 2), (3, 3), (1, 5), (5, 1)])
def test_B01_rows_of_values_of_any_width(width, offsets, shape):
    D = sp.dia_array((np.arange(1.0, 2 * width + 1).reshape(2, width), offsets), shape=shape)
    expected = np.zeros(shape)
    for row, offset in zip(D.data, offsets, strict=True):
        for j in range(min(width, shape[1])):
            if 0 <= j - offset < shape[0]:
                expected[j - offset, j] = row[j]
    for format, A in all_formats(D):
        np.testing.assert_array_equal(columns(A), expected, err_msg=format)
        np.testing.assert_array_equal(columns(A.T), expected.T, err_msg=format)
        np.testing.assert_array_equal(A.todense(), expected, err_msg=format)
        np.testing.assert_array_equal(A.todia().toarray(), expected, err_msg=format)


@pytest.mark.parametrize("offset", [5, 3, -3, -4, 2**40, -(2**40)])
def test_B01_offset_outside_the_shape_counts_as_nothing(offset):
    D = sp.dia_array((np.ones((1, 3)), [0]), shape=(3, 3))
    D.offsets = np.array([offset])
    for format, A in all_formats(D):
        assert A.nnz == 0, format
        assert not (A @ np.ones(3)).any() and not (A.T @ np.ones(3)).any(), format
    two = sp.dia_array((np.ones((2, 3)), [0, 1]), shape=(3, 3))
    two.offsets = np.array([0, offset])
    for format, A in all_formats(two):
        np.testing.assert_array_equal(columns(A), np.eye(3), err_msg=format)


def test_B01_no_diagonals_at_all():
    for shape in ((0, 0), (0, 3), (3, 0), (3, 3)):
        D = sp.dia_array(shape)
        for format, A in all_formats(D):
            assert A.shape == shape and A.nnz == 0, format
            assert (A @ np.ones(shape[1])).tolist() == [0.0] * shape[0], format


# ---------------------------------------------------------------------- B03: arithmetic that changes the format
@pytest.mark.parametrize("format", FORMATS)
def test_B03_scaling_keeps_the_format(format):
    S = tridiagonal(10)
    A = sf.asarray(S, format=format)
    D = S.toarray()
    for B, expected in (
        (A * 3, 3 * D), (3.0 * A, 3 * D), (np.float64(3) * A, 3 * D), (A * np.float32(3), 3 * D), (A / 2, D / 2),
        (-A, -D), (+A, D),
        (abs(A), abs(D)), (A.T, D.T), (A.H, D.T), (A.mT, D.T), (A.conj(), D), (A.copy(), D), (A.T * 2, 2 * D.T),
        (A + A, 2 * D), (A - A, 0 * D), (A * A, D * D), (A.astype(np.float32), D),
    ):  # fmt: skip
        assert type(B) is type(A) and B.format == format
        np.testing.assert_allclose(columns(B), expected)
        np.testing.assert_allclose(B.todense(), expected)


@pytest.mark.parametrize("left", DIAGONAL)
@pytest.mark.parametrize("right", DIAGONAL)
def test_B03_products_and_sums_of_diagonals_stay_diagonal(left, right):
    S, R = (
        tridiagonal(10),
        sp.csr_array(sp.diags_array([np.arange(1.0, 9), np.arange(3.0, 10)], offsets=[2, -3], shape=(10, 10))),
    )
    A, B = sf.asarray(S, format=left), sf.asarray(R, format=right)
    assert (A @ A).format == left and len((A @ A).offsets) == 5
    for C, expected in (
        (A @ B, S @ R),
        (A + B, S + R),
        (A - B, S - R),
        (A * B, S * R),
        (A.T @ B, S.T @ R),
        (A @ B.T, S @ R.T),
    ):
        assert C.format in DIAGONAL
        np.testing.assert_allclose(columns(C), expected.toarray())


def test_B03_rectangular_diagonals_stay_diagonal():
    S = sp.diags_array([np.ones(4), np.arange(1.0, 4)], offsets=[0, 3], shape=(4, 6))
    A = sf.asarray(S, format="cds")
    for C, expected in ((A @ A.T, S @ S.T), (A.T @ A, S.T @ S)):
        assert C.format == "cds"
        np.testing.assert_allclose(columns(C), expected.toarray())


# ---------------------------------------------------------------------- B05: memory
def scattered(n):
    return sp.csr_array((np.ones(n), (np.arange(n), np.arange(n)[::-1])), shape=(n, n))


def arrow(n):
    return sp.csr_array(
        (np.ones(2 * n), (np.r_[np.zeros(n, int), np.arange(n)], np.r_[np.arange(n), np.arange(n)])), shape=(n, n)
    )


def one_of_each_length(n):
    """A long row in each block of PJAD's papers' layout."""
    return sp.csr_array((np.ones(n), (np.zeros(n, int), np.arange(n))), shape=(n, n))


@pytest.mark.parametrize(
    ("matrix", "format", "layout"),
    [
        (scattered, "cds", {}),
        (scattered, "cdm", {}),
        (scattered, "hm", {}),
        (scattered, "bsr", {"blocksize": (500, 500)}),
        (arrow, "ell", {}),
        (arrow, "pjad", {"bsize": 20000}),
        (one_of_each_length, "pjad", {"bsize": 20000}),
        (arrow, "cds", {}),
    ],
)
def test_B05_absurd_memory_is_refused_before_it_is_taken(matrix, format, layout):
    S = matrix(20000)
    tracemalloc.start()
    with pytest.raises(sf.StorageError) as error:
        sf.asarray(S, format=format, **layout)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    message = str(error.value)
    assert (
        message.startswith(format.upper())
        and "bytes" in message
        and "CSR needs" in message
        and "fits" in message
        and "force" in message
    )
    needed = int(message.split("need ")[1].split()[0])
    assert needed > 64e6
    assert isinstance(error.value, ValueError)
    assert advisor.recommend(sf.asarray(S)).format != format


@pytest.mark.parametrize("format", ["csr", "jad", "pjad"])
def test_B05_the_formats_named_instead_do_fit(format):
    for S in (scattered(20000), arrow(20000)):
        A = sf.asarray(S, format=format)
        assert A.nbytes < 4 * sf.asarray(S).nbytes
        np.testing.assert_array_equal(A @ np.arange(20000.0), S @ np.arange(20000.0))


def test_B05_force_converts_all_the_same(monkeypatch):
    from spformats.formats import _guard

    S = scattered(200)
    monkeypatch.setattr(_guard, "BYTES", 1000)
    monkeypatch.setattr(_guard, "TIMES", 1)
    for format in ("cds", "cdm", "hm"):
        with pytest.raises(sf.StorageError):
            sf.asarray(S, format=format)
        with pytest.raises(sf.StorageError):
            sf.asarray(S).asformat(format)
        for A in (sf.asarray(S, format=format, force=True), sf.asarray(S).asformat(format, force=True)):
            np.testing.assert_array_equal(A.todense(), S.toarray())


def test_B05_a_transpose_that_would_not_fit_still_works_as_a_view():
    """One full column: ELL holds the matrix in two slots a row, its transpose would need n × n."""
    n = 20000
    S = sp.csr_array(arrow(n).T)
    A = sf.asarray(S, format="ell")
    x = np.arange(float(n))
    np.testing.assert_array_equal(A.T @ x, S.T @ x)
    assert A.T.asformat("csr").nnz == A.T.tocsr().nnz == (A.T * 2).nnz == A.nnz
    np.testing.assert_array_equal((2 * A.T) @ x, 2 * (S.T @ x))
    with pytest.raises(sf.StorageError, match="ELL would need"):
        A.T.data  # noqa: B018
