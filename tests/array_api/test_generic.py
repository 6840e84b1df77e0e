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


CALLS = {
    "abs": lambda A, B: sf.abs(A),
    "sin": lambda A, B: sf.sin(A),
    "isnan": lambda A, B: sf.isnan(A),
    "add": sf.add,
    "multiply": sf.multiply,
    "maximum of a transpose": lambda A, B: sf.maximum(A, B.T),
    "not_equal": lambda A, B: A != B,
    "greater": lambda A, B: A > 0,
    "scaled": lambda A, B: 2 * A - B / 4,
    "power": lambda A, B: A**2,
    "clip": lambda A, B: sf.clip(A, -0.5, 0.5),
    "sum": lambda A, B: [sf.sum(A), sf.sum(A, axis=0), sf.sum(A, axis=1, keepdims=True)],
    "prod": lambda A, B: [sf.prod(A), sf.prod(A, axis=0), sf.prod(A, axis=1)],
    "max": lambda A, B: [sf.max(A), sf.max(A, axis=0), sf.max(A, axis=1)],
    "min": lambda A, B: [sf.min(A), sf.min(A, axis=0), sf.min(A, axis=1)],
    "mean": lambda A, B: [sf.mean(A), sf.mean(A, axis=0)],
    "var": lambda A, B: [sf.var(A), sf.var(A, axis=0), sf.std(A, axis=1, correction=1)],
    "argmax": lambda A, B: [sf.argmax(A), sf.argmax(A, axis=0), sf.argmin(A, axis=1)],
    "count_nonzero": lambda A, B: [sf.count_nonzero(A), sf.count_nonzero(A, axis=0), sf.count_nonzero(A, axis=1)],
    "any": lambda A, B: [sf.any(A), sf.any(A, axis=0), sf.all(A, axis=1)],
    "nonzero": lambda A, B: list(sf.nonzero(A)),
    "where": lambda A, B: [sf.where(A > 0, A, B), sf.where(A > 0, B, 0)],
    "sort": lambda A, B: [sf.sort(A, axis=0), sf.sort(A, descending=True)],
    "unique": lambda A, B: [*sf.unique_counts(A), sf.unique_values(A)],
    "slices": lambda A, B: [A[1:4, ::2], A[::-1, 2:], A[2:5, 1:4], A[2], A[:, -1], A[1, 2], A[[0, 2]], A[:, [3, 3]]],
    "reshape": lambda A, B: [sf.reshape(A, (4, 9)), sf.flip(A), sf.roll(A, 3), sf.roll(A, (1, 2), axis=(0, 1))],
    "concat": lambda A, B: [sf.concat([A, B]), sf.concat([A, B], axis=1), sf.tile(A, (2, 1)), sf.repeat(A, 2, axis=1)],
    "broadcast": lambda A, B: [A + B[:1, :], sf.broadcast_to(A[:, :1], (6, 4))],
    "triangles": lambda A, B: [sf.tril(A), sf.triu(A, k=1), sf.diff(A, axis=0), sf.zeros_like(A)],
    "matmul": lambda A, B: [
        A @ sf.sum(B, axis=1),
        sf.matmul(sf.sum(B, axis=0), A),
        sf.vecdot(A, B),
        sf.tensordot(A, B, axes=2),
    ],
    "norms": lambda A, B: [sf.linalg.matrix_norm(A, ord=o) for o in ("fro", 1, float("inf"))] + [sf.linalg.trace(A)],
    "vector_norm": lambda A, B: [sf.linalg.vector_norm(A, axis=0), sf.linalg.vector_norm(A, ord=3, axis=1)],
    "integers": lambda A, B: sf.astype(A > 0, sf.int64) @ sf.count_nonzero(B, axis=1),
    "types": lambda A, B: [sf.astype(A, sf.float32), sf.astype(A, sf.complex128), sf.conj(A * 1j), sf.real(A * 1j)],
    "power of a matrix": lambda A, B: [sf.linalg.matrix_power(A, 0)],
    "dense results": lambda A, B: [
        sf.exp(A),
        A == B,
        A + 1,
        sf.divide(A, B + 9),
        sf.argsort(A),
        sf.cumulative_sum(A, axis=0),
    ],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_functions_on_other_libraries(backend, layout, name):
    """What works on the values in the library itself, and what moves entries about, gives what it gives on NumPy."""
    A, B = build(example(6, seed=1), layout), build(example(6, seed=2), layout)
    X, Y = backend.matrix(A), backend.matrix(B)

    def parts(call, A, B):
        with sf.config(densify=name == "dense results"):
            out = call(A, B)
        return out if isinstance(out, list) else [out]

    for got, expected in zip(parts(CALLS[name], X, Y), parts(CALLS[name], A, B), strict=True):
        if hasattr(expected, "format"):
            assert got.format == expected.format and got._namespace == backend.name
            assert got.shape == expected.shape
            got, expected = got.todense(), expected.todense()
        assert backend.name == "numpy" or type(got).__module__.partition(".")[0] == backend.name
        got = backend.to_numpy(got)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_dense_results_are_refused_and_libraries_are_not_mixed(backend):
    A = sf.gallery.laplace1d(6)
    X = backend.matrix(A)
    with pytest.raises(sf.DensifyError, match="288 bytes"):
        sf.exp(X)
    if backend.name != "numpy":
        with pytest.raises(TypeError, match="arrays"):
            sf.add(X, A)
        with pytest.raises(TypeError, match="convert one"):
            sf.multiply(X, np.ones(6))


def test_array_api_extra(backend):
    xpx = pytest.importorskip("array_api_extra")
    A = sf.asarray(example(6), format="cds")
    D, X = A.todense(), backend.matrix(A)
    assert int(xpx.nunique(X)) == np.unique(D).size
    assert xpx.atleast_nd(X, ndim=2) is X
    assert xpx.default_dtype(array_api_compat.array_namespace(X)) == np.float64
    with sf.config(densify=True):
        close = xpx.isclose(X, X * (1 + 1e-9))
        np.testing.assert_array_equal(backend.to_numpy(close), np.isclose(D, D * (1 + 1e-9)))
        np.testing.assert_allclose(backend.to_numpy(xpx.sinc(X)), np.sinc(D), atol=1e-15)
