"""Kernels that prefetch or read short indices run on large matrices only; here small ones meet them too."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.numba import bsr, launch, row_formats
from spformats_plugins.numba.row_formats import _spmv_kernel, rows_of

LAYOUTS = [
    ("csr", {}),
    ("pjad", {"bsize": 8, "sigma": 32}),
    ("pjad", {"bsize": 16, "sigma": 32}),
    ("pjad", {"bsize": 32, "sigma": 32}),
    ("pjad", {"bsize": 12, "sigma": 24}),
    ("bsr", {"blocksize": (1, 1)}),
    ("bsr", {"blocksize": (2, 3), "pad": True}),
    ("bsr", {"blocksize": (5, 5), "pad": True}),
    ("bsr", {"blocksize": (4, 9), "pad": True}),
]


@pytest.mark.parametrize("distance", [0, launch.FAR])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(("format", "layout"), LAYOUTS)
def test_products(monkeypatch, format, layout, dtype, distance):
    monkeypatch.setattr(launch, "LARGE", 0 if distance else 1 << 62)
    for module in (row_formats, bsr):
        monkeypatch.setattr(module, "foresees_rows", lambda: False)
    rng = np.random.default_rng(0)
    S = sp.random_array((203, 187), density=0.1, rng=rng, dtype=np.float64).tolil()
    S[50] = 0
    S[51, :] = 1.0
    S[160:192, 5] = 2.0
    S = S.tocsr()
    if np.dtype(dtype).kind == "c":
        S = S + 0.5j * S
    S = sp.csr_array(S.astype(dtype))
    A = sf.asarray(S, format=format, force=True, **layout)
    assert launch.prefetch_distance(A.data) == row_formats._far(A.data, 64) == distance
    x, y = (rng.standard_normal(n).astype(dtype) for n in (187, 203))
    exact = S.astype(np.complex128)
    bound = 200 * np.finfo(dtype).eps * (abs(S) @ abs(x) + abs(y))
    assert (abs(A @ x - exact @ x) <= bound).all()
    assert (abs(sf.spmv(A, x, y.copy(), alpha=2, beta=-1) - (2 * (exact @ x) - y)) <= 3 * bound).all()


def test_a_cpu_that_foresees_rows_is_asked_for_small_blocks_only(monkeypatch):
    monkeypatch.setattr(launch, "LARGE", 0)
    small, large = (sf.gallery.block_band(60, blocksize=(side, side), density=0.3) for side in (2, 5))
    chosen = {}
    for foresees in (False, True):
        monkeypatch.setattr(bsr, "foresees_rows", lambda foresees=foresees: foresees)
        chosen[foresees] = [bsr.spmv_kernel(A) for A in (small, large)]
    assert chosen[True][0] is chosen[False][0] and chosen[True][1] is not chosen[False][1]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("count", [1, 4, 5, 9, 17])
@pytest.mark.parametrize("format", ["cds", "hm", "cdm"])
def test_diagonals(format, count, dtype):
    """Any number of passes over a block, beside diagonals of one number, rows before and behind them."""
    rng = np.random.default_rng(2)
    offsets = np.arange(count) - count // 3
    values = [rng.standard_normal(403) + (1j * rng.standard_normal(403) if "c" in dtype else 0) for _ in offsets]
    values[count // 2][:] = 2.5
    shape = (391, 403 if format == "cds" else 391)
    S = sp.diags_array([v[:391] for v in values], offsets=offsets, shape=shape).tocsr().astype(dtype)
    A = sf.asarray(S, format=format)
    exact = S.astype(np.complex128)
    for M, E in ((A, exact), (A.T, exact.T), (A.H, exact.conj().T)):
        x, y = (rng.standard_normal(n).astype(dtype) for n in E.shape[::-1])
        bound = (count + 4) * np.finfo(dtype).eps * (abs(E) @ abs(x) + abs(y))
        assert (abs(M @ x - E @ x) <= bound).all()
        assert (abs(sf.spmv(M, x, y.copy(), alpha=2, beta=-1) - (2 * (E @ x) - y)) <= 3 * bound).all()


@pytest.fixture
def written_past_the_caches(monkeypatch):
    """Small results too, as long as the test runs."""
    monkeypatch.setattr(launch, "STREAMED", 0)


@pytest.mark.parametrize("count", [1, 5, 8, 9])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_results_written_past_the_caches(written_past_the_caches, dtype, count):
    """Wherever y's first whole cache line begins, between values of a complex y too; with one pass and with several."""
    rng = np.random.default_rng(3)
    offsets = 7 * (np.arange(count) - count // 2)
    S = sp.diags_array([rng.standard_normal(500) for _ in offsets], offsets=offsets, shape=(500, 500)).tocsr()
    A, x = sf.asarray(S.astype(dtype), format="cds"), rng.standard_normal(500).astype(dtype)
    expected, bound = S @ x, (count + 4) * np.finfo(dtype).eps * (abs(S) @ abs(x))
    real = np.finfo(dtype).dtype
    size = 500 * np.dtype(dtype).itemsize // real.itemsize
    room = np.empty(1200, real)
    for start in range(17):
        y = room[start : start + size].view(dtype)
        room[:] = 77
        assert sf.spmv(A, x, y, alpha=2) is y
        assert (abs(y - 2 * expected) <= 2 * bound).all()
        assert (room[:start] == 77).all() and (room[start + size :] == 77).all()


@pytest.mark.parametrize("offsets", [[], [-500], [-700, -500], [-500, 3], [-2, 4]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_tall_results_written_past_the_caches(written_past_the_caches, dtype, offsets):
    """Rows behind the last column are covered by diagonals below the main one, or by none."""
    shape, rng = (1300, 500), np.random.default_rng(6)
    S = sp.csr_array(shape, dtype=dtype)
    for offset in offsets:
        S = S + sp.diags_array([rng.standard_normal(500)], offsets=[offset], shape=shape, dtype=dtype).tocsr()
    A, x = sf.asarray(S, format="cds"), rng.standard_normal(500).astype(dtype)
    real = np.finfo(dtype).dtype
    size = 1300 * np.dtype(dtype).itemsize // real.itemsize
    room = np.zeros(size + 33, real)
    for start in range(33):
        y = room[start : start + size].view(dtype)
        y[:] = 77
        np.testing.assert_allclose(sf.spmv(A, x, y), S @ x, rtol=1e-5)


def test_results_written_past_the_caches_by_several_threads(written_past_the_caches):
    n = 300_000
    A = sf.gallery.laplace1d(n)
    x = np.random.default_rng(4).standard_normal(n)
    for threads in (1, 2, 3):
        with sf.config(threads=threads):
            B = A.copy()
            for _ in range(20):
                np.testing.assert_allclose(B @ x, A.to_scipy_sparse() @ x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("streamed", [0, launch.STREAMED])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_place_of_the_result_does_not_change_it(monkeypatch, dtype, streamed):
    """Blocks begin with cache lines of y; sums are rounded alike wherever a block ends, bit for bit."""
    monkeypatch.setattr(launch, "STREAMED", streamed)
    n, rng = 2500, np.random.default_rng(5)
    offsets = np.r_[-300, np.arange(-4, 7), 70]
    diagonals = [rng.standard_normal(n) + (1j * rng.standard_normal(n) if "c" in dtype else 0) for _ in offsets]
    A = sf.asarray(sp.diags_array(diagonals, offsets=offsets, shape=(n, n)).astype(dtype), format="cds")
    x = rng.standard_normal(n).astype(dtype)
    real = np.finfo(dtype).dtype
    size = n * np.dtype(dtype).itemsize // real.itemsize
    room = np.zeros(size + 33, real)
    for M in (A, A.T, A.H):
        for beta in (0, 2):
            expected = sf.spmv(M, x, np.ones(n, dtype), alpha=1.5, beta=beta)
            for start in range(33):
                y = room[start : start + size].view(dtype)
                y[:] = 1
                assert np.array_equal(sf.spmv(M, x, y, alpha=1.5, beta=beta), expected)


def test_infinite_beta_in_several_passes():
    A = sf.CDS(np.ones((9, 100)) * np.tri(9, 100, 100), np.arange(9), shape=(100, 108))
    assert np.isposinf(sf.spmv(A, np.ones(108), np.ones(100), 1.0, np.inf)).all()


def test_rows_left_in_their_order():
    """Uniform rows are not moved: another kernel, which does not read the permutation."""
    rng = np.random.default_rng(1)
    S = sp.diags_array([rng.standard_normal(100)] * 3, offsets=[0, 1, 2], shape=(100, 102)).tocsr()
    for bsize in (8, 16, 32):
        A = sf.asarray(S, format="pjad", bsize=bsize, sigma=bsize)
        assert (A.perm == np.arange(100)).all()
        x = rng.standard_normal(102)
        np.testing.assert_allclose(A @ x, S @ x)
        np.testing.assert_allclose(sf.spmv(A, x, np.ones(100), alpha=2.0, beta=3.0), 2 * (S @ x) + 3)


@pytest.mark.parametrize("bsize", [8, 12, 16])
def test_columns_too_far_apart_for_short_indices(monkeypatch, bsize):
    monkeypatch.setattr(launch, "LARGE", 0)
    rng = np.random.default_rng(2)
    for wide in (65_535, 65_536, 70_000):
        S = sp.random_array((40, 70_001), density=1e-4, rng=rng, format="lil", dtype=np.float64)
        S[20, 0], S[20, wide] = 2.0, 3.0
        S[3], S[21:30] = 0, 0
        S = sp.csr_array(S)
        A = sf.asarray(S, format="pjad", bsize=bsize, sigma=2 * bsize, force=True)
        arrays = _spmv_kernel(rows_of(A))[1]
        x = rng.standard_normal(70_001)
        np.testing.assert_allclose(A @ x, S @ x, atol=1e-12)
        if wide == 70_000:
            assert arrays[1].dtype == A.indices.dtype
    S = sp.diags_array([rng.standard_normal(300)] * 3, offsets=[0, 1, 9], shape=(300, 400)).tocsr()
    A = sf.asarray(S, format="pjad", bsize=bsize, sigma=2 * bsize)
    assert _spmv_kernel(rows_of(A))[1][1].dtype == np.uint16
    x = rng.standard_normal(400)
    np.testing.assert_allclose(A @ x, S @ x)
