"""Rows of x that are asked for ahead: which they are, and that products do not depend on them."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.numba import caches, far_reads, launch, row_formats


def far(S, row_bytes):
    return far_reads.far_reads(S.indices, S.indptr, row_bytes)


ALIKE = [1 << e for e in range(2, 10)]


@pytest.mark.parametrize("row_bytes", ALIKE)
def test_columns_in_line_are_not_far(row_bytes):
    S = sp.csr_array(sp.diags_array([np.ones(40_000)] * 5, offsets=[-200, -1, 0, 1, 200], shape=(40_000, 40_000)))
    assert far(S, row_bytes) is None


def test_row_lengths_that_are_told_apart():
    assert {far_reads.alike(row_bytes) for row_bytes in range(4, 10_000, 4)} == set(ALIKE)
    with pytest.raises(ValueError, match="power of two"):
        far(sp.csr_array((1, 1)), 24)
    with pytest.raises(ValueError, match="power of two"):
        far(sp.csr_array((1, 1)), 1 << 20)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("row_bytes", ALIKE)
def test_columns_anywhere_are_far(row_bytes, index):
    rng = np.random.default_rng(0)
    n, each = 50_000, 4
    S = sp.csr_array(
        (np.ones(n * each), rng.integers(1 << 24, size=n * each), np.arange(0, n * each + 1, each)), shape=(n, 1 << 24)
    )
    found = far_reads.far_reads(S.indices.astype(index), S.indptr, row_bytes)
    assert found.columns.dtype == index
    assert found.starts[0] == 0 and found.starts[-1] == len(found.columns) and (np.diff(found.starts) >= 0).all()
    assert len(found.starts) == -(-n // far_reads.ROWS) + 1
    most = far_reads.MOST // max(row_bytes // 64, 1)
    assert np.diff(found.starts).max() <= most
    assert len(found.columns) > 0.98 * min(S.nnz, most * (len(found.starts) - 1))
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
    assert far_reads._find(S.indices, S.indptr, 0, np.full(64, -1), 40, np.empty(2, np.int64), columns) == 40


def test_size_of_the_last_cache(tmp_path):
    for level, size in enumerate(("48K", "1024K", "32768K", "")):
        (tmp_path / f"index{level}").mkdir()
        (tmp_path / f"index{level}" / "size").write_text(size + "\n")
    assert caches.last_cache_bytes(str(tmp_path)) == 1 << 25
    (tmp_path / "index2" / "size").write_text("105M")
    caches.last_cache_bytes.cache_clear()
    assert caches.last_cache_bytes(str(tmp_path)) == 105 << 20
    assert caches.last_cache_bytes(str(tmp_path / "nowhere")) == caches.USUAL
    assert caches.last_cache_bytes() > 0


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_no_entries(shape):
    assert far(sp.csr_array(shape), 64) is None or not len(far(sp.csr_array(shape), 64).columns)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 8, 12, 16, 33, 100])
def test_products(monkeypatch, k, dtype):
    """With far reads and results past the caches wherever y begins, on one thread and on two, the bits are the same."""
    monkeypatch.setattr(far_reads, "CACHED", 0)
    monkeypatch.setattr(far_reads, "SHARE", 0)
    monkeypatch.setattr(launch, "STREAMED", 0)
    monkeypatch.setattr(row_formats, "STREAMED_COLUMNS", (16, 16))
    monkeypatch.setattr(row_formats, "SERIAL_ROWS", 0)
    rng, pair = np.random.default_rng(3), dtype.startswith("complex")

    def some(*shape):
        return (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if pair else 0)).astype(dtype)

    S = sp.random_array((301, 187), density=0.1, rng=rng).tolil()
    S[50:90] = 0
    S[7] = 1
    S = sp.csr_array(S)
    S = sp.csr_array((some(S.nnz), S.indices, S.indptr), shape=S.shape)
    A, X = sf.asarray(S, format="csr"), some(187, k)
    kernel, arrays = row_formats._csr_spmm(row_formats.rows_of(A), S.shape, k, X.dtype, X.dtype, {})
    assert kernel.__name__.endswith("_foresee") and len(arrays[-1])
    assert ("_0_foresee" in kernel.__name__) == (k in (2, 4, 8, 12, 16))
    alpha = 1.5 - 2j if pair else 1.5
    want = S.astype(np.complex128) @ X
    bound = 200 * np.finfo(dtype).eps * (abs(S) @ abs(X) + 1)
    item = np.dtype(dtype).itemsize
    room = np.empty(301 * k * item + 128, np.uint8)
    first = None
    for threads in (1, 2):
        with sf.config(threads=threads):
            B = A.copy()
            for start in range(0, 64, np.finfo(dtype).dtype.itemsize):
                begin = -room.ctypes.data % 64 + start
                Y = room[begin : begin + 301 * k * item].view(dtype).reshape(301, k)
                room[:] = 77
                assert sf.spmv(B, X, Y, alpha=alpha) is Y
                assert (abs(Y - alpha * want) <= 3 * bound).all()
                assert (room[:begin] == 77).all() and (room[begin + Y.nbytes :] == 77).all()
                first = Y.copy() if first is None else first
                assert Y.tobytes() == first.tobytes()
                sf.spmv(B, X, Y, beta=1)
                assert (abs(Y - (1 + alpha) * want) <= 8 * bound).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_bits_do_not_depend_on_whether_results_pass_the_caches(monkeypatch, dtype):
    rng, pair = np.random.default_rng(4), dtype.startswith("complex")
    S = sp.random_array((131, 90), density=0.1, rng=rng, format="csr").astype(dtype)
    S.data += (1j * rng.standard_normal(S.nnz)).astype(dtype) if pair else 0
    X = (rng.standard_normal((90, 16)) + (1j * rng.standard_normal((90, 16)) if pair else 0)).astype(dtype)
    alpha, results = 1.5 - 2j if pair else 1.5, []
    for streamed in (0, 1 << 40):
        monkeypatch.setattr(launch, "STREAMED", streamed)
        for columns in ((8, 8), (16, 16)):
            monkeypatch.setattr(row_formats, "STREAMED_COLUMNS", columns)
            results.append(sf.spmv(sf.asarray(S, format="csr"), X, alpha=alpha).tobytes())
    assert len(set(results)) == 1
