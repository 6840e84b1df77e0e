"""The Numba kernels through the conformance suite, and what the suite cannot see."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats import dispatch
from spformats.testing import check_kernel
from spformats_plugins.numba import csr_kernels, diagonal

LAYOUTS = [
    ("csr", {}),
    ("ell", {}),
    ("jad", {}),
    ("pjad", {}),
    ("pjad", {"bsize": 2}),
    ("pjad", {"bsize": 3, "sigma": 9}),
    ("pjad", {"bsize": 32, "sigma": 64}),
    ("bsr", {"blocksize": (2, 3)}),
    ("bsr", {"blocksize": (5, 4)}),
    ("bsr", {"blocksize": (9, 10)}),
    ("cds", {}),
    ("cds", {"symmetric": True}),
    ("hm", {}),
    ("cdm", {}),
]
#: Each number of columns compiles a kernel for each of these.
SPMM_PAIRS = [("float32", "float32"), ("float64", "float64"), ("complex128", "complex64")]
IDS = [f"{f}{''.join(f'-{k}{v}' for k, v in kw.items())}" for f, kw in LAYOUTS]


@pytest.mark.slow
@pytest.mark.parametrize(("format", "layout"), LAYOUTS, ids=IDS)
@pytest.mark.parametrize("operation", ["spmv", "spmm"])
def test_conformance(operation, format, layout):
    pairs = {} if operation == "spmv" else {"pairs": SPMM_PAIRS}
    assert check_kernel(operation, format, "numpy", "numba", **pairs, **layout) > 1000


def large(format, **layout):
    """A matrix large enough for several ranges, its dense-free reference and a layout of it."""
    rng = np.random.default_rng(3)
    n = 30_000
    offsets = [-9000, -301, -300, -1, 0, 1, 2, 299, 8999]
    matrix = sp.diags_array([rng.standard_normal(n - abs(o)) for o in offsets], offsets=offsets, shape=(n, n)).tocsr()
    return matrix, sf.asarray(matrix, format=format, **layout)


@pytest.mark.parametrize(("format", "layout"), LAYOUTS, ids=IDS)
@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_many_ranges(format, layout, trans, threads):
    if layout.get("symmetric"):
        pytest.skip("this matrix is not symmetric")
    if format == "bsr":
        layout = {**layout, "pad": True, "force": True}
    matrix, A = large(format, **layout)
    op = matrix if trans == "N" else matrix.T
    rng = np.random.default_rng(4)
    x, X = rng.standard_normal(op.shape[1]), rng.standard_normal((op.shape[1], 5))
    with sf.config(threads=threads):
        y, Y = sf.spmv(A, x, trans=trans), dispatch.run("spmm", A, X, trans=trans)
        np.testing.assert_allclose(y, op @ x, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(Y, op @ X, rtol=1e-12, atol=1e-12)
        for _ in range(3):  # bit for bit
            assert np.array_equal(sf.spmv(A, x, trans=trans), y)
            assert np.array_equal(dispatch.run("spmm", A, X, trans=trans), Y)


def test_integer_sums_of_a_transposed_product_are_exact():
    n = 200_000
    rows = np.concatenate([np.arange(n), np.arange(1, n)])
    columns = np.concatenate([np.zeros(n, int), np.arange(1, n)])
    A = sf.asarray(sp.csr_array((np.ones(2 * n - 1), (rows, columns)), shape=(n, n)), format="csr")
    want = np.ones(n)
    want[0] = n
    for threads in (1, 2, 5):
        with sf.config(threads=threads):
            for _ in range(10):
                assert np.array_equal(sf.spmv(A, np.ones(n), trans="T"), want)


def test_one_row_holds_nearly_everything():
    n = 100_000
    rng = np.random.default_rng(0)
    matrix = sp.lil_array((4, n))
    matrix[2] = rng.standard_normal(n)
    matrix[0, 5] = 2.0
    matrix = matrix.tocsr()
    x = rng.standard_normal(n)
    blocks = {"blocksize": (4, 5), "force": True}
    for format, layout in (("csr", {}), ("jad", {}), ("pjad", {"force": True}), ("bsr", blocks)):
        A = sf.asarray(matrix, format=format, **layout)
        np.testing.assert_allclose(A @ x, matrix @ x, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(A.T @ np.ones(4), matrix.T @ np.ones(4))


@pytest.mark.parametrize("constant", [3.0, np.inf, np.nan, 0.0])
def test_constant_diagonals_keep_their_meaning(constant):
    n = 500
    matrix = sp.diags_array([np.full(n, constant), np.arange(1.0, n)], offsets=[0, 1], shape=(n, n))
    x = np.arange(n) - 7.0
    x[3] = np.inf
    A = sf.asarray(matrix.tocsr(), format="cds")
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(A @ x, matrix.tocsr() @ x)
        np.testing.assert_array_equal(A.T @ x, matrix.tocsr().T @ x)


def test_output_that_shares_memory_with_the_input():
    A = sf.asarray(sp.csr_array(np.arange(16.0).reshape(4, 4)), format="csr")
    v = np.ones(4)
    sf.spmv(A, v, v)
    assert v.tolist() == [6.0, 22.0, 38.0, 54.0]


def test_each_type_compiles_once():
    from spformats_plugins.numba.csr_kernels import spmv

    A = sf.asarray(sp.csr_array(np.eye(6)), format="csr")
    x = np.ones(6)
    A @ x
    before = len(spmv(0, 0).signatures)
    frozen = x.copy()
    frozen.flags.writeable = False
    for operand in (frozen, np.ones(12)[::2], np.ones((6, 2))[:, 1], np.ones(6)[::-1]):
        A @ operand
    assert len(spmv(0, 0).signatures) == before > 0


PADDED = [("ell", {}), ("pjad", {"bsize": 8, "sigma": 16}), ("pjad", {"bsize": 4})]


@pytest.mark.parametrize(("format", "layout"), PADDED)
def test_padding_that_holds_rubbish_is_never_used(format, layout):
    rng = np.random.default_rng(2)
    matrix = sp.random_array((64, 40), density=0.2, rng=rng).tocsr()
    A = sf.asarray(matrix, format=format, force=True, **layout)
    parts = {name: np.array(getattr(A, name), order="K") for name in A.components}
    slot = np.zeros(A.data.shape, bool)  # which slots hold entries
    marked = sf.asarray(matrix.astype(bool).astype(float), format=format, force=True, **layout)
    slot[np.asarray(marked.data) != 0] = True
    parts["data"][~slot], parts["indices"][~slot] = np.nan, 2_000_000_000
    dirty = type(A)._build(parts, A.shape, **{name: getattr(A, name) for name in A.parameters})
    x, X = rng.standard_normal(40), rng.standard_normal((40, 9))
    np.testing.assert_allclose(dirty @ x, matrix @ x)
    np.testing.assert_allclose(dirty @ X, matrix @ X)
    np.testing.assert_allclose(dirty.T @ np.ones(64), matrix.T @ np.ones(64))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("mean", "widest"), [(2, 0), (6, 4), (20, 8)])
@pytest.mark.parametrize("halves", [False, True])
def test_csr_vectors_are_half_as_wide_where_the_cpu_works_by_halves(monkeypatch, halves, mean, widest, dtype):
    monkeypatch.setattr(csr_kernels, "works_by_halves", lambda: halves)
    rng = np.random.default_rng(1)
    S = sp.random_array((200, 150), density=mean / 150, rng=rng, dtype=np.float64).astype(dtype).tocsr()
    size = np.dtype(dtype).itemsize
    assert csr_kernels.width_for(200, 200 * mean, size) == (4 if halves and widest * size > 32 else widest)
    x = rng.standard_normal(150).astype(dtype)
    bound = 30 * np.finfo(dtype).eps * (abs(S) @ abs(x))
    assert (abs(sf.asarray(S, format="csr") @ x - S.astype(np.float64) @ x.astype(np.float64)) <= bound).all()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_diagonals_give_the_same_bits_in_blocks_of_any_length(monkeypatch, dtype):
    matrix, _ = large("cds")
    x = np.random.default_rng(5).standard_normal(matrix.shape[1]).astype(dtype)
    results = []
    for block in (1, 1 << 14, 1 << 19):  # the least, some, more than there are rows
        monkeypatch.setattr(diagonal, "run_bytes", lambda block=block: block)
        results.append(sf.asarray(matrix.astype(dtype), format="cds") @ x)
    assert np.allclose(results[0], matrix @ x)
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()
