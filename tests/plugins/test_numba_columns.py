"""Diagonals times k columns: every shape of kernel, in the forms that only large products take otherwise."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.numba import diagonal, diagonal_spmm_source, launch

N = 700
#: Less than a line, lines and what is left, a panel, several, and a number that the compiler does not know.
COLUMNS = {"float32": (3, 15, 20, 150), "float64": (1, 2, 7, 33, 130), "complex64": (3,), "complex128": (3, 70)}
CASES = [(dtype, k) for dtype, columns in COLUMNS.items() for k in columns]


@pytest.fixture(params=["from a cache", "from memory"])
def origin(request, monkeypatch):
    monkeypatch.setattr(launch, "LARGE", 0 if request.param == "from memory" else 1 << 62)
    monkeypatch.setattr(launch, "STREAMED", 0)


def diagonals(dtype, shape, rng):
    """Near, far and constant diagonals; some rows meet none of them."""
    offsets = [-50, -3, -1, 0, 1, 2, 40]
    values = [rng.standard_normal(N) + (1j * rng.standard_normal(N) if "c" in dtype else 0) for _ in offsets]
    values[2][:], values[5][:] = 2.5, -1.5
    return sp.csr_array(sp.diags_array(values, offsets=offsets, shape=(N, N)).astype(dtype))[: shape[0], : shape[1]]


@pytest.mark.parametrize(("dtype", "k"), CASES)
def test_products(origin, dtype, k):
    rng = np.random.default_rng(0)
    for format, shape in (("cds", (N, 660)), ("cds", (110, N)), ("hm", (N, N)), ("cdm", (N, N))):
        S = diagonals(dtype, shape, rng)
        A = sf.asarray(S, format=format)
        exact = S.astype(np.complex128)
        for M, E in ((A, exact), (A.H, exact.conj().T)):
            x, y = (rng.standard_normal((n, k)).astype(dtype) for n in E.shape[::-1])
            bound = 12 * np.finfo(dtype).eps * (abs(E) @ abs(x) + abs(y))
            assert (abs(M @ x - E @ x) <= bound).all()
            assert (abs(sf.spmv(M, x, y.copy(), alpha=2, beta=-1) - (2 * (E @ x) - y)) <= 3 * bound).all()


@pytest.mark.parametrize(("dtype", "k"), [("float32", 3), ("float32", 20), ("float64", 5), ("complex128", 3)])
def test_place_of_the_result(origin, dtype, k):
    """Wherever its first cache line begins, also between parts of complex numbers: the same bits, nothing beside."""
    rng = np.random.default_rng(1)
    A = sf.asarray(diagonals(dtype, (N, N), rng), format="cds")
    x = rng.standard_normal((N, k)).astype(dtype)
    real = np.finfo(dtype).dtype
    size = N * k * np.dtype(dtype).itemsize // real.itemsize
    room = np.empty(size + 40, real)
    for beta in (0, 2):
        expected = sf.spmv(A, x, np.ones((N, k), dtype), alpha=1.5, beta=beta)
        for start in range(17):
            room[:] = 77
            y = room[start : start + size].view(dtype).reshape(N, k)
            y[:] = 1
            assert np.array_equal(sf.spmv(A, x, y, alpha=1.5, beta=beta), expected)
            assert (room[:start] == 77).all() and (room[start + size :] == 77).all()


@pytest.mark.parametrize(
    ("of_matrix", "of_x"), [("float32", "float64"), ("float64", "complex64"), ("complex64", "float32")]
)
@pytest.mark.parametrize("k", [3, 12])
def test_two_types(origin, of_matrix, of_x, k):
    rng = np.random.default_rng(2)
    S = diagonals(of_matrix, (N, N), rng)
    x = rng.standard_normal((N, k)).astype(of_x)
    y = sf.asarray(S, format="cds") @ x
    assert y.dtype == np.result_type(of_matrix, of_x)
    bound = 12 * np.finfo(y.dtype).eps * (abs(S) @ abs(x))
    assert (abs(y - S.astype(np.complex128) @ x.astype(np.complex128)) <= bound).all()


@pytest.mark.parametrize("k", [4, 40])
def test_threads_that_follow_each_other(monkeypatch, k):
    """Where the rows of x between the first diagonal and the last fill the last cache, there are more ranges."""
    n = 40_000
    offsets = [-3000, -1, 0, 1, 3000]
    S = sp.diags_array([np.arange(1.0, n + 1)] * 5, offsets=offsets, shape=(n, n)).tocsr()
    A, x = sf.asarray(S, format="cds"), np.random.default_rng(3).standard_normal((n, k))
    products, counts = [], []
    for cache in (1 << 40, 1):
        monkeypatch.setattr(diagonal, "last_cache_bytes", lambda cache=cache: cache)
        with sf.config(threads=2):
            counts.append(diagonal._per_thread(n, np.array(offsets), 8 * k))
            products.append(A.copy() @ x)
    assert counts == [launch.PER_THREAD, 4 * n // (6000 * 2)]
    bound = 12 * np.finfo(np.float64).eps * (abs(S) @ abs(x))
    for product in products:
        assert (abs(product - S @ x) <= bound).all()


@pytest.mark.parametrize("k", [3, 16])
def test_rows_shared_by_threads_and_asked_for_ahead(monkeypatch, k):
    """Ranges that begin inside a cache line, results past the caches, x prefetched along every diagonal."""
    monkeypatch.setattr(launch, "LARGE", 0)
    monkeypatch.setattr(launch, "STREAMED", 0)
    monkeypatch.setattr(diagonal, "FORGOTTEN", 0)
    monkeypatch.setattr(diagonal, "last_cache_bytes", lambda: 1)
    n, rng = 40_001, np.random.default_rng(4)
    S = sp.diags_array(list(rng.standard_normal((5, n))), offsets=[-3000, -1, 0, 1, 3000], shape=(n, n)).tocsr()
    x = rng.standard_normal((n, k))
    expected = S @ x
    for threads in (1, 2, 3):
        with sf.config(threads=threads):
            A, y = sf.asarray(S, format="cds"), np.full((n, k), np.nan)
            first = sf.spmv(A, x, y).copy()
            np.testing.assert_allclose(first, expected, rtol=0, atol=1e-13)
            for _ in range(5):
                y[:] = np.nan
                assert np.array_equal(sf.spmv(A, x, y), first)


@pytest.mark.parametrize("registers", [(16, 32), (16, 16)])
@pytest.mark.parametrize(("dtype", "k"), [("float32", 12), ("float64", 8), ("complex128", 40)])
def test_other_processors(monkeypatch, registers, dtype, k):
    """Fewer or shorter registers change which columns are summed together."""
    monkeypatch.setattr(diagonal_spmm_source, "vector_registers", lambda: registers)
    rng = np.random.default_rng(5)
    S = diagonals(dtype, (N, N), rng)
    x = rng.standard_normal((N, k)).astype(dtype)
    bound = 12 * np.finfo(dtype).eps * (abs(S) @ abs(x))
    assert (abs(sf.asarray(S, format="cds") @ x - S.astype(np.complex128) @ x) <= bound).all()


def test_no_columns_and_no_diagonals(origin):
    A = sf.asarray(sp.csr_array((5, 4)), format="cds")
    assert (A @ np.ones((4, 3)) == 0).all()
    assert (sf.spmv(A, np.ones((4, 3)), np.ones((5, 3)), beta=2) == 2).all()
    assert sf.spmv(sf.gallery.laplace1d(6), np.ones((6, 0)), np.ones((6, 0))).shape == (6, 0)
