"""Rows of x that are asked for ahead: which they are, and that products do not depend on them."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.numba import caches, far_reads, launch, row_formats


def far(S, row_bytes):
    return far_reads.far_reads(S.indices, S.indptr, row_bytes)


def test_columns_in_line_are_not_far():
    S = sp.csr_array(sp.diags_array([np.ones(40_000)] * 5, offsets=[-200, -1, 0, 1, 200], shape=(40_000, 40_000)))
    for row_bytes in (8, 32, 64, 128, 512):
        assert far(S, row_bytes) is None


@pytest.mark.parametrize("row_bytes", [8, 32, 64, 256])
def test_columns_anywhere_are_far(row_bytes):
    rng = np.random.default_rng(0)
    n, each = 50_000, 4
    S = sp.csr_array(
        (np.ones(n * each), rng.integers(1 << 24, size=n * each), np.arange(0, n * each + 1, each)), shape=(n, 1 << 24)
    )
    found = far(S, row_bytes)
    assert found.starts[0] == 0 and found.starts[-1] == len(found.columns) and (np.diff(found.starts) >= 0).all()
    assert len(found.starts) == -(-n // far_reads.ROWS) + 1
    assert len(found.columns) > 0.99 * S.nnz
    for block in (0, 7, len(found.starts) - 2):
        rows = slice(S.indptr[block * far_reads.ROWS], S.indptr[min((block + 1) * far_reads.ROWS, n)])
        assert set(found.columns[found.starts[block] : found.starts[block + 1]]) <= set(S.indices[rows])


def test_a_column_that_was_read_lately_is_not_far():
    rng = np.random.default_rng(1)
    lately = np.repeat(rng.integers(1 << 24, size=1000), 10)
    S = sp.csr_array((np.ones(10_000), lately, np.arange(10_001)), shape=(10_000, 1 << 24))
    assert len(far(S, 64).columns) <= 1000


def test_a_long_row_is_asked_for_in_part():
    columns = np.random.default_rng(2).permutation(1 << 20)[:100_000]
    S = sp.csr_array((np.ones(100_000), columns, [0, 100_000]), shape=(1, 1 << 20))
    assert far(S, 512) is None  # so few of its reads that they do not pay
    assert far_reads._find(S.indices, S.indptr, 0, np.full(64, -1), np.empty(2, np.int64), columns) == far_reads.MOST


def test_size_of_the_last_cache(tmp_path):
    for level, size in enumerate(("48K", "1024K", "32768K", "")):
        (tmp_path / f"index{level}").mkdir()
        (tmp_path / f"index{level}" / "size").write_text(size + "\n")
    assert caches.last_cache_bytes(str(tmp_path)) == 1 << 25
    (tmp_path / "index2" / "size").write_text("105M")
    caches.last_cache_bytes.cache_clear()
    assert caches.last_cache_bytes(str(tmp_path)) == 105 << 20
    assert caches.last_cache_bytes(str(tmp_path / "nowhere")) == caches.USUAL
    assert caches.last_cache_bytes() >= 1 << 18


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_no_entries(shape):
    assert far(sp.csr_array(shape), 64) is None or not len(far(sp.csr_array(shape), 64).columns)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(
    ("k", "index"), [(1, np.int32), (2, np.int64), (4, np.int32), (7, np.int32), (16, np.int32), (100, np.int64)]
)
def test_products(monkeypatch, k, dtype, index):
    """With far reads and results past the caches wherever y begins, on one thread and on two."""
    monkeypatch.setattr(far_reads, "CACHED", 0)
    monkeypatch.setattr(far_reads, "SHARE", 0)
    monkeypatch.setattr(launch, "STREAMED", 0)
    monkeypatch.setattr(row_formats, "STREAMED_COLUMNS", (16, 16))
    monkeypatch.setattr(row_formats, "SERIAL_ROWS", 0)
    rng = np.random.default_rng(3)
    S = sp.random_array((301, 187), density=0.1, rng=rng).tolil()
    S[50:90] = 0
    S[7] = rng.standard_normal(187)
    S = sp.csr_array(S).astype(dtype)
    A = sf.CSR(S.data, S.indices.astype(index), S.indptr.astype(index), shape=S.shape)
    X = rng.standard_normal((187, k)).astype(dtype)
    want = S.astype(np.complex128) @ X
    bound = 200 * np.finfo(dtype).eps * (abs(S) @ abs(X) + 1)
    item = np.dtype(dtype).itemsize
    room = np.empty(301 * k * item + 128, np.uint8)
    for threads in (1, 2):
        with sf.config(threads=threads):
            B, first = A.copy(), None
            for start in range(0, 64, np.finfo(dtype).dtype.itemsize):
                begin = -room.ctypes.data % 64 + start
                Y = room[begin : begin + 301 * k * item].view(dtype).reshape(301, k)
                room[:] = 77
                assert sf.spmv(B, X, Y, alpha=2) is Y
                assert (abs(Y - 2 * want) <= 2 * bound).all()
                assert (room[:begin] == 77).all() and (room[begin + Y.nbytes :] == 77).all()
                first = Y.copy() if first is None else first
                assert Y.tobytes() == first.tobytes()
                sf.spmv(B, X, Y, beta=1)
                assert (abs(Y - 3 * want) <= 4 * bound).all()
