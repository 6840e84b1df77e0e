"""What every array object is: immutable, copied, pickled, shown, measured."""

import copy
import pickle
import re
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, TRANSPOSED, build, example

import spformats as sf

EVERY = [*LAYOUTS, *TRANSPOSED]


@pytest.fixture(params=EVERY)
def A(request):
    return build(example(dtype=np.complex64), request.param)


def test_immutable(A):
    for name in ("data", "shape", "dtype", "format", "something"):
        with pytest.raises(AttributeError, match=f"immutable.*{name}"):
            setattr(A, name, None)
        with pytest.raises(AttributeError, match=f"immutable.*{name}"):
            delattr(A, name)
    for name in A.components:
        with pytest.raises(ValueError, match="read-only"):
            getattr(A, name)[...] = 0
    dense = A.todense()
    dense[...] = 0
    A.diagonal()[...] = 0
    assert A.nnz and A.todense().any()


def test_in_place_operators_make_a_new_array(A):
    before, D = A, A.todense()
    A *= 2
    A += A
    assert A is not before
    np.testing.assert_array_equal(before.todense(), D)
    np.testing.assert_allclose(A.todense(), 4 * D, rtol=1e-6)


def test_copies_and_pickles(A):
    A @ np.ones(16, np.complex64)  # a plan that must not travel
    text = repr(A)
    for B in (A.copy(), copy.copy(A), copy.deepcopy(A), *(pickle.loads(pickle.dumps(A, p)) for p in range(2, 6))):
        assert type(B) is type(A) and B is not A and B.shape == A.shape and B.dtype == A.dtype
        assert not B._plans
        np.testing.assert_array_equal(B.todense(), A.todense())
        np.testing.assert_array_equal(B @ np.ones(16), A @ np.ones(16))
        assert repr(B) == text
        for name in B.components:
            assert not np.shares_memory(getattr(B, name), getattr(A, name))
            assert not getattr(B, name).flags.writeable


def test_pickles_hold_no_plans(A):
    size = len(pickle.dumps(A))
    for x in (np.ones(16), np.ones(16, np.float32), np.ones((16, 2))):
        A @ x
        A.T @ x
    assert len(pickle.dumps(A)) == size


def test_no_cycles(A):
    """The memory goes when the last name goes, without waiting for the garbage collector."""
    import gc

    B = A.copy()
    for product in (B, B.T, B.H, B.conj()):
        product @ np.ones(16)
    gone = weakref.ref(B.data if B._source is None else B._source[0].data)
    gc.disable()
    try:
        del B, product
        assert gone() is None
    finally:
        gc.enable()


def test_repr(A):
    text = repr(A)
    assert text.startswith(f"<{type(A).__name__} 16×16 complex64, nnz=") and text.endswith(">") and "\n" not in text
    assert str(A) == text and f"nnz={A.nnz}" in text
    assert ("view" in text) == (A._source is not None)


def test_repr_names_the_layout():
    M = sp.csr_array(np.eye(6))
    assert repr(sf.asarray(M, format="bsr", blocksize=(2, 3))) == "<BSR 6×6 float64, nnz=24, blocksize=(2, 3)>"
    assert (
        repr(sf.asarray(M, format="bsr", blocksize=(2, 3)).T)
        == "<BSR 6×6 float64, nnz=24, blocksize=(3, 2), transpose view>"
    )
    assert repr(sf.asarray(M, format="pjad", bsize=2)) == "<PJAD 6×6 float64, nnz=6, bsize=2>"
    assert repr(sf.asarray(M, format="cds", symmetric=True)) == "<CDS 6×6 float64, nnz=6, symmetric=True>"
    assert repr(sf.asarray(M * 1j).H) == "<CSR 6×6 complex128, nnz=6, adjoint view>"


def test_repr_html(A):
    html = A._repr_html_()
    for text in (
        A.format,
        "16 × 16",
        "complex64",
        f"{A.nnz:,}",
        f"{A.nbytes:,}",
        "Bytes / CSR",
        "<svg",
        "</svg>",
        "<table>",
    ):
        assert text in html
    ratio = float(re.search(r"Bytes / CSR</th><td[^>]*>([\d.]+)<", html)[1])
    assert ratio == pytest.approx(A.nbytes / sf.asarray(A.tocsr()).nbytes, abs=0.006)
    import xml.etree.ElementTree as ET

    ET.fromstring(html.replace("&nbsp;", " "))  # well-formed


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (1, 1000), (1000, 1), (3, 40)])
def test_repr_html_of_any_shape(shape):
    for format in ("csr", "ell", "jad", "pjad", "bsr", "cds"):
        for matrix in (sp.csr_array(shape), sp.random_array(shape, density=0.5, rng=0)):
            A = sf.asarray(matrix, format=format)
            assert "<table>" in A._repr_html_() and repr(A)


def test_attributes(A):
    assert A.shape == (16, 16) and all(type(v) is int for v in A.shape)
    assert A.ndim == 2 and A.size == 256 and A.dtype == np.complex64 and A.device == "cpu"
    assert type(A.nnz) is int and type(A.nbytes) is int
    assert A.nbytes == sum(getattr(A._holder, name).nbytes for name in A.components)
    assert A.getnnz() == A.nnz and A.get_shape() == A.shape
    assert A.count_nonzero() == np.count_nonzero(A.todense())
    np.testing.assert_array_equal(A.getnnz(axis=0), (A.todense() != 0).sum(axis=0))


def test_diagonals_sums_and_traces(A):
    D = A.todense()
    close = {"rtol": 1e-5, "atol": 1e-5}
    for k in (0, 1, -1, 5, -7, 15, -15):
        np.testing.assert_array_equal(A.diagonal(k), np.diagonal(D, k))
        np.testing.assert_allclose(A.trace(k), np.trace(D, k), **close)
    for k in (16, -16, 40):
        assert A.diagonal(k).shape == (0,)
    np.testing.assert_allclose(A.sum(), D.sum(), **close)
    for axis in (0, 1, -1, -2):
        np.testing.assert_allclose(A.sum(axis=axis), D.sum(axis=axis), **close)
        assert A.sum(axis=axis).shape == (16,)


def test_transposes_are_views(A):
    for view, expected in (
        (A.T, A.todense().T),
        (A.mT, A.todense().T),
        (A.H, A.todense().conj().T),
        (A.transpose(), A.todense().T),
    ):
        assert view.shape == (16, 16) and view.format == A.format and view.nbytes == A.nbytes
        np.testing.assert_array_equal(view.todense(), expected)
    np.testing.assert_array_equal(A.T.T.todense(), A.todense())
    np.testing.assert_array_equal(A.T.H.todense(), A.todense().conj())
    with pytest.raises(ValueError, match="axes"):
        A.transpose((0, 1))


def test_equality_is_elementwise_and_hash_is_identity(A):
    assert hash(A) == hash(A) and {A: 1}[A] == 1
    with pytest.raises((TypeError, ValueError)):
        bool(A)
    with pytest.raises(TypeError):
        len(A)
    with pytest.raises(TypeError):
        iter(A)
