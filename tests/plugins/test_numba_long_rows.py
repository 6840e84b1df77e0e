"""One row with a good part of all entries: split over the threads, with the same bits on every run."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.numba import long_rows
from spformats_plugins.numba.row_formats import rows_of

LAYOUTS = [("csr", {}), ("jad", {}), ("pjad", {}), ("pjad", {"bsize": 8}), ("pjad", {"bsize": 8, "sigma": 8})]


def matrix(dtype, rows=3000, cols=60_000, long=(0, 1700, 2999)):
    """Short rows and a few that are full; some rows are empty."""
    rng = np.random.default_rng(0)
    A = sp.random_array((rows, cols), density=4 / cols, rng=rng, format="lil", dtype=np.float64)
    for i in long:
        A[i, :] = rng.standard_normal(cols)
    A = A.tocsr()
    if np.dtype(dtype).kind == "c":
        A = A + 1j * A.multiply(A)
    return sp.csr_array(A.astype(dtype))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("format", "layout"), LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_products(format, layout, dtype, threads):
    S = matrix(dtype)
    A = sf.asarray(S, format=format, force=True, **layout)
    rng = np.random.default_rng(1)
    with sf.config(threads=threads):
        for shape in ((S.shape[1],), (S.shape[1], 5), (S.shape[1], 11)):
            x = rng.standard_normal(shape).astype(dtype)
            want = S.astype(np.complex128) @ x
            bound = 60_000 * np.finfo(dtype).eps * (abs(S) @ abs(x)).max()
            y = A @ x
            assert abs(y - want).max() <= bound
            assert np.array_equal(y, A @ x)
            z = rng.standard_normal(y.shape).astype(dtype)
            got = sf.spmv(A, x, z.copy(), alpha=2, beta=-3)
            assert abs(got - (2 * want - 3 * z)).max() <= 3 * bound
            strided = np.full((2 * S.shape[0], *shape[1:]), np.nan, dtype)[::2]
            assert np.array_equal(sf.spmv(A, x, strided, beta=0), y)


def test_the_long_rows_are_found():
    S = matrix("float64")
    for format, layout in LAYOUTS:
        rows = rows_of(sf.asarray(S, format=format, force=True, **layout))
        found = long_rows.long_rows(rows, 3)
        assert sorted(found.targets.tolist()) == [0, 1700, 2999]
        for target, (data, indices) in zip(found.targets.tolist(), found.entries, strict=True):
            assert np.array_equal(data, S[[target]].data)
            assert np.array_equal(indices, S[[target]].indices)
    assert long_rows.long_rows(rows_of(sf.asarray(S[1:1700], format="csr")), 2) is None


def test_ranges_leave_rows_out():
    assert long_rows.between([(0, 5), (5, 9)], [0, 4, 5, 8]) == [(1, 4), (6, 8)]
    assert long_rows.between([(0, 1)], [0]) == []


def test_a_matrix_of_long_rows_only():
    S = sp.csr_array(np.random.default_rng(2).standard_normal((1, 100_000)))
    A = sf.asarray(S, format="csr")
    x = np.random.default_rng(3).standard_normal(100_000)
    assert abs(A @ x - S @ x).max() <= 1e5 * np.finfo(float).eps * abs(x).sum()
    assert (sf.spmv(A, x, np.full(1, np.nan), alpha=0, beta=0) == 0).all()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("format", "layout"), [*LAYOUTS, ("ell", {})])
def test_infinity_in_a_long_row_stays_infinity(format, layout, threads):
    n = 9000
    S = sp.eye_array(n, format="lil")
    S[5, :] = 1.0
    S = S.tocsr()
    S.data[S.indptr[5]] = np.inf
    A = sf.asarray(S, format=format, force=True, **layout)
    with sf.config(threads=threads):
        for x in (np.ones(n), np.ones((n, 3))):
            want = S @ x
            assert np.array_equal(A @ x, want)
            assert np.array_equal(sf.spmv(A, x, np.ones_like(want), beta=2.0), want + 2)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("place", [0, 64, 700, 999])
@pytest.mark.parametrize(("format", "layout"), [*LAYOUTS, ("pjad", {"bsize": 8, "sigma": 64}), ("bsr", {})])
def test_transposed_products_of_one_heavy_row(format, layout, place, threads):
    S = sp.lil_array((1000, 40_000))
    S[np.arange(1000), np.arange(0, 40_000, 40)] = 1.0
    S[place] = np.arange(1.0, 40_001)
    S = S.tocsr()
    A = sf.asarray(S, format=format, force=True, **layout)
    x, X = np.arange(1000.0), np.arange(3000.0).reshape(1000, 3)
    with sf.config(threads=threads):
        np.testing.assert_array_equal(A.T @ x, S.T @ x)
        np.testing.assert_array_equal(A.T @ X, S.T @ X)
        np.testing.assert_array_equal(A @ np.ones(40_000), S @ np.ones(40_000))
