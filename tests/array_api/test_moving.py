"""Indexing, reshaping and joining against the dense NumPy result, for every layout."""

import numpy as np
import pytest
from drawn import DTYPES, arrays, undone
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, build, example

import spformats as sf


def indices(length):
    """Slices, integers in range and integer arrays for an axis."""
    bound = st.none() | st.integers(-length - 2, length + 2)
    step = st.none() | st.integers(-3, 3).filter(bool)
    kinds = [st.builds(slice, bound, bound, step), st.just(slice(None))]
    if length:
        kinds += [st.integers(-length, length - 1), st.lists(st.integers(-length, length - 1), max_size=5)]
    return st.one_of(kinds)


@given(data=st.data())
@settings(max_examples=250, deadline=None)
def test_getitem(data):
    A, D = data.draw(arrays(DTYPES))
    key = data.draw(indices(A.shape[0])), data.draw(indices(A.shape[1]))
    lists = [isinstance(k, list) for k in key]
    if all(lists):
        n = min(map(len, key))
        key = key[0][:n], key[1][:n]
    if any(lists):
        key = tuple(np.asarray(k, dtype=np.int64) if isinstance(k, list) else k for k in key)
    result, expected = A[key], D[key]
    np.testing.assert_array_equal(undone(result), expected)
    assert undone(result).dtype == D.dtype
    if not any(isinstance(k, int) for k in key) and not all(lists):
        assert hasattr(result, "format")  # two axes left: sparse


@pytest.mark.parametrize("layout", LAYOUTS)
def test_getitem_of_one_index(layout):
    A = build(example(6), layout)
    D = A.todense()
    for key in (2, -1, slice(1, 4), ..., (..., 2), (1, ...), np.int64(3), np.array(3), [0, 2]):
        np.testing.assert_array_equal(undone(A[key]), D[key])
    assert A[...] is A and A[:, :] is A


def test_consecutive_rows_and_columns_of_a_diagonal_format_keep_it():
    A = sf.gallery.poisson2d(4)
    assert A[3:9, 2:12].format == "cds"
    np.testing.assert_array_equal(A[3:9, 2:12].todense(), A.todense()[3:9, 2:12])
    x = np.arange(10.0)
    np.testing.assert_allclose(A[3:9, 2:12] @ x, A.todense()[3:9, 2:12] @ x)


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ((0, 0, 0), IndexError, "too many indices"),
        ((None, 0), IndexError, "newaxis"),
        (99, IndexError, "index 99 is out of range"),
        ((slice(None), -7), IndexError, "index -7"),
        ((..., ...), IndexError, "one ellipsis"),
        (1.5, IndexError, "must be an integer"),
        (np.ones((6, 6), dtype=bool), IndexError, "boolean"),
        (True, IndexError, "boolean"),
        ([0, 9], IndexError, "index 9"),
        (([0.5], 1), IndexError, "must be integers"),
    ],
)
def test_indices_that_are_refused(key, error, message):
    A = sf.asarray(example(6))
    with pytest.raises(error, match=message):
        A[key]


def test_nothing_is_written():
    A = sf.asarray(example(6))
    with pytest.raises(TypeError, match="immutable"):
        A[0, 0] = 1


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_reshape_flip_roll(data):
    A, D = data.draw(arrays(DTYPES))
    n, m = A.shape
    shapes = [(m, n), (n * m, 1), (1, n * m), (-1, m or 1), (n // 2, 2 * m)]
    for shape in shapes:
        np.testing.assert_array_equal(sf.reshape(A, shape).todense(), D.reshape(shape))
    for axis in (None, 0, 1, (0, 1), -1):
        np.testing.assert_array_equal(sf.flip(A, axis=axis).todense(), np.flip(D, axis))
    shift = data.draw(st.integers(-20, 20))
    for axis in (None, 0, 1, (0, -1)):
        np.testing.assert_array_equal(sf.roll(A, shift, axis=axis).todense(), np.roll(D, shift, axis))
    np.testing.assert_array_equal(sf.permute_dims(A, (1, 0)).todense(), D.T)
    np.testing.assert_array_equal(sf.moveaxis(A, 0, 1).todense(), D.T)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_joining_and_repeating(data):
    A, D, B, E = data.draw(arrays(DTYPES, count=2))
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(sf.concat([A, B, A], axis=axis).todense(), np.concatenate([D, E, D], axis=axis))
        np.testing.assert_array_equal(sf.repeat(A, 3, axis=axis).todense(), np.repeat(D, 3, axis=axis))
    np.testing.assert_array_equal(sf.tile(A, (2, 3)).todense(), np.tile(D, (2, 3)))
    np.testing.assert_array_equal(sf.tile(A, (2,)).todense(), np.tile(D, (2,)))
    k = data.draw(st.integers(-9, 9))
    np.testing.assert_array_equal(sf.tril(A, k=k).todense(), np.tril(D, k))
    np.testing.assert_array_equal(sf.triu(A, k=k).todense(), np.triu(D, k))
    assert sf.tril(A).format == A.format
    if A.shape[0]:
        counts = np.arange(A.shape[0]) % 3
        np.testing.assert_array_equal(sf.repeat(A, counts, axis=0).todense(), np.repeat(D, counts, axis=0))
        rows = np.array([0, -1, 0])
        np.testing.assert_array_equal(sf.take(A, rows, axis=0).todense(), D[rows])
        places = np.argsort(D, axis=0)[:2]
        np.testing.assert_array_equal(sf.take_along_axis(A, places, axis=0), np.take_along_axis(D, places, axis=0))


def test_vectors_and_single_entries():
    A = sf.asarray([[0.0, 2.0, 0.0]])
    np.testing.assert_array_equal(sf.squeeze(A, 0), [0, 2, 0])
    np.testing.assert_array_equal(sf.reshape(A, (-1,)), [0, 2, 0])
    assert sf.reshape(np.arange(6.0), (2, 3)).format == "csr" and sf.expand_dims(np.arange(3.0), axis=1).shape == (3, 1)
    assert sf.broadcast_to(A, (4, 3)).nnz == 4
    with pytest.raises(ValueError, match="its length is 3"):
        sf.squeeze(A, 1)
    with pytest.raises(ValueError, match="exactly two dimensions"):
        sf.expand_dims(A, axis=0)
    with pytest.raises(ValueError, match="three dimensions"):
        sf.stack([A, A])
    with pytest.raises(ValueError, match="two dimensions"):
        sf.reshape(A, (1, 3, 1))
    with pytest.raises(ValueError, match="cannot reshape"):
        sf.reshape(A, (2, 2))
    big = sf.gallery.laplace1d(4)
    for call in (lambda: sf.reshape(big, (16,)), lambda: sf.concat([big, big], axis=None), lambda: sf.unstack(big)):
        with pytest.raises(sf.DensifyError, match="128 bytes"):
            call()
    with sf.config(densify=True):
        np.testing.assert_array_equal(sf.reshape(big, (16,)), big.todense().reshape(-1))
        np.testing.assert_array_equal(
            sf.concat([big, A], axis=None), np.concat([big.todense(), A.todense()], axis=None)
        )
        np.testing.assert_array_equal(sf.unstack(big, axis=1)[2], big.todense()[:, 2])


def test_a_negative_zero_of_a_vector_survives_the_reshape():
    A = sf.reshape(np.array([-0.0, 1.0, 0.0, 2.0]), (2, 2))
    assert A.nnz == 3 and np.signbit(A[0, 0])
