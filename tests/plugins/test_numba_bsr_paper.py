"""The CPU strategies of paper 003, on the shapes that trouble schedulers."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats import dispatch

STRATEGIES = (
    "granular_rows",
    "naive_intra_row_splits",
    "intra_row_splits",
    "fixed_max_task_size",
    "fixed_size_tasks",
    "preprocessed_fixed_size_tasks",
)


def block_matrix(blocks_a_row, R, C, columns, rng):
    """BSR with these numbers of blocks in its block rows."""
    indptr = np.concatenate([[0], np.cumsum(blocks_a_row)])
    indices = np.concatenate([np.sort(rng.choice(columns, b, replace=False)) for b in blocks_a_row] or [[]])
    data = rng.standard_normal((indptr[-1], R, C))
    return sp.bsr_array((data, indices.astype(int), indptr), shape=(len(blocks_a_row) * R, columns * C))


SHAPES = {
    "even": [6] * 40,
    "empty rows": [0, 3, 0, 0, 5, 1, 0],
    "one row holds nearly all": [1, 0, 200, 1, 1],
    "fewer rows than threads": [9, 4],
    "one row": [300],
    "nothing": [0, 0, 0],
    "few blocks": [1, 0, 1],
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_strategies(strategy, shape, threads):
    rng = np.random.default_rng(1)
    matrix = block_matrix(SHAPES[shape], 2, 3, 300, rng)
    A = sf.asarray(matrix, format="bsr", blocksize=(2, 3))
    x, y = rng.standard_normal(matrix.shape[1]), rng.standard_normal(matrix.shape[0])
    with sf.config(kernel=strategy, threads=threads):
        got = A @ x
        np.testing.assert_allclose(got, matrix @ x, rtol=1e-12, atol=1e-12)
        for _ in range(3):
            assert np.array_equal(A @ x, got)
        np.testing.assert_allclose(sf.spmv(A, x, y.copy(), 2, -0.5), 2 * (matrix @ x) - 0.5 * y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_transposed_product_is_refused(strategy):
    A = sf.asarray(np.eye(4), format="bsr", blocksize=(2, 2))
    with sf.config(kernel=strategy), pytest.raises(LookupError, match="transposed"):
        sf.spmv(A, np.ones(4), trans="T")


def test_the_default_is_not_one_of_them():
    A = sf.asarray(np.eye(4), format="bsr", blocksize=(2, 2))
    assert dispatch.explain("spmv", A).kernel.name == "numba"


def test_chunk_table_of_the_paper():
    from spformats_plugins.numba.bsr_paper import CHUNKS_PER_THREAD, chunk_table

    assert CHUNKS_PER_THREAD == 8
    ptr = np.array([0, 2, 3, 8])
    index, row = chunk_table(ptr, 4, 1)
    assert index.tolist() == [4 * i for i in range(9)]
    assert row.tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 2]
