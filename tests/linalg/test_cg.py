"""`spformats.linalg.cg`: answers, preconditioners, refusals. Faults known from other solvers are in tests/reports."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from layouts import LAYOUTS, TRANSPOSED, build, positive_definite

import spformats as sf

EVERY = [*LAYOUTS, *TRANSPOSED]


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_solves(layout, dtype):
    S = positive_definite(16, dtype)
    x = (np.linspace(1, 2, 16) * (1 + 0.5j if np.dtype(dtype).kind == "c" else 1)).astype(dtype)
    rtol = 1e-5 if np.finfo(dtype).eps > 1e-10 else 1e-12
    got, info = sf.linalg.cg(build(S, layout), S @ x, rtol=rtol)
    assert info == 0 and got.dtype == dtype
    np.testing.assert_allclose(got, x, rtol=100 * rtol)


@pytest.mark.parametrize("layout", EVERY)
def test_preconditioners(layout):
    """Badly scaled: with the right preconditioner, in any form, far fewer iterations."""
    n = 64
    scale = sp.diags_array(np.logspace(0, 4, n))
    S = sp.csr_array(scale @ positive_definite(n) @ scale)
    A, b = build(S, layout), np.ones(n)
    inverse = sp.csr_array(sp.diags_array(1 / S.diagonal()))
    counts = []
    for M in (None, build(inverse, layout), sla.aslinearoperator(inverse), inverse.toarray()):
        seen = []
        x, info = sf.linalg.cg(A, b, M=M, rtol=1e-10, maxiter=5000, callback=seen.append)
        assert info == 0 and np.linalg.norm(b - S @ x) <= 1e-10 * np.linalg.norm(b)
        counts.append(len(seen))
    assert max(counts[1:]) < counts[0] / 2 and len(set(counts[1:])) == 1


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_vectors_of_other_libraries(library, dtype):
    xp = pytest.importorskip(library)
    S = positive_definite(16, np.dtype(dtype))
    A = sf.asarray(S, format="csr").to_namespace(xp)
    b = S @ np.arange(16).astype(dtype)
    for scale in (1, 1e-30):  # so small that squares vanish in single precision
        for given, x0 in ((b * scale, None), ((b * scale)[:, None], np.ones(16, dtype))):
            x, info = sf.linalg.cg(A, xp.asarray(given), None if x0 is None else xp.asarray(x0 * scale), rtol=1e-5)
            assert info == 0 and type(x) is type(xp.asarray(given)) and tuple(x.shape) == given.shape
            np.testing.assert_allclose(np.asarray(x).ravel() / scale, np.arange(16), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_refusals(layout):
    A = build(positive_definite(16), layout)
    with pytest.raises(ValueError, match=r"\(16, 2\)"):
        sf.linalg.cg(A, np.ones((16, 2)))
    with pytest.raises(ValueError, match=r"\(15,\)"):
        sf.linalg.cg(A, np.ones(15))
    with pytest.raises(ValueError, match=r"\(15,\)"):
        sf.linalg.cg(A, np.ones(16), x0=np.ones(15))
    with pytest.raises(ValueError, match=r"square.*\(2, 3\)"):
        sf.linalg.cg(sf.asarray(np.ones((2, 3))), np.ones(2))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_integers_and_lists(layout):
    S = positive_definite(16)
    x, info = sf.linalg.cg(build(S, layout), list(range(16)), rtol=1e-10)
    assert info == 0 and x.dtype == np.float64
    np.testing.assert_allclose(S @ x, np.arange(16.0), atol=1e-8)
    y, info = sf.linalg.cg(build(S, layout), np.arange(16), x0=np.zeros(16, int), rtol=1e-10)
    assert info == 0
    np.testing.assert_array_equal(x, y)


def test_nan_ends_at_once():
    A = sf.gallery.poisson2d(4)
    b = np.ones(16)
    b[3] = np.nan
    _, info = sf.linalg.cg(A, b, maxiter=1000)
    assert info != 0
