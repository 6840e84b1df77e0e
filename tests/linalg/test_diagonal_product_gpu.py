"""The diagonal product on a real GPU, against the CPU's results."""

import numpy as np
import pytest
from diagonal_cases import diagonal_matrix, random_offsets, tolerance

import spformats as sf
from spformats.linalg import diagonal_elementwise, matmul_plan, syr2k, syrk, triple_product
from spformats.linalg.diagonal_plan import diagonal_pairs
from spformats.linalg.diagonal_product import MatmulPlan
from spformats.linalg.diagonal_run import run
from spformats.linalg.diagonal_table import DiagonalTable

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _device():
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("no CUDA device")


def dense(C):
    return np.asarray(C.to_device("cpu").todense())


@pytest.mark.parametrize("kernel", [None, "tile", "atomic", "reference"])
@pytest.mark.parametrize(("left", "right"), [("cds", "cds"), ("hm", "hm"), ("cdm", "cdm"), ("hm", "cdm")])
@pytest.mark.parametrize("dtype", ["f", "d", "D"])
def test_products(dtype, left, right, kernel):
    rng = np.random.default_rng(1)
    n = 700
    A, a = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 40), dtype, left)
    B, b = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 70), dtype, right)
    X, Y = A.to_device("cuda"), B.to_device("cuda")
    with sf.config(kernel=kernel):
        for C, c in ((X @ Y, a @ b), (X.T @ Y, a.T @ b), (X @ Y.H, a @ b.conj().T)):
            assert C.dtype == c.dtype
            np.testing.assert_allclose(dense(C), c, rtol=0, atol=tolerance(dtype, 40))
        plan = matmul_plan(X, Y)
        C = plan(X, Y)
        plan(X, Y, out=C, alpha=2.0, beta=-3.0)
        np.testing.assert_allclose(dense(C), -(a @ b), rtol=0, atol=tolerance(dtype, 200))
        np.testing.assert_allclose(dense(syrk(X)), a @ a.T, rtol=0, atol=tolerance(dtype, 40))
        np.testing.assert_allclose(dense(syr2k(X, Y)), a @ b.T + b @ a.T, rtol=0, atol=tolerance(dtype, 80))
        np.testing.assert_allclose(dense(triple_product(X, Y)), a.T @ b @ a, rtol=0, atol=tolerance(dtype, 40000))


def test_elementwise():
    rng = np.random.default_rng(1)
    A, a = diagonal_matrix(rng, 300, 300, [-40, -1, 0, 3], format="hm")
    B, b = diagonal_matrix(rng, 300, 300, [-1, 0, 99], format="cdm")
    X, Y = A.to_device("cuda"), B.to_device("cuda")
    np.testing.assert_allclose(dense(X + Y), a + b)
    np.testing.assert_allclose(dense(X * Y), a * b)
    diagonal_elementwise.add(X, X, 1.0, 1.0, out=X)
    np.testing.assert_allclose(dense(X), 2 * a)


def test_more_than_two_to_the_31_values():
    """33 diagonals of 2^26 rows in float32: 8.9 GB."""
    n, half = 2**26 + 3, 8
    free, _ = cupy.cuda.runtime.memGetInfo()
    if free < 20e9:
        pytest.skip("needs 20 GB of device memory")
    offsets = np.arange(-half, half + 1)
    data = cupy.ones((len(offsets), n), dtype="float32")
    for k, o in enumerate(offsets.tolist()):
        data[k, : max(0, -o)] = 0
        data[k, n - max(0, o) :] = 0
    A = sf.CDS(data, offsets, shape=(n, n))
    plan = matmul_plan(A, A)
    assert plan.size > 2**31
    C = plan(A, A)
    for k, o in enumerate(plan.offsets.tolist()):
        values = C.data[k, 100 : n - 100]
        assert float(values.min()) == float(values.max()) == 2 * half + 1 - abs(o)
    assert float(C.data[-1, n - 1]) == 0  # outside the matrix
    assert float(C.data[half * 2, 0]) == half + 1  # row 0 meets no subdiagonal


def test_impossible_size_names_the_bytes():
    n = 2**27
    table = DiagonalTable(cupy.zeros(1), np.zeros(400, dtype=np.int64), np.arange(400))
    A = sf.CDS._build({"data": table.flat, "offsets": table.offsets}, (n, n), symmetric=False)
    plan = MatmulPlan(diagonal_pairs(table.offsets, table.offsets, (n, n, n)), "cds")
    with pytest.raises(MemoryError, match=str(plan.nbytes("float64"))):
        run(A, plan.pairs, table, table, plan.layout, np.dtype("float64"), 1)
