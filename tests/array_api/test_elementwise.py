"""Every elementwise function against the dense NumPy result, for every layout and data type."""

import array_api_compat.numpy as xp
import numpy as np
import pytest
from drawn import DTYPES, FLOATING, REAL, arrays
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, build, example

import spformats as sf
from spformats.array_api import elementwise_binary, elementwise_unary

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

_COMPLEX_TOO = {"abs", "conj", "imag", "isinf", "isnan", "negative", "positive", "real", "sign", "sqrt", "square"}
_ALL = {"isinf", "isnan", "negative", "positive", "abs", "square", "sign", "floor", "ceil", "round", "trunc"}
_TRANSCENDENTAL_COMPLEX = {"asin", "asinh", "atan", "atanh", "log1p", "sin", "sinh", "tan", "tanh", "expm1"}


def _dtypes(name):
    if name in ("imag", "real", "conj"):
        return FLOATING
    if name == "signbit":
        return ("float32", "float64")
    if name in ("floor", "ceil", "round", "trunc"):
        return REAL
    if name in _ALL:
        return tuple(d for d in DTYPES if d != "bool")
    return FLOATING if name in _COMPLEX_TOO | _TRANSCENDENTAL_COMPLEX else ("float32", "float64")


@pytest.mark.parametrize("name", elementwise_unary._KEEPS_ZERO)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_functions_that_keep_zero_keep_format_and_pattern(name, data):
    A, D = data.draw(arrays(_dtypes(name), finite=name in _TRANSCENDENTAL_COMPLEX or name == "signbit"))
    result, expected = getattr(sf, name)(A), getattr(xp, name)(D)
    assert type(result) is type(A) and result.shape == A.shape and result.dtype == expected.dtype
    assert result._stored == A._stored  # nnz of a bool result counts its True values
    np.testing.assert_array_equal(result.todense(), expected)
    # and the layout is one that products still understand
    if np.isfinite(expected).all() and expected.dtype.kind in "fc":
        x = np.ones(A.shape[1], dtype=expected.dtype)
        np.testing.assert_allclose(result @ x, expected @ x, rtol=1e-4, atol=1e-4 * (1 + np.abs(expected).sum()))


@pytest.mark.parametrize("name", elementwise_unary._FILLS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_functions_that_fill_say_how_much_memory_they_need(name, layout):
    dtype = np.int64 if name == "bitwise_invert" else bool if name == "logical_not" else np.float64
    A = build(example(6), layout, dtype=np.dtype(dtype))
    f, D = getattr(sf, name), A.todense()
    expected = getattr(xp, name)(D)
    with pytest.raises(sf.DensifyError, match=f"{name} .*{expected.nbytes} bytes") as refused:
        f(A)
    assert isinstance(refused.value, ValueError) and "densify=True" in str(refused.value)
    with sf.config(densify=True):
        result = f(A)
    assert isinstance(result, np.ndarray) and result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    with pytest.raises(sf.DensifyError):  # the setting ends with its block
        f(A)


_UNION = [name for name, (pattern, _) in elementwise_binary._TABLE.items() if pattern == "union"]
_INTERSECTION = [name for name, (pattern, _) in elementwise_binary._TABLE.items() if pattern == "intersection"]
_DENSE = [name for name, (pattern, _) in elementwise_binary._TABLE.items() if pattern == "dense"]


def _binary_dtypes(name):
    if name.startswith("bitwise"):
        return ("int32", "int64", "uint8") if "shift" in name else ("int32", "int64", "uint8", "bool")
    if name.startswith("logical"):
        return ("bool",)
    if name in ("atan2", "copysign", "hypot", "logaddexp", "nextafter"):
        return ("float32", "float64")
    if name in ("maximum", "minimum", "less", "greater", "less_equal", "greater_equal", "floor_divide", "remainder"):
        return REAL
    if name in ("divide", "pow"):
        return ("float32", "float64")
    if name in ("add", "subtract", "multiply"):
        return tuple(d for d in DTYPES if d != "bool")
    return DTYPES


def _shift_safe(name, *dense):
    return "shift" not in name or all((D >= 0).all() for D in dense)


@pytest.mark.parametrize("name", _UNION)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_unions_agree_with_the_dense_result(name, data):
    # atan2 and copysign tell -0.0 from 0.0, and some formats do not store a zero of either sign
    A, D, B, E = data.draw(arrays(_binary_dtypes(name), finite=name in ("atan2", "copysign"), count=2))
    if not _shift_safe(name, D, E):
        return
    result, expected = getattr(sf, name)(A, B), getattr(xp, name)(D, E)
    assert type(result) is type(A) and result.dtype == expected.dtype
    np.testing.assert_array_equal(result.todense(), expected)


@pytest.mark.parametrize("name", _INTERSECTION)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_intersections_agree_with_the_dense_result(name, data):
    A, D, B, E = data.draw(arrays(_binary_dtypes(name), finite=False, count=2))
    result, expected = getattr(sf, name)(A, B), getattr(xp, name)(D, E)
    assert type(result) is type(A) and result.dtype == expected.dtype
    got = result.todense()
    # where one operand stores nothing the result stores nothing, even where the other is infinite or NaN
    dropped = ((D == 0) | (E == 0)) & (got == 0)
    np.testing.assert_array_equal(got, np.where(dropped, np.zeros((), dtype=expected.dtype), expected))
    assert result.nnz <= max(A.nnz, B.nnz) or A.format in ("bsr", "cds", "hm", "cdm")


@pytest.mark.parametrize("name", _DENSE)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_dense_results_of_two_sparse_arrays(name, data):
    A, D, B, E = data.draw(arrays(_binary_dtypes(name), count=2))
    with pytest.raises(sf.DensifyError, match="bytes"):
        getattr(sf, name)(A, B)
    with sf.config(densify=True):
        np.testing.assert_array_equal(getattr(sf, name)(A, B), getattr(xp, name)(D, E))


@pytest.mark.parametrize(
    ("name", "scalar", "keeps"),
    [
        ("multiply", 3.0, True),
        ("divide", 2.0, True),
        ("divide", 0.0, False),
        ("add", 0.0, True),
        ("add", 1.0, False),
        ("pow", 2.0, True),
        ("pow", 0.0, False),
        ("pow", -1.0, False),
        ("greater", 0.5, True),
        ("greater", -1.0, False),
        ("less", 0.0, True),
        ("less", 1.0, False),
        ("equal", 1.0, True),
        ("equal", 0.0, False),
        ("not_equal", 0.0, True),
        ("maximum", -2.0, True),
        ("maximum", 0.5, False),
        ("minimum", 0.0, True),
        ("remainder", 2.0, True),
        ("floor_divide", 2.0, True),
        ("atan2", 1.0, True),
        ("copysign", 1.0, True),
        ("hypot", 1.0, False),
    ],
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_scalar_keeps_the_pattern_where_zero_stays_zero(name, scalar, keeps, layout):
    A = build(example(6), layout)
    D = A.todense()
    expected = getattr(xp, name)(D, scalar)
    if keeps:
        result = getattr(sf, name)(A, scalar)
        assert type(result) is type(A) and result.dtype == expected.dtype
        np.testing.assert_array_equal(result.todense(), expected)
    else:
        with pytest.raises(sf.DensifyError, match="is not 0"):
            getattr(sf, name)(A, scalar)
        with sf.config(densify=True):
            np.testing.assert_array_equal(getattr(sf, name)(A, scalar), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dense_operands(layout):
    A = build(example(6), layout)
    D = A.todense()
    full, row, column = np.arange(36.0).reshape(6, 6) + 1, np.arange(1.0, 7), np.arange(1.0, 7)[:, None]
    for other in (full, row, column):
        product = sf.multiply(A, other)
        assert product.format == A.format
        np.testing.assert_array_equal(product.todense(), D * other)
        np.testing.assert_array_equal(sf.divide(A, other).todense(), D / other)
        np.testing.assert_array_equal(sf.multiply(other, A).todense(), D * other)
    # a dense matrix of the same size is there already; a vector is not
    np.testing.assert_array_equal(A + full, D + full)
    np.testing.assert_array_equal(full - A, full - D)
    with pytest.raises(sf.DensifyError, match="288 bytes"):
        A + row
    with sf.config(densify=True):
        np.testing.assert_array_equal(A + row, D + row)
    with pytest.raises(ValueError, match="do not broadcast"):
        A * np.ones(5)


def test_broadcasting_of_sparse_rows_and_columns():
    A = sf.asarray(example(6))
    row, column = A[:1, :], A[:, 2:3]
    D = A.todense()
    np.testing.assert_array_equal((A + row).todense(), D + D[:1])
    np.testing.assert_array_equal(sf.multiply(row, column).todense(), D[:1] * D[:, 2:3])
    with pytest.raises(ValueError, match="do not broadcast"):
        sf.add(A, sf.zeros((5, 6)))


@pytest.mark.parametrize(
    ("left", "right", "out"),
    [
        ("cds", "hm", "cds"),
        ("hm", "cdm", "cds"),
        ("csr", "cds", "csr"),
        ("ell", "jad", "csr"),
        ("bsr", "csr", "csr"),
    ],
)
def test_formats_that_differ_meet_in_what_they_share(left, right, out):
    A, B = build(example(6, seed=1), left), build(example(6, seed=2), right)
    for name in ("add", "multiply", "maximum"):
        result = getattr(sf, name)(A, B)
        assert result.format == out
        np.testing.assert_array_equal(result.todense(), getattr(xp, name)(A.todense(), B.todense()))


def test_bsr_of_other_blocks_goes_through_csr_and_symmetric_halves_stay_halved():
    A, B = build(example(6), "bsr"), sf.asarray(example(6, seed=3), format="bsr", blocksize=(3, 3))
    assert sf.add(A, A).blocksize == (2, 2) and sf.add(A, sf.eye(6, format="bsr", blocksize=(2, 2))).blocksize == (2, 2)
    np.testing.assert_array_equal(sf.add(A, B).todense(), A.todense() + B.todense())
    S = sf.asarray(sf.gallery.poisson2d(4), format="cds", symmetric=True)
    assert (
        sf.add(S, sf.square(S)).symmetric
        and sf.add(S, sf.asarray(sf.eye(16, format="cds"), format="cds", symmetric=True)).symmetric
    )
    mixed = sf.subtract(S, sf.eye(16, k=3))
    assert not mixed.symmetric
    np.testing.assert_array_equal(mixed.todense(), S.todense() - np.eye(16, k=3))


def test_clip():
    A = sf.asarray(example(6), format="cds")
    D = A.todense()
    np.testing.assert_array_equal(sf.clip(A, -0.5, 0.5).todense(), np.clip(D, -0.5, 0.5))
    assert sf.clip(A, min=0).format == "cds"
    np.testing.assert_array_equal(sf.clip(A, max=sf.abs(A)).todense(), np.clip(D, None, np.abs(D)))
    with pytest.raises(sf.DensifyError, match="0 lies outside"):
        sf.clip(A, 0.5, 1.0)
    with sf.config(densify=True):
        np.testing.assert_array_equal(sf.clip(A, 0.5, 1.0), np.clip(D, 0.5, 1.0))


def test_promotion_is_the_standards():
    A = sf.asarray(example(4).astype(np.float32))
    assert (A * 2).dtype == np.float32 and (A * 2.5).dtype == np.float32 and (A * 1j).dtype == np.complex64
    assert sf.add(A, sf.eye(4)).dtype == np.float64
    i = sf.eye(4, dtype=sf.int32)
    assert (
        (i + sf.eye(4, dtype=sf.int64)).dtype == np.int64 and (i / 2).dtype == np.float64 and (i > 0).dtype == np.bool_
    )
