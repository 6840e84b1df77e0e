"""Faults reported against other libraries: what is multiplied (B12, B23, B25, B26, B31)."""

import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from layouts import LAYOUTS, TRANSPOSED, build, example, holds

import spformats as sf

EVERY = [*LAYOUTS, *TRANSPOSED]
FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]


@pytest.fixture(params=EVERY)
def layout(request):
    return request.param


# ---------------------------------------------------------------------- B12: transpose and adjoint
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128, np.float32, np.float64])
def test_B12_T_never_conjugates_and_H_always_does(layout, dtype):
    S = example(dtype=dtype)
    A, Z = build(S, layout), S.toarray()
    rng = np.random.default_rng(0)
    x, y = (
        v.astype(np.result_type(dtype, np.complex64))
        for v in rng.standard_normal((2, 16)) + 1j * rng.standard_normal((2, 16))
    )
    close = {"rtol": 200 * np.finfo(dtype).eps, "atol": 200 * np.finfo(dtype).eps}
    for got, expected in (
        (A @ x, Z @ x), (A.T @ y, Z.T @ y), (A.H @ y, Z.conj().T @ y), (A.conj() @ x, Z.conj() @ x),
        (A.conj().T @ y, Z.conj().T @ y), (A.T.conj() @ y, Z.conj().T @ y), (A.H.T @ x, Z.conj() @ x),
        (A.H.H @ x, Z @ x),
        (A.H.conj() @ y, Z.T @ y), (x @ A, x @ Z), (y @ A.H, y @ Z.conj().T), (y @ A.conj(), y @ Z.conj()),
        (A.rmatvec(y), Z.conj().T @ y), ((2j * A).H @ y, (2j * Z).conj().T @ y), ((A * 2j).T @ y, (2j * Z).T @ y),
        (sf.spmv(A, x, trans="N"), Z @ x), (sf.spmv(A, y, trans="T"), Z.T @ y),
        (sf.spmv(A, y, trans="C"), Z.conj().T @ y),
        (sf.spmv(A.H, x, trans="C"), Z @ x), (sf.spmv(A.T, x, trans="C"), Z.conj() @ x),
        (sf.spmv(A.T, x, trans="T"), Z @ x),
    ):  # fmt: skip
        np.testing.assert_allclose(got, expected, **close)
    L = sla.aslinearoperator(A)
    np.testing.assert_allclose((2j * L).H @ y, (2j * Z).conj().T @ y, **close)
    np.testing.assert_allclose(np.vdot(y, A @ x), np.vdot(L.H @ y, x), rtol=1e4 * np.finfo(dtype).eps)
    for name, expected in (("T", Z.T), ("H", Z.conj().T)):
        np.testing.assert_array_equal(getattr(A, name).todense(), expected)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(getattr(A, name))).todense(), expected)


def test_B12_pylops_matrixmult(layout):
    pylops = pytest.importorskip("pylops")
    S = example(dtype=np.complex128)
    Op = pylops.MatrixMult(build(S, layout), dtype="complex128")
    y = np.arange(16) - 2j
    np.testing.assert_allclose(Op.H @ y, S.toarray().conj().T @ y)
    np.testing.assert_allclose((2j * Op).H @ y, (2j * S.toarray()).conj().T @ y)
    pylops.utils.dottest(Op, 16, 16, complexflag=3)


# ---------------------------------------------------------------------- B23: vectors, columns, matrices
@pytest.mark.parametrize("rows", ["16", "16x1", "16x3", "16x0"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_B23_the_shape_follows_the_operand(layout, rows, order):
    S = example()
    A, D = build(S, layout), S.toarray()
    shape = tuple(map(int, rows.split("x")))
    x = np.asarray(np.random.default_rng(0).standard_normal(shape), order=order)
    for got, expected in (
        (A @ x, D @ x),
        (A.T @ x, D.T @ x),
        (A.dot(x), D @ x),
        (x.T @ A, x.T @ D),
        (A.matmat(x) if x.ndim > 1 else A.matvec(x), D @ x),
    ):
        assert got.shape == expected.shape and type(got) is np.ndarray
        np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("layout", [name for name in EVERY if holds(name, (12, 8))])
def test_B23_rectangular(layout):
    S = example(12, 8)
    A, D = build(S, layout), S.toarray()
    for x in (np.ones(8), np.ones((8, 1)), np.ones((8, 5))):
        assert (A @ x).shape == (D @ x).shape
    for y in (np.ones(12), np.ones((12, 1)), np.ones((12, 5))):
        assert (A.T @ y).shape == (D.T @ y).shape and (y.T @ A).shape == (y.T @ D).shape


def test_B23_solvers_that_mix_shapes(layout):
    n = 16
    S = sp.csr_array(sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]))
    A = build(S, layout)
    largest = 2 + 2 * np.cos(np.pi / (n + 1))
    np.testing.assert_allclose(sla.svds(A, k=1, return_singular_vectors=False), largest)
    X = np.random.default_rng(0).standard_normal((n, 2))
    np.testing.assert_allclose(sla.lobpcg(A, X, maxiter=200, tol=1e-8)[0].max(), largest)
    for shape in ((n,), (n, 1)):
        for scale in (1.0, 0.0):
            x, info = sf.linalg.cg(A, scale * np.ones(shape))
            assert x.shape == shape and info == 0


# ---------------------------------------------------------------------- B25: no dense array by accident
def test_B25_never_an_object_array(layout):
    A = build(example(), layout)
    for make in (
        np.asarray,
        np.array,
        np.atleast_2d,
        np.ascontiguousarray,
        lambda v: np.save(io.BytesIO(), v, allow_pickle=False),
    ):
        with pytest.raises(TypeError, match="todense"):
            make(A)
    for make in (lambda v: np.dot(np.ones(16), v), np.sin, lambda v: np.matmul(np.eye(16), v), list, len):
        with pytest.raises(TypeError):
            make(A)


# ---------------------------------------------------------------------- B26: bounds
@pytest.mark.parametrize("shape", [(15,), (17,), (15, 2), (17, 1), (1, 16), (16, 16, 2), (0,), (1,)])
def test_B26_operands_of_the_wrong_shape(layout, shape):
    A = build(example(), layout)
    x = np.ones(shape)
    for product in (
        lambda: A @ x,
        lambda: A.T @ x,
        lambda: A.H @ x,
        lambda: sf.spmv(A, x),
        lambda: sf.spmv(A, x, trans="T"),
    ):
        with pytest.raises(ValueError) as error:
            product()
        assert "16" in str(error.value) and str(shape) in str(error.value)
    with pytest.raises(ValueError):
        np.ones(shape[::-1]) @ A
    with pytest.raises(ValueError):
        sf.linalg.cg(A, x)


def test_B26_scalars_and_objects_are_refused(layout):
    A = build(example(), layout)
    for x in (np.float64(1), 2.0, np.array(3.0)):
        with pytest.raises(ValueError, match="scalar"):
            A @ x
    for x in (np.array([None] * 16), ["a"] * 16, np.array(["1"] * 16)):
        with pytest.raises((TypeError, ValueError)):
            A @ x
    for x in (None, object(), {}, "abc"):
        with pytest.raises((TypeError, ValueError)):
            A @ x
        with pytest.raises((TypeError, ValueError)):
            x @ A
    with pytest.raises(ValueError):
        sf.spmv(A, np.ones(16), np.ones(15))
    with pytest.raises(ValueError, match="read-only"):
        sf.spmv(A, np.ones(16), np.broadcast_to(0.0, (16,)))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("bad", [99, -1, 6])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_B26_indices_outside_the_shape(format, bad, kind):
    S = sp.eye_array(6).asformat(kind)
    if kind == "coo":
        S.coords[1].flags.writeable = True
        S.coords[1][0] = bad
    else:
        S.indices[0] = bad
    with pytest.raises(ValueError, match=f"{bad}"):
        sf.asarray(S, format=format)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_B26_broken_pointers(kind):
    for broken in ([0, 4, 3, 5, 5, 5, 6], [1, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 99]):
        S = sp.bsr_array(sp.eye_array(6), blocksize=(1, 1)) if kind == "bsr" else sp.eye_array(6).asformat(kind)
        S.indptr[:] = broken
        with pytest.raises(ValueError, match="indptr"):
            sf.asarray(S)


# ---------------------------------------------------------------------- B31: strides
def arrangements(values):
    """The same numbers in memory in every way NumPy allows."""
    n = values.shape[0]
    yield "plain", values.copy()
    yield "Fortran", np.array(values, order="F")
    yield "reversed", values[::-1].copy()[::-1]
    wide = np.full((2 * n, *(2 * k for k in values.shape[1:])), np.nan, values.dtype)
    view = wide[(slice(None, None, 2),) * wide.ndim]
    view[...] = values
    yield "every second", view
    raw = np.zeros(values.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(values.dtype).reshape(values.shape)
    unaligned[...] = values
    yield "unaligned", unaligned
    record = np.zeros(values.shape, dtype=[("pad", np.int8), ("value", values.dtype)])
    record["value"] = values
    yield "field of records", record["value"]
    read_only = values.copy()
    read_only.flags.writeable = False
    yield "read-only", read_only
    table = np.full((n, 3, *values.shape[1:]), np.nan, values.dtype)
    table[:, 1] = values
    yield "column of a table", table[:, 1]


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_B31_any_strides(layout, dtype):
    S = example(dtype=dtype)
    A, D = build(S, layout), S.toarray()
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.complex64 else {"atol": 1e-12}
    for shape in ((16,), (16, 1), (16, 5)):
        values = np.random.default_rng(4).standard_normal(shape).astype(dtype)
        for name, x in arrangements(values):
            for trans, E in (("N", D), ("T", D.T), ("C", D.conj().T)):
                np.testing.assert_allclose(sf.spmv(A, x, trans=trans), E @ values, err_msg=f"{name} {trans}", **close)
            np.testing.assert_allclose(x.T @ A, values.T @ D, err_msg=name, **close)
            if x.flags.writeable:
                y = x.copy()
                for target, out in arrangements(np.ones_like(values)):
                    if out.flags.writeable:
                        got = sf.spmv(A, y, out, alpha=2, beta=3)
                        assert got is out or np.shares_memory(got, out)
                        np.testing.assert_allclose(out, 2 * (D @ values) + 3, err_msg=f"{name} into {target}", **close)


def test_B31_broadcast_and_overlapping(layout):
    S = example()
    A, D = build(S, layout), S.toarray()
    np.testing.assert_allclose(A @ np.broadcast_to(2.0, (16,)), D @ np.full(16, 2.0), atol=1e-12)
    np.testing.assert_allclose(
        A @ np.broadcast_to(np.arange(16.0)[:, None], (16, 3)), D @ np.tile(np.arange(16.0)[:, None], 3), atol=1e-12
    )
    memory = np.arange(20.0)
    x, y = memory[:16], memory[4:]
    expected = D @ x + y
    np.testing.assert_allclose(sf.spmv(A, x, y, beta=1), expected, atol=1e-12)


@pytest.mark.parametrize("format", FORMATS)
def test_B31_cg_of_strided_right_sides(format):
    n = 16
    S = sp.csr_array(sp.diags_array([-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]))
    A = sf.asarray(S, format=format)
    table = np.random.default_rng(1).random((2 * n, 4))
    for b in (table[::2, 0], table[:n, 1], table[n - 1 :: -1, 2]):
        np.testing.assert_array_equal(sf.linalg.cg(A, b)[0], sf.linalg.cg(A, b.copy())[0])
