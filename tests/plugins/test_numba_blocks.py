"""BSR products for the block sizes at which the kernels differ, and what surrounds a masked vector."""

import numpy as np
import pytest

import spformats as sf
from spformats import dispatch
from spformats_plugins.numba import bsr

#: Few rows or many, the columns of a whole number of vectors or not, a row of few vectors or many.
BLOCKSIZES = [(1, 9), (3, 16), (2, 33), (6, 35), (9, 10), (4, 8), (7, 7), (13, 5), (70, 1)]
ROWS = [[0, 2], [], [1], list(range(40)), [4, 8]]  # more than eight blocks a row on average


def blocks(blocksize, dtype, rows=ROWS):
    rng = np.random.default_rng(7)
    indices = np.concatenate([np.array(row, np.int32) for row in rows])
    indptr = np.append(0, np.cumsum([len(row) for row in rows]))
    data = rng.standard_normal((len(indices), *blocksize)).astype(dtype)
    if data.dtype.kind == "c":
        data = data + 1j * data[::-1]
    shape = (len(rows) * blocksize[0], 40 * blocksize[1])
    return sf.BSR(data, indices, indptr, shape=shape)


def by_blocks(A, x):
    """The product block by block: what is not stored meets nothing."""
    R, C = A.blocksize
    y = np.zeros((A.shape[0], *x.shape[1:]), np.result_type(A.dtype, x.dtype))
    for i in range(len(A.indptr) - 1):
        for p in range(A.indptr[i], A.indptr[i + 1]):
            y[i * R : (i + 1) * R] += A.data[p] @ x[A.indices[p] * C :][:C]
    return y


def tolerance(A):
    return 4 * np.finfo(A.dtype).eps * 40 * A.blocksize[1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("blocksize", BLOCKSIZES)
def test_vector(blocksize, dtype):
    A = blocks(blocksize, dtype)
    x = np.random.default_rng(8).standard_normal(A.shape[1]).astype(dtype)
    want = by_blocks(A, x)
    bound = tolerance(A) * by_blocks(abs(A), abs(x))
    assert (abs(A @ x - want) <= bound).all()
    y = np.ones_like(want)
    sf.spmv(A, x, y, alpha=2, beta=-1)
    assert (abs(y - (2 * want - 1)) <= 2 * bound + 8 * np.finfo(A.dtype).eps).all()


@pytest.fixture(params=[False, True], ids=["small", "large"])
def kernels_of_large_matrices(request, monkeypatch):
    """Those of small matrices serve all block sizes, those of large ones are compiled for theirs."""
    monkeypatch.setattr(bsr, "is_large", lambda nbytes: request.param)


@pytest.mark.usefixtures("kernels_of_large_matrices")
@pytest.mark.parametrize("k", [4, 37])
@pytest.mark.parametrize("blocksize", [(9, 10), (7, 7), (6, 3), (1, 4)])
def test_columns(blocksize, k):
    A = blocks(blocksize, "float64")
    x = np.random.default_rng(8).standard_normal((A.shape[1], k))
    want = by_blocks(A, x)
    bound = tolerance(A) * by_blocks(abs(A), abs(x))
    assert (abs(A @ x - want) <= bound).all()
    y = np.ones_like(want)
    dispatch.run("spmm", A, x, y, 2, -1)
    assert (abs(y - (2 * want - 1)) <= 2 * bound + 8 * np.finfo(A.dtype).eps).all()


@pytest.mark.usefixtures("kernels_of_large_matrices")
@pytest.mark.parametrize("k", [None, 4, 47])
@pytest.mark.parametrize(("blocksize", "dtype"), [((9, 10), "float64"), ((13, 5), "complex64"), ((1, 4), "float64")])
def test_transposed(blocksize, dtype, k):
    A = blocks(blocksize, dtype)
    x = np.random.default_rng(8).standard_normal((A.shape[0], *([k] if k else []))).astype(dtype)
    for trans, op in (("T", A.to_scipy_sparse().T), ("C", A.to_scipy_sparse().conj().T)):
        want, bound = op @ x, tolerance(A) * (abs(op) @ abs(x))
        y = np.ones_like(want)
        dispatch.run("spmm" if k else "spmv", A, x, y, 2, -1, trans=trans)
        assert (abs(y - (2 * want - 1)) <= 2 * bound + 8 * np.finfo(A.dtype).eps).all()


@pytest.mark.parametrize("shape", [(), (4,)])
@pytest.mark.parametrize("blocksize", BLOCKSIZES)
def test_neighbours_do_not_leak(blocksize, shape):
    """A vector that ends a row of a block must not meet the next row, nor the next part of x."""
    R, C = blocksize
    A = blocks(blocksize, "float64")
    data = A.data.copy()
    data[2] = np.nan  # all of the only block of block row 2
    A = sf.BSR(data, A.indices, A.indptr, shape=A.shape)
    x = np.ones((A.shape[1], *shape))
    x[5 * C : 6 * C] = np.inf  # met by block row 3 alone
    y = A @ x
    finite = np.isfinite(y).reshape(5, -1).all(axis=1)
    assert finite.tolist() == [True, True, False, False, True]
    if R > 1:
        data = blocks(blocksize, "float64").data.copy()
        data[:, 1, 0] = np.nan
        y = sf.BSR(data, A.indices, A.indptr, shape=A.shape) @ np.ones((A.shape[1], *shape))
        wrong = np.isnan(y).reshape(5, R, -1).all(axis=2)
        assert wrong.sum(axis=1).tolist() == [1, 0, 1, 1, 1] and not wrong[:, 0].any()
