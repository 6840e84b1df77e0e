"""spformats as a namespace of the array API standard: what array-api-compat and generic code ask of it."""

import inspect
import subprocess
import sys

import array_api_compat
import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, build, example

import spformats as sf
from spformats.array_api import NAMES, linalg

LINALG = [name for name in linalg.__all__]


def test_every_name_is_there_and_documented():
    for name in NAMES:
        value = getattr(sf, name)
        if inspect.isfunction(value):
            assert value.__doc__ and value.__name__ == name
    for name in LINALG:
        assert getattr(sf.linalg, name).__doc__
    assert set(NAMES) <= set(dir(sf))
    with pytest.raises(AttributeError, match="no_such_name"):
        sf.no_such_name  # noqa: B018


def test_signatures_are_exact():
    expected = {
        "sum": "(x, /, *, axis=None, dtype=None, keepdims=False)",
        "sin": "(x, /)",
        "add": "(x1, x2, /)",
        "reshape": "(x, /, shape, *, copy=None)",
        "concat": "(arrays, /, *, axis=0)",
        "var": "(x, /, *, axis=None, correction=0.0, keepdims=False)",
        "where": "(condition, x1, x2, /)",
        "clip": "(x, /, min=None, max=None)",
        "astype": "(x, dtype, /, *, copy=True, device=None)",
        "tensordot": "(x1, x2, /, *, axes=2)",
    }
    for name, text in expected.items():
        signature = inspect.signature(getattr(sf, name))
        bare = signature.replace(
            parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
            return_annotation=signature.empty,
        )
        assert str(bare) == text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_array_api_compat_takes_every_format(layout):
    A = build(example(6), layout)
    assert A.__array_namespace__() is sf and A.__array_namespace__(api_version="2024.12") is sf
    assert array_api_compat.array_namespace(A, A) is sf
    assert array_api_compat.is_array_api_obj(A)
    assert array_api_compat.device(A) == "cpu" and array_api_compat.size(A) == 36
    assert array_api_compat.to_device(A, "cpu").format == A.format
    with pytest.raises(ValueError, match=r"2019\.01"):
        A.__array_namespace__(api_version="2019.01")
    with pytest.raises(BufferError, match="not one strided block"):
        A.__dlpack__()


def test_inspection():
    info = sf.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": False, "data-dependent shapes": True, "max dimensions": 2}
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] == sf.float64
    assert list(info.dtypes(kind="complex floating")) == ["complex64", "complex128"]
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert len(info.dtypes()) == 13
    with pytest.raises(ValueError, match="'strings'"):
        info.dtypes(kind="strings")


def test_the_import_stays_light():
    code = (
        "import sys, spformats; bad = [m for m in ('numba', 'cupy', 'pylops', 'torch',"
        " 'spformats.array_api.statistical')"
        " if m in sys.modules]; assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_asarray_by_number_of_dimensions():
    assert isinstance(sf.asarray(3.0), np.ndarray) and sf.asarray(3.0).shape == ()
    assert isinstance(sf.asarray([1, 2, 3]), np.ndarray) and sf.asarray([1, 2]).dtype == np.int64
    assert sf.asarray(np.arange(3), dtype=sf.float32).dtype == np.float32
    A = sf.asarray([[1, 0], [0, 2]])
    assert A.format == "csr" and A.dtype == np.int64
    assert sf.asarray(A) is A and sf.asarray(sf.gallery.laplace1d(3)).format == "cds"
    with pytest.raises(ValueError, match="two dimensions"):
        sf.asarray(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="copy"):
        sf.asarray(np.eye(2), copy=False)


def test_integers_in_asarray():
    dense = np.array([[1, 0], [2**53 + 1, 3]])
    assert sf.asarray(dense).dtype == np.int64
    assert sf.asarray(dense, format="ell").dtype == np.float64
    assert sf.asarray(sp.csr_array(dense)).dtype == np.float64
    assert sf.asarray(sp.csr_array(dense.astype(np.int8)), format="cds").dtype == np.float32
    for source in (dense, sp.csr_array(dense), sp.bsr_array(dense, blocksize=(2, 2)), sp.coo_array(dense).todia()):
        exact = sf.asarray(source, dtype=np.int64)
        assert exact.dtype == np.int64 and exact[1, 0] == 2**53 + 1
    assert sf.asarray(dense, dtype=bool).dtype == np.bool_ and sf.asarray(dense, dtype=sf.float32).dtype == np.float32


def test_creation():
    Z = sf.zeros((2, 3), dtype=sf.int32)
    assert Z.format == "csr" and Z.nnz == 0 and Z.dtype == np.int32 and sf.zeros(3).shape == (3,)
    assert sf.full((2, 2), 0).nnz == 0 and sf.empty((0, 4)).shape == (0, 4) and sf.full((2,), 7).tolist() == [7, 7]
    with pytest.raises(sf.DensifyError, match="48 bytes"):
        sf.ones((2, 3))
    with sf.config(densify=True):
        np.testing.assert_array_equal(sf.ones((2, 3)), np.ones((2, 3)))
        np.testing.assert_array_equal(sf.full_like(Z, 5), np.full((2, 3), 5, dtype=np.int32))
    with pytest.raises(ValueError, match="exactly two dimensions"):
        sf.zeros((2, 2, 2))
    L = sf.gallery.laplace1d(4)
    like = sf.zeros_like(L)
    assert like.format == "cds" and like.shape == (4, 4) and not like.todense().any()
    assert sf.eye(3, dtype=sf.int32).dtype == np.int32 and sf.eye(2, 3, k=1)[0, 1] == 1
    assert sf.arange(4).tolist() == [0, 1, 2, 3] and sf.linspace(0, 1, 3).tolist() == [0, 0.5, 1]
    assert sf.from_dlpack(np.eye(2)).format == "csr" and sf.from_dlpack(np.ones(2)).shape == (2,)
    assert sf.tril(np.ones((3, 3))).nnz == 6
    assert [g.shape for g in sf.meshgrid(sf.arange(2), sf.arange(3))] == [(3, 2), (3, 2)]


def test_data_types():
    A = sf.asarray(example(4), format="ell")
    assert sf.astype(A, sf.float32).dtype == np.float32 and sf.astype(A, sf.float32).format == "ell"
    assert sf.astype(A, sf.float64, copy=False) is A
    assert sf.astype(sf.asarray([[1j, 0]]), sf.bool).nnz == 1 and sf.astype(sf.asarray([[1j, 0]]), sf.bool)[0, 0]
    assert sf.can_cast(A, sf.complex128) and not sf.can_cast(sf.float64, sf.float32)
    assert sf.result_type(A, sf.float32, 1) == np.float64 and sf.result_type(sf.int8, sf.uint8) == np.int16
    assert sf.finfo(A).eps == np.finfo(np.float64).eps and isinstance(sf.finfo(sf.complex64).eps, float)
    assert sf.iinfo(sf.int8).max == 127 and sf.isdtype(A.dtype, "real floating") and not sf.isdtype(A.dtype, "integral")


def test_operators():
    A = sf.asarray([[4, 0], [3, 7]])
    D = A.todense()
    for result, expected in [
        (A // 2, D // 2),
        (A % 4, D % 4),
        (A & 1, D & 1),
        (A | A.T, D | D.T),
        (A ^ A.T, D ^ D.T),
        (A << 1, D << 1),
        (A >> 1, D >> 1),
        (A**2, D**2),
        (A > 3, D > 3),
        (A != 0, D != 0),
        (A < 0, D < 0),
        (3 & A, 3 & D),
        (A * 3, D * 3),
        (A - A.T, D - D.T),
        (A / 2, D / 2),
        (-A, -D),
        (abs(A), abs(D)),
    ]:
        np.testing.assert_array_equal(result.todense(), expected)
    with sf.config(densify=True):
        for result, expected in [
            (A == 0, D == 0),
            (A <= 3, D <= 3),
            (A >= A.T, D >= D.T),
            (~A, ~D),
            (2**A, 2**D),
            (A + 1, D + 1),
            (1 - A, 1 - D),
        ]:
            np.testing.assert_array_equal(result, expected)
    with pytest.raises(sf.DensifyError):
        A == A  # noqa: B015
    assert (A == "text") is False and (A == None) is False  # noqa: E711 (that it answers, and does not compare elements)
    assert A in [A] and len({A: 1}) == 1


def test_one_by_one_arrays_are_numbers():
    A = sf.asarray([[5]])
    assert int(A) == 5 and float(A) == 5.0 and complex(A) == 5 and bool(A) and [0] * 6 == [0] * (A.__index__() + 1)
    assert not sf.zeros((1, 1))
    big = sf.gallery.laplace1d(3)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(big)
    for convert in (int, float, complex):
        with pytest.raises(TypeError, match=r"shape \(1, 1\)"):
            convert(big)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "bool"])
def test_products_of_integers_are_exact(layout, dtype):
    S = sp.csr_array(np.abs(example(6).toarray() * 4).astype(dtype))
    A, D = build(S, layout, dtype=np.dtype(dtype)), S.toarray()
    x = np.arange(6).astype(dtype)
    for result, expected in [
        (A @ x, D @ x),
        (x @ A, x @ D),
        (A.T @ x, D.T @ x),
        (A @ np.stack([x, x], 1), D @ np.stack([x, x], 1)),
        ((A @ A).todense(), D @ D),
    ]:
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)
    for other in ("float32", "float64", "complex64"):
        y = x.astype(other)
        got, expected = A @ y, D @ y
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_large_integers_survive_a_product():
    A = sf.asarray(np.array([[2**53 + 1, 0], [0, 1]]))
    assert (A @ np.array([1, 1])).tolist() == [2**53 + 1, 1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_linear_algebra(layout):
    S = example(6) + 8 * sp.eye_array(6)
    A, D = build(S, layout), S.toarray()
    np.testing.assert_allclose(sf.matmul(A, A).todense(), D @ D)
    np.testing.assert_allclose(sf.matmul(A, np.arange(6.0)), D @ np.arange(6.0))
    np.testing.assert_array_equal(sf.matrix_transpose(A).todense(), D.T)
    for axes in (1, 2, ([0], [0]), ([1], [1]), ([0, 1], [1, 0])):
        got = sf.tensordot(A, A, axes=axes)
        np.testing.assert_allclose(got.todense() if hasattr(got, "todense") else got, np.tensordot(D, D, axes))
    np.testing.assert_allclose(sf.tensordot(A, np.arange(6.0), axes=1), D @ np.arange(6.0))
    with pytest.raises(ValueError, match="4 dimensions"):
        sf.tensordot(A, A, axes=0)
    np.testing.assert_allclose(sf.vecdot(A, A), np.vecdot(D, D))
    np.testing.assert_allclose(sf.vecdot(A, np.arange(6.0)), np.vecdot(D, np.arange(6.0)))
    complex_ = sf.astype(A, sf.complex128) * (1 + 2j)
    np.testing.assert_allclose(sf.vecdot(complex_, A), np.vecdot(D * (1 + 2j), D))
    for order in ("fro", 1, -1, np.inf, -np.inf):
        np.testing.assert_allclose(sf.linalg.matrix_norm(A, ord=order), np.linalg.matrix_norm(D, ord=order))
    for order in (0, 1, 2, 3.5, np.inf):
        for axis in (None, 0, 1):
            got, expected = (
                f(x, ord=order, axis=axis) for f, x in ((sf.linalg.vector_norm, A), (np.linalg.vector_norm, D))
            )
            np.testing.assert_allclose(got, expected)
    np.testing.assert_allclose(sf.linalg.trace(A, offset=1), np.trace(D, 1))
    np.testing.assert_array_equal(sf.linalg.diagonal(A, offset=-1), np.diagonal(D, -1))
    np.testing.assert_allclose(sf.linalg.matrix_power(A, 5).todense(), np.linalg.matrix_power(D, 5), rtol=1e-12)
    np.testing.assert_array_equal(sf.linalg.matrix_power(A, 0).todense(), np.eye(6))
    np.testing.assert_allclose(sf.linalg.solve(A, np.arange(6.0)), np.linalg.solve(D, np.arange(6.0)))
    np.testing.assert_allclose(
        sf.linalg.outer(np.array([1.0, 0]), np.arange(3.0)).todense(), np.outer([1, 0], np.arange(3))
    )
    for name in ("det", "inv", "svdvals", "pinv", "qr"):
        with pytest.raises(sf.DensifyError, match="288 bytes"):
            getattr(sf.linalg, name)(A)
    with sf.config(densify=True):
        np.testing.assert_allclose(sf.linalg.det(A), np.linalg.det(D))
        np.testing.assert_allclose(sf.linalg.matrix_norm(A, ord=2), np.linalg.matrix_norm(D, ord=2))
