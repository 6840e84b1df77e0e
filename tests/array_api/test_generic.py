"""Code written against the standard alone, on every array library; and the functions themselves on other libraries."""

import importlib.util
from pathlib import Path

import array_api_compat
import numpy as np
import pytest
from layouts import LAYOUTS, build, example

import spformats as sf

_EXAMPLE = Path(__file__).parents[2] / "examples" / "array_api_cg.py"


@pytest.fixture(scope="module")
def solvers():
    spec = importlib.util.spec_from_file_location("array_api_cg", _EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"])
def test_conjugate_gradients_and_a_heat_step(solvers, backend, format):
    A = sf.gallery.poisson2d(8).asformat(format)
    exact = np.linspace(1, 2, 64)
    x, iterations = solvers.conjugate_gradients(backend.matrix(A), backend.asarray(A @ exact))
    assert 5 < iterations < 100
    np.testing.assert_allclose(backend.to_numpy(x), exact, rtol=1e-6)
    u, _ = solvers.heat_step(backend.matrix(A), backend.asarray(exact), 0.1)
    np.testing.assert_allclose(backend.to_numpy(u), np.linalg.solve(np.eye(64) + 0.1 * A.todense(), exact), rtol=1e-10)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_functions_on_other_libraries(backend, layout):
    """One of each kind: what works on the values in the library itself, and what moves entries about."""
    A, B = build(example(6, seed=1), layout), build(example(6, seed=2), layout)
    X, Y = backend.matrix(A), backend.matrix(B)
    D, E = A.todense(), B.todense()

    def same(result, expected):
        dense = result.todense() if hasattr(result, "todense") else result
        np.testing.assert_allclose(backend.to_numpy(dense), expected, rtol=1e-12, atol=1e-12)
        if hasattr(result, "format"):
            assert result._namespace == backend.name

    same(sf.sin(X), np.sin(D))
    same(sf.add(X, Y), D + E)
    same(sf.multiply(X, Y), D * E)
    same(sf.maximum(X, Y.T), np.maximum(D, E.T))
    same(X * 2, D * 2)
    same(sf.greater(X, 0), D > 0)
    for axis in (None, 0, 1):
        same(sf.sum(X, axis=axis), np.sum(D, axis=axis))
        same(sf.max(X, axis=axis), np.max(D, axis=axis))
        same(sf.mean(X, axis=axis), np.mean(D, axis=axis))
        same(sf.var(X, axis=axis), np.var(D, axis=axis))
        same(sf.argmax(X, axis=axis), np.argmax(D, axis=axis))
        same(sf.count_nonzero(X, axis=axis), np.count_nonzero(D, axis=axis))
    same(X[1:4, ::2], D[1:4, ::2])
    same(X[2], D[2])
    same(X[1, 2], D[1, 2])
    same(sf.reshape(X, (4, 9)), D.reshape(4, 9))
    same(sf.concat([X, Y], axis=1), np.concatenate([D, E], axis=1))
    same(sf.tril(X), np.tril(D))
    same(sf.sort(X, axis=0), np.sort(D, axis=0))
    same(sf.where(sf.greater(X, 0), X, Y), np.where(D > 0, D, E))
    same(sf.matmul(X, backend.asarray(np.arange(6.0))), D @ np.arange(6.0))
    same(sf.linalg.matrix_norm(X, ord=1), np.linalg.norm(D, 1))
    same(sf.unique_values(X), np.unique(D))
    with pytest.raises(sf.DensifyError, match="288 bytes"):
        sf.exp(X)
    with sf.config(densify=True):
        same(sf.exp(X), np.exp(D))
        same(sf.argsort(X), np.argsort(D, kind="stable", axis=-1))
    with pytest.raises(TypeError, match=r"numpy|holds"):
        if backend.name == "numpy":
            raise TypeError("numpy is one library with itself")
        sf.add(X, A)


def test_array_api_extra():
    xpx = pytest.importorskip("array_api_extra")
    A = sf.asarray(example(6), format="cds")
    D = A.todense()
    assert int(xpx.nunique(A)) == np.unique(D).size
    assert xpx.atleast_nd(A, ndim=2) is A
    assert xpx.default_dtype(array_api_compat.array_namespace(A)) == np.float64
    with sf.config(densify=True):
        np.testing.assert_array_equal(xpx.isclose(A, A * (1 + 1e-9)), np.isclose(D, D * (1 + 1e-9)))
        np.testing.assert_allclose(xpx.sinc(A), np.sinc(D))
