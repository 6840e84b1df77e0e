"""syrk and syr2k against dense products, with BLAS semantics for the triangle that is not updated."""

import numpy as np
import pytest
from diagonal_cases import diagonal_matrix, random_offsets, tolerance

import spformats as sf
from spformats.linalg import syr2k, syrk

FORMATS = ("cds", "hm", "cdm")


def close(C, expected, terms):
    np.testing.assert_allclose(np.asarray(C.todense()), expected, rtol=0, atol=tolerance(C.dtype, terms))


@pytest.mark.parametrize("kernel", ["numba", "reference"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("dtype", ["f", "d", "D"])
def test_whole_matrix(dtype, trans, format, kernel):
    rng = np.random.default_rng(1)
    A, a = diagonal_matrix(rng, 40, 40, random_offsets(rng, 40, 40, 9), dtype, format)
    B, b = diagonal_matrix(rng, 40, 40, random_offsets(rng, 40, 40, 5), dtype, format)
    x, y = (a, b) if trans == "N" else (a.T, b.T)
    with sf.config(kernel=kernel):
        C, D = syrk(A, 1.5, trans=trans), syr2k(A, B, -2.0, trans=trans)
    assert C.symmetric and C.dtype == A.dtype
    close(C, 1.5 * x @ x.T, 20)
    close(D, -2.0 * (x @ y.T + y @ x.T), 40)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("lower", [False, True])
def test_only_one_triangle_of_c_changes(lower, format):
    rng = np.random.default_rng(2)
    n = 30
    A, a = diagonal_matrix(rng, n, n, [-4, 0, 7], format=format)
    B, b = diagonal_matrix(rng, n, n, [-2, 3], format=format)
    part = np.tril if lower else np.triu
    for update, product in (
        (lambda C: syrk(A, 2.0, -3.0, C, lower=lower), a @ a.T),
        (lambda C: syr2k(A, B, 2.0, -3.0, C, lower=lower), a @ b.T + b @ a.T),
    ):
        C, c = diagonal_matrix(rng, n, n, np.arange(1 - n, n), format=format)
        assert update(C) is C
        expected = np.where(part(np.ones((n, n))) != 0, 2 * product - 3 * c, c)
        close(C, expected, 20)


def test_symmetric_c_is_updated_as_a_whole():
    rng = np.random.default_rng(3)
    A, a = diagonal_matrix(rng, 20, 20, [-1, 0, 5])
    C = syrk(A)
    for lower in (False, True):
        before = np.asarray(C.todense()).copy()
        syrk(A, 1.0, 2.0, C, "T", lower=lower)
        close(C, a.T @ a + 2 * before, 40)


@pytest.mark.parametrize("shape", [(9, 4), (4, 9), (1, 7), (7, 1)])
def test_rectangular(shape):
    rng = np.random.default_rng(4)
    A, a = diagonal_matrix(rng, *shape, random_offsets(rng, *shape, 6))
    close(syrk(A), a @ a.T, 10)
    close(syrk(A, trans="T"), a.T @ a, 10)


def test_half_the_multiplications():
    A = sf.gallery.banded(500, 10, 10, format="cds")
    assert syrk(A).offsets.tolist() == list(range(21))


def test_errors():
    A = sf.gallery.banded(8, 1, 1, format="hm")
    with pytest.raises(ValueError, match="trans must be"):
        syrk(A, trans="C")
    with pytest.raises(ValueError, match="needs C"):
        syrk(A, beta=1.0)
    with pytest.raises(ValueError, match="does not store diagonal 2"):
        syrk(A, C=A.copy())
    with pytest.raises(ValueError, match="shape"):
        syr2k(A, sf.gallery.banded(9, 1, 1, format="hm"))
    with pytest.raises(TypeError, match="csr"):
        syrk(A.to_csr())
