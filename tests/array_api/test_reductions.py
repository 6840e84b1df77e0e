"""Reductions, searches and sorts against the dense NumPy result, for every layout and data type."""

import array_api_compat.numpy as xp
import numpy as np
import pytest
from drawn import DTYPES, FLOATING, REAL, arrays
from hypothesis import given, settings
from hypothesis import strategies as st

import spformats as sf

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

AXES = (None, 0, 1, -1, (0, 1), ())
NUMERIC = tuple(d for d in DTYPES if d != "bool")


def close(got, expected):
    """Equal up to the rounding of sums taken in another order."""
    got, expected = np.asarray(got.todense() if hasattr(got, "todense") else got), np.asarray(expected)
    assert got.shape == expected.shape and got.dtype == expected.dtype
    eps = 1e-5 if expected.dtype.itemsize // (2 if expected.dtype.kind == "c" else 1) == 4 else 1e-12
    np.testing.assert_allclose(got, expected, rtol=50 * eps, atol=50 * eps)


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("sum", NUMERIC),
        ("prod", NUMERIC),
        ("mean", FLOATING),
        ("max", REAL),
        ("min", REAL),
        ("std", ("float32", "float64")),
        ("var", ("float32", "float64")),
        ("count_nonzero", DTYPES),
        ("any", DTYPES),
        ("all", DTYPES),
    ],
)
@pytest.mark.parametrize("axis", AXES)
@given(data=st.data(), keepdims=st.booleans())
@settings(max_examples=12, deadline=None)
def test_reductions(name, dtypes, axis, data, keepdims):
    A, D = data.draw(arrays(dtypes))
    try:
        expected = getattr(xp, name)(D, axis=axis, keepdims=keepdims)
    except ValueError:
        with pytest.raises(ValueError, match="there is none"):
            getattr(sf, name)(A, axis=axis, keepdims=keepdims)
        return
    close(getattr(sf, name)(A, axis=axis, keepdims=keepdims), expected)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_nan_and_infinity_reach_the_result_as_in_numpy(name, axis, data):
    A, D = data.draw(arrays(("float32", "float64"), finite=False))
    if not (D.size if axis is None else D.shape[axis]):
        return
    got, expected = getattr(sf, name)(A, axis=axis), getattr(xp, name)(D, axis=axis)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(expected))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@given(data=st.data(), keepdims=st.booleans())
@settings(max_examples=40, deadline=None)
def test_places_of_extremes(name, axis, data, keepdims):
    A, D = data.draw(arrays(REAL, finite=False))
    if not (D.size if axis is None else D.shape[axis]):
        with pytest.raises(ValueError, match="no entries"):
            getattr(sf, name)(A, axis=axis)
        return
    np.testing.assert_array_equal(
        getattr(sf, name)(A, axis=axis, keepdims=keepdims), getattr(xp, name)(D, axis=axis, keepdims=keepdims)
    )


@given(data=st.data(), axis=st.sampled_from([0, 1, -1]), descending=st.booleans())
@settings(max_examples=60, deadline=None)
def test_sort(data, axis, descending):
    A, D = data.draw(arrays(REAL, finite=data.draw(st.booleans())))
    if D.dtype.kind == "u" and descending:
        return  # array-api-compat negates, which has no meaning for these
    result = sf.sort(A, axis=axis, descending=descending)
    expected = np.sort(D, axis=axis)
    expected = np.flip(expected, axis=axis) if descending else expected
    np.testing.assert_array_equal(result.todense(), expected)
    assert result.nnz <= A.to_csr().nnz


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_unique_and_nonzero(data):
    A, D = data.draw(arrays(DTYPES))
    values, counts = np.unique(D, return_counts=True)
    np.testing.assert_array_equal(sf.unique_values(A), values)
    got = sf.unique_counts(A)
    np.testing.assert_array_equal(got.values, values)
    np.testing.assert_array_equal(got.counts, counts)
    for ours, theirs in zip(sf.nonzero(A), np.nonzero(D), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    with sf.config(densify=True):
        np.testing.assert_array_equal(sf.unique_inverse(A).inverse_indices, xp.unique_inverse(D).inverse_indices)
        np.testing.assert_array_equal(sf.argsort(A), xp.argsort(D, stable=True))


def test_isin_and_searchsorted():
    A = sf.asarray([[0.0, 2, 0], [3, 0, 4]])
    np.testing.assert_array_equal(
        sf.isin(A, np.array([2.0, 4])).todense(), [[False, True, False], [False, False, True]]
    )
    with pytest.raises(sf.DensifyError, match="among the elements"):
        sf.isin(A, np.array([0.0, 4]))
    with pytest.raises(sf.DensifyError):
        sf.searchsorted(np.arange(3.0), A)
    with sf.config(densify=True):
        np.testing.assert_array_equal(sf.searchsorted(np.arange(3.0), A), np.searchsorted(np.arange(3.0), A.todense()))


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_where(data):
    A, D, B, E, C, F = data.draw(arrays(("float32", "float64", "int32"), count=3))
    mask, dense_mask = sf.greater(A, 0), D > 0
    for x2, e2 in ((C, F), (0, 0)):
        result = sf.where(mask, B, x2)
        assert not isinstance(result, np.ndarray) and result.dtype == B.dtype
        np.testing.assert_array_equal(result.todense(), np.where(dense_mask, E, e2))
    np.testing.assert_array_equal(sf.where(mask, 2, C).todense(), np.where(dense_mask, 2, F))
    with pytest.raises(sf.DensifyError, match="bytes"):
        sf.where(mask, B, 1)
    with sf.config(densify=True):
        np.testing.assert_array_equal(sf.where(mask, B, 1), np.where(dense_mask, E, 1))
    np.testing.assert_array_equal(sf.where(dense_mask, B, C), np.where(dense_mask, E, F))  # the mask is dense already


@given(data=st.data(), axis=st.sampled_from([0, 1, -1]), n=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_diff(data, axis, n):
    A, D, B, E = data.draw(arrays(DTYPES, count=2))
    np.testing.assert_array_equal(sf.diff(A, axis=axis, n=n).todense(), np.diff(D, axis=axis, n=n))
    np.testing.assert_array_equal(sf.diff(A, axis=axis, prepend=B).todense(), np.diff(D, axis=axis, prepend=E))


def test_running_sums_are_dense():
    A = sf.gallery.laplace1d(4)
    with pytest.raises(sf.DensifyError, match="128 bytes"):
        sf.cumulative_sum(A, axis=0)
    with sf.config(densify=True):
        np.testing.assert_array_equal(sf.cumulative_sum(A, axis=0), np.cumsum(A.todense(), axis=0))
        np.testing.assert_array_equal(sf.cumulative_prod(A, axis=1), np.cumprod(A.todense(), axis=1))


def test_axes_that_do_not_exist():
    A = sf.gallery.laplace1d(4)
    with pytest.raises(IndexError, match="axis 2 is out of range"):
        sf.sum(A, axis=2)
    with pytest.raises(ValueError, match="named twice"):
        sf.max(A, axis=(0, -2))
