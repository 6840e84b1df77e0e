"""Faults that trying the namespace out has found, each against the dense result of NumPy."""

import array_api_compat.numpy as xp
import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, build, holds

import spformats as sf

EVERY = [name + view for name in LAYOUTS for view in ("", ".T")]


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (3, 3), (4, 2)])
def test_extremes_of_a_full_array_do_not_read_padding(layout, shape):
    if not holds(layout, shape):
        pytest.skip("the layout cannot hold this shape")
    A = build(sp.coo_array(np.full(shape, 2.0)), layout)
    assert sf.min(A) == 2
    assert sf.max(-A) == -2


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("shape", [(5, 5), (5, 3)])
@pytest.mark.parametrize("factor", [np.inf, np.nan])
def test_an_infinite_factor_leaves_padding_alone(layout, shape, factor):
    if not holds(layout, shape):
        pytest.skip("the layout cannot hold this shape")
    D = np.zeros(shape)
    D[0], D[3, 1], D[-1, -1] = 1, 2, 3
    A = build(sp.coo_array(D), layout)
    with np.errstate(invalid="ignore"):
        C = sf.multiply(A, factor)
        assert C.format == A.format
        np.testing.assert_array_equal(C.todense()[D != 0], (D * factor)[D != 0])
        np.testing.assert_array_equal(C @ np.ones(shape[1]), C.todense() @ np.ones(shape[1]))
        np.testing.assert_array_equal(sf.sum(C), C.todense().sum())


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
def test_spread_of_single_elements(name, dtype):
    D = np.array([[1, 0, 3], [0, 5, 0]], dtype=dtype)
    A = sf.asarray(D, format="ell", dtype=D.dtype)
    result = getattr(sf, name)(A, axis=(), correction=0.5)
    expected = getattr(xp, name)(D, axis=(), correction=0.5)
    assert result.format == "ell" and result.dtype == expected.dtype
    np.testing.assert_array_equal(result.todense(), expected)
    with pytest.raises(sf.DensifyError, match="bytes"):
        getattr(sf, name)(A, axis=(), correction=1)
    with sf.config(densify=True):
        assert np.isnan(getattr(sf, name)(A, axis=(), correction=1)).all()


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if holds(name, (4, 4))])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8"])
def test_floating_functions_of_small_integers_give_float32(layout, dtype):
    D = np.eye(4, dtype=dtype)
    A = build(sp.coo_array(D), layout, dtype=D.dtype)
    for result, expected in ((sf.sin(A), np.sin(np.eye(4, dtype="f4"))), (sf.hypot(A, A), np.sqrt(2) * np.eye(4))):
        assert result.dtype == np.float32
        np.testing.assert_allclose(result.todense(), expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_norms_of_arrays_without_elements(shape):
    A, D = sf.zeros(shape), np.zeros(shape)
    for ord in (1, np.inf):
        assert sf.linalg.matrix_norm(A, ord=ord) == xp.linalg.matrix_norm(D, ord=ord) == 0
    assert sf.linalg.vector_norm(A, ord=np.inf) == 0
    assert sf.linalg.vector_norm(A, ord=np.inf, axis=0, keepdims=True).shape == (1, shape[1])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda A: sf.sum(A, axis=1.5), TypeError, "integer, got 1.5"),
        (lambda A: sf.max(A, axis="x"), TypeError, "integer, got 'x'"),
        (lambda A: sf.tensordot(A, A, axes=3), ValueError, "over 3 axes"),
        (lambda A: sf.linalg.matrix_power(A, 1.5), TypeError, "got 1.5"),
        (lambda A: sf.linalg.matrix_norm(A, ord=3), ValueError, "unknown order 3"),
        (lambda A: sf.finfo(sf.int8), ValueError, "got int8"),
        (lambda A: sf.iinfo(A), ValueError, "got float64"),
        (lambda A: sf.clip(A > 0, -1), TypeError, "array of bool"),
        (lambda A: sf.where(A > 0, A, None), TypeError, "got NoneType"),
    ],
)
def test_wrong_arguments_are_named(call, error, says):
    with pytest.raises(error, match=says) as caught:
        call(sf.eye(3))
    assert not isinstance(caught.value, sf.DensifyError)


@pytest.mark.parametrize("factor", [np.inf, np.nan, np.float32("inf")])
def test_operator_times_inf_keeps_padding_zero(factor):
    M = np.array([[1, 0, 2.0], [0, 0, 0], [0, 0, -3]])
    for layout in ({"format": "bsr", "blocksize": (2, 2), "pad": True}, {"format": "ell"}, {"format": "pjad"}):
        A = sf.asarray(M, **layout)
        for B in (A * factor, factor * A):
            assert type(B) is type(A)
            stored = M != 0
            np.testing.assert_array_equal(B.todense()[stored], M[stored] * factor)
            if A.format != "bsr":  # zeros inside a block are stored, and 0 * inf is NaN
                assert not B.todense()[~stored].any()


def test_operator_times_bool():
    A = sf.gallery.laplace1d(3)
    assert (A * True).dtype == A.dtype and not (A * np.False_).todense().any()


def test_adding_a_lazy_transpose_of_another_layout_does_not_build_its_parts():
    n = 20_000
    column = sp.csr_array((np.ones(n), np.zeros(n, int), np.arange(n + 1)), shape=(n, n))  # one dense column
    A = sf.asarray(column, format="pjad", bsize=4096)  # whose transpose would need 1 GB
    B = sf.asarray(sp.eye_array(n).tocsr(), format="pjad", bsize=8)
    lazy = A.T
    assert (B + lazy).nnz == (A.T + B).nnz == 2 * n - 1
    assert lazy._source is not None
