"""The estimate is what the format really takes."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats.advisor import estimate_bytes

LAYOUTS = [
    ("csr", {}),
    ("ell", {}),
    ("jad", {}),
    ("pjad", {}),
    ("pjad", {"bsize": 4}),
    ("pjad", {"bsize": 4, "sigma": 16}),
    ("pjad", {"sigma": 8}),
    ("bsr", {"blocksize": (1, 1)}),
    ("bsr", {"blocksize": (2, 2)}),
    ("bsr", {"blocksize": (3, 2), "pad": True}),
    ("bsr", {"blocksize": (5, 7), "pad": True}),
    ("cds", {}),
    ("hm", {}),
    ("cdm", {}),
]


def matrices():
    rng = np.random.default_rng(0)
    ragged = sp.random_array((40, 40), density=0.1, rng=rng, format="csr")
    yield "ragged", ragged
    yield "long row", sp.csr_array(np.vstack([np.ones((1, 30)), np.eye(29, 30)]))
    yield "long column", sp.csr_array(np.hstack([np.ones((30, 1)), np.eye(30, 29)]))
    yield "wide", sp.random_array((7, 50), density=0.2, rng=rng, format="csr")
    yield "tall", sp.random_array((50, 8), density=0.2, rng=rng, format="csr")
    yield "tridiagonal", sp.diags_array([1.0, 2.0, 1.0], offsets=[-1, 0, 1], shape=(33, 33), dtype=float).tocsr()
    yield "corners", sp.csr_array((np.ones(2), ([0, 19], [19, 0])), shape=(20, 20))
    yield "stored zero", sp.csr_array((np.array([1.0, 0, 2]), ([0, 0, 3], [0, 3, 3])), shape=(4, 4))
    yield "no entries", sp.csr_array((6, 6))
    yield "one", sp.csr_array(np.ones((1, 1)))
    yield "no rows", sp.csr_array((0, 4))
    yield "no columns", sp.csr_array((4, 0))
    yield "nothing", sp.csr_array((0, 0))
    yield "wide indices", sp.csr_array((np.ones(3), ([0, 1, 3], [5, 2**33, 2**32])), shape=(4, 2**34))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize(("format", "layout"), LAYOUTS)
def test_exact(format, layout, dtype):
    for name, S in matrices():
        S = S.astype(dtype)
        r, c = layout.get("blocksize", (1, 1))
        if format in ("hm", "cdm") and S.shape[0] != S.shape[1]:
            continue
        if format == "bsr" and not layout.get("pad") and (S.shape[0] % r or S.shape[1] % c):
            continue
        A = sf.asarray(S, format=format, force=True, **layout)
        assert estimate_bytes(S, format, **layout) == A.nbytes, name


def test_our_own_csr_and_symmetric():
    A = sf.gallery.poisson2d(8, 9, format="csr")
    assert estimate_bytes(A, "csr") == A.nbytes
    assert estimate_bytes(A, "cds", symmetric=True) == A.asformat("cds", symmetric=True).nbytes


def test_integers_count_as_the_floats_they_become():
    S = sp.csr_array(np.eye(5, dtype=np.int8))
    assert estimate_bytes(S, "csr") == sf.asarray(S).nbytes


def test_a_large_impossible_matrix_costs_nothing_to_estimate():
    n = 300_000
    S = sp.csr_array((np.ones(n), np.arange(n)[::-1].copy(), np.arange(n + 1)), shape=(n, n))
    assert estimate_bytes(S, "cds") == n * (8 * n + 8)
    assert estimate_bytes(S, "hm") == sum(n - abs(o) for o in range(1 - n, n, 2)) * 8 + 16 * n


def test_unknown_format():
    with pytest.raises(ValueError, match=r"'dia'.*cds"):
        estimate_bytes(sp.csr_array((2, 2)), "dia")
