"""from_diagonals, eye and random against SciPy and NumPy."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf

FORMATS = ["csr", "ell", "jad", "pjad", "cds", "hm", "cdm"]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]

CASES = [
    ([[1.0, 2, 3], [4.0, 5]], [0, 1], None),
    ([[1.0, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], [0, -1, 2], (4, 4)),  # longer than needed: the ends are ignored
    ([1, -2, 1], [1, 0, -1], (4, 4)),
    ([1.5], [0], (3, 5)),
    ([[2.0], [1, 2, 3]], [2, -1], (4, 6)),
    ([[1.0, 2]], [-3], (5, 2)),
    ([[1.0, 2, 3], [1.0]], [0, 3], (3, 3)),  # the second misses the matrix by nothing: it is empty
    ([[7.0]], [4], None),
    ([[1, 2], [3j]], [0, 1], (2, 2)),
    ([], [], (2, 3)),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("diagonals", "offsets", "shape"), CASES)
def test_from_diagonals_is_scipys(diagonals, offsets, shape, format):
    expected = np.zeros(shape if shape else (0, 0))
    if diagonals:
        expected = sp.diags_array(diagonals, offsets=offsets, shape=shape, dtype=complex).toarray()
    if format in ("hm", "cdm") and expected.shape[0] != expected.shape[1]:
        with pytest.raises(ValueError, match="square"):
            sf.from_diagonals(diagonals, offsets, shape, format=format)
        return
    A = sf.from_diagonals(diagonals, offsets, shape, format=format)
    assert A.format == format
    np.testing.assert_array_equal(A.todense(), expected)


def test_from_diagonals_with_one_offset():
    expected = np.diag([1.0, 2, 3], -1)
    np.testing.assert_array_equal(sf.from_diagonals([1.0, 2, 3], -1).todense(), expected)
    np.testing.assert_array_equal(sf.from_diagonals([[1.0, 2, 3]], -1).todense(), expected)
    np.testing.assert_array_equal(sf.from_diagonals(np.array([1.0, 2, 3]), -1).todense(), expected)
    np.testing.assert_array_equal(sf.from_diagonals(3.0, 0, (2, 3)).todense(), 3 * np.eye(2, 3))


def test_from_diagonals_writes_the_native_layouts_as_conversion_does():
    rng = np.random.default_rng(0)
    offsets = [3, -1, 0, -5, 4]
    diagonals = [rng.standard_normal(7 - abs(o)) for o in offsets]
    csr = sf.from_diagonals(diagonals, offsets, (7, 7), format="csr")
    for format in ("cds", "hm", "cdm"):
        A, B = sf.from_diagonals(diagonals, offsets, (7, 7), format=format), csr.asformat(format)
        for name in A.components:
            np.testing.assert_array_equal(getattr(A, name), getattr(B, name))
            assert getattr(A, name).dtype == getattr(B, name).dtype
        for name in A.parameters:
            assert getattr(A, name) == getattr(B, name)


def test_from_diagonals_keeps_nothing_of_its_input():
    diagonal = np.ones(3)
    A = sf.from_diagonals([diagonal], [0])
    diagonal[:] = 5
    np.testing.assert_array_equal(A.todense(), np.eye(3))


def test_from_diagonals_dtypes():
    assert sf.from_diagonals([[1, 2]], [0]).dtype == np.float64
    assert sf.from_diagonals([np.float32([1, 2])], [0]).dtype == np.float32
    assert sf.from_diagonals([np.float32([1, 2])], [0], dtype=np.complex64).dtype == np.complex64
    assert sf.from_diagonals([np.array([1, 2], dtype=">f4")], [0]).dtype == np.float32
    A = sf.from_diagonals([[1.0, 2]], [0], symmetric=True)
    assert A.symmetric


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1.0]], [0, 1]), "1 diagonals but 2 offsets"),
        (([[1.0], [2.0]], [1, 1], (3, 3)), "offset 1 is given twice"),
        (([[1.0]], [4], (3, 3)), "offset 4"),
        (([[1.0]], [-4], (3, 3)), "offset -4"),
        (([[1.0, 2]], [0], (3, 3)), "has 2 entries, but needs 3"),
        (([[1.0, 2, 3], []], [0, 1]), "diagonal 1 at offset 1 has 0 entries"),
        (([[[1.0]]], [0]), "diagonal 0 must be a scalar or 1-D"),
        (([[1.0]], [0.5]), "offsets must be integers"),
        (([], []), "shape must be given"),
        (([[1.0]], [0], (-1, 2)), "shape"),
        (([["a"]], [0]), "dtype"),
    ],
)
def test_from_diagonals_errors(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sf.from_diagonals(*arguments)


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "cds"])
@pytest.mark.parametrize("shape", [(4, None), (3, 5), (5, 3), (0, 3), (3, 0), (0, 0), (1, 1)])
@pytest.mark.parametrize("k", [-6, -2, 0, 1, 6])
def test_eye(shape, k, format):
    A = sf.eye(*shape, k=k, format=format)
    np.testing.assert_array_equal(A.todense(), np.eye(*shape, k=k))
    assert A.dtype == np.float64 and A.format == format


def test_eye_has_the_signature_of_the_array_api():
    parameters = inspect.signature(sf.eye).parameters
    kinds = inspect.Parameter
    assert [parameters[name].kind for name in ("n_rows", "n_cols")] == [kinds.POSITIONAL_ONLY] * 2
    assert {parameters[name].kind for name in ("k", "dtype", "device")} == {kinds.KEYWORD_ONLY}
    assert parameters["n_cols"].default is None and parameters["k"].default == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_eye_dtype(dtype):
    assert sf.eye(3, dtype=dtype).dtype == dtype
    assert sf.eye(3, dtype=dtype, device="cpu").dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad"])
def test_random(dtype, format):
    A = sf.random(40, 30, 0.1, format=format, rng=5, dtype=dtype)
    assert A.shape == (40, 30) and A.nnz == 120 and A.dtype == dtype and A.format == format
    np.testing.assert_array_equal(A.todense(), sf.random(40, 30, 0.1, rng=5, dtype=dtype).todense())
    values = A.to_scipy_sparse().data
    assert values.real.min() >= 0 and values.real.max() < 1
    if np.dtype(dtype).kind == "c":
        assert np.all(values.imag != values.real)


def test_random_takes_a_generator_and_moves_it_on():
    rng = np.random.default_rng(0)
    assert np.any(sf.random(9, 9, 0.5, rng=rng).todense() != sf.random(9, 9, 0.5, rng=rng).todense())


@pytest.mark.parametrize("density", [0, 1])
@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (3, 4)])
def test_random_extremes(shape, density):
    assert sf.random(*shape, density, rng=0).nnz == density * shape[0] * shape[1]


@pytest.mark.parametrize("density", [-0.1, 1.5, np.nan])
def test_random_density_is_checked(density):
    with pytest.raises(ValueError, match="density"):
        sf.random(3, 3, density)
