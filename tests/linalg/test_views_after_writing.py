"""Products of transposes after the values they share have been written in place."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf

X = np.arange(1.0, 7.0)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("format", ["cds", "hm", "cdm"])
def test_transposes_taken_before_the_values_changed(format, dtype):
    phase = 1 + 2j if dtype is np.complex128 else 1
    A, B = (
        sf.asarray(
            sp.diags_array([a * phase * np.ones(6), b * np.ones(5)], offsets=[0, 1]).astype(dtype), format=format
        )
        for a, b in ((1, 2), (3, 1))
    )
    plan = sf.linalg.matmul_plan(A, B)
    C = plan(A, B)
    V, W, y = C.T, C.T.T, np.empty(6, dtype)
    x = X.astype(dtype)
    for factor in (1, 3, -2):
        scaled = A * factor
        plan(scaled, B, out=C)
        dense = scaled.to_scipy_sparse().toarray() @ B.to_scipy_sparse().toarray()
        for op, M in ((dense, C), (dense.T, V), (dense, W)):
            np.testing.assert_allclose(M @ x, op @ x, rtol=1e-12)
            for _ in range(2):
                np.testing.assert_allclose(sf.spmv(M, x, y), op @ x, rtol=1e-12)
                np.testing.assert_allclose(sf.spmv(M, x, y, trans="T"), op.T @ x, rtol=1e-12)
                np.testing.assert_allclose(sf.spmv(M, x, y, trans="C"), op.conj().T @ x, rtol=1e-12)


@pytest.mark.parametrize("format", ["cds", "hm", "cdm"])
def test_a_transpose_is_not_written(format):
    A = sf.asarray(sp.diags_array([np.ones(6), np.ones(5)], offsets=[0, 1]), format=format)
    plan = sf.linalg.matmul_plan(A.T.copy(), A.T.copy())
    C = sf.linalg.matmul_plan(A, A)(A, A)
    with pytest.raises(ValueError, match="transposed view"):
        plan(A.T.copy(), A.T.copy(), out=C.T)
