"""Faults reported against other libraries: diagonals, padding and blocks (B01, B03, B05, B06, B08, B09, B10)."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, build, example

import spformats as sf
from spformats import advisor

FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]
DIAGONAL = ["cds", "hm", "cdm"]


def all_formats(S):
    """In every format that can hold the shape; BSR with blocks of one entry."""
    for format in FORMATS:
        if format in ("hm", "cdm") and S.shape[0] != S.shape[1]:
            continue
        yield format, sf.asarray(S, format=format, **({"blocksize": (1, 1)} if format == "bsr" else {}))


def columns(A):
    """The dense matrix by products, so that a kernel is asked and no conversion."""
    return A @ np.eye(A.shape[1], dtype=A.dtype)


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
