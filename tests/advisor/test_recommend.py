"""The choice behind format="auto"."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats.advisor import recommend


@pytest.mark.parametrize(
    ("build", "format"),
    [
        (lambda: sf.gallery.poisson2d(40, format="csr"), "cds"),
        (lambda: sf.gallery.poisson3d(12, format="csr"), "cds"),
        (lambda: sf.gallery.stencil27(10, format="csr"), "cds"),
        (lambda: sp.kron(sf.gallery.power_law(400).to_scipy_sparse(), np.ones((3, 3)), format="csr"), "bsr"),
        (lambda: sf.gallery.power_law(3000), "csr"),
        (lambda: sf.random(500, 300, 0.02, rng=0), "csr"),
    ],
)
def test_the_structure_decides(build, format):
    advice = recommend(build())
    assert advice.format == format
    assert advice.bytes <= advice.csr_bytes * 1.06
    assert advice.reasons and str(advice)


def test_blocksize_comes_with_bsr():
    advice = recommend(sf.gallery.block_band(500, blocksize=(5, 5), format="csr"))
    assert advice.format == "bsr" and advice.layout == {"blocksize": (5, 5)}


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_a_symmetric_matrix_is_stored_by_halves(dtype):
    S = sf.gallery.poisson2d(12, format="csr", dtype=dtype) * dtype(1 - 2j if dtype is np.complex128 else 3)
    A = sf.asarray(S, format="auto")
    assert (A.format, A.symmetric, A.offsets.tolist()) == ("cds", True, [0, 1, 12])
    np.testing.assert_array_equal(A.todense(), S.todense())
    unsymmetric = sf.gallery.advection_diffusion2d(12, format="csr", dtype=dtype)
    assert recommend(unsymmetric).layout == {}


def test_short_diagonals_go_to_an_unpadded_layout():
    n = 400
    S = sp.diags_array([1.0, 2.0, 3.0], offsets=[0, 390, -395], shape=(n, n), dtype=float).tocsr()
    assert recommend(S).format in ("hm", "cdm")


@pytest.mark.parametrize("layout", ["anti-diagonal", "long row"])
def test_never_a_format_that_needs_absurd_memory(layout):
    n = 20000
    if layout == "anti-diagonal":
        S = sp.csr_array((np.ones(n), (np.arange(n), np.arange(n)[::-1])), shape=(n, n))
    else:
        S = sp.csr_array(sp.vstack([np.ones((1, n)), sp.eye_array(n, format="csr")[1:]]))
    tracemalloc.start()
    advice = recommend(S)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert advice.bytes <= 1.25 * advice.csr_bytes
    assert peak < 50e6
    assert sf.asarray(S, format="auto").nbytes <= 1.25 * advice.csr_bytes


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (4, 4)])
def test_empty(shape):
    assert recommend(sp.csr_array(shape)).bytes <= 8 * (shape[0] + 1)


def test_bytes_and_traffic_are_those_of_the_result():
    S = sf.gallery.poisson2d(30, format="csr", dtype=np.float32)
    advice = recommend(S)
    A = S.asformat(advice.format, **advice.layout)
    assert advice.bytes == A.nbytes
    assert advice.traffic == A.nbytes + 2 * 900 * 4
    assert advice.candidates["csr"] == S.nbytes == advice.csr_bytes


def test_auto():
    S = sf.gallery.poisson2d(20, format="csr").to_scipy_sparse()
    A = sf.asarray(S, format="auto")
    assert A.format == "cds"
    np.testing.assert_array_equal(A.todense(), S.toarray())


def test_auto_is_a_format_name_wherever_one_is_taken():
    A = sf.gallery.poisson2d(20)
    assert A.asformat("csr").asformat("auto").format == sf.asarray(A, format="auto").format == "cds"
    assert sf.gallery.poisson2d(20, format="auto").format == sf.eye(9, format="auto").format == "cds"
    blocks = sf.gallery.block_band(48, blocksize=(4, 4), density=0.3, format="csr").asformat("auto")
    assert blocks.format == sf.gallery.block_band(48, blocksize=(4, 4), density=0.3, format="auto").format == "bsr"
    assert sf.from_diagonals([1, -2], [0, 1], shape=(4, 4), format="auto").format == "cds"
    assert sf.random(30, 30, 0.1, rng=0, format="auto").shape == (30, 30)


def test_one_diagonal_is_told_in_the_singular():
    assert "1 diagonal holds all entries and is filled to 100%" in str(recommend(sf.eye(50)))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (5, 5)])
def test_without_entries_there_is_nothing_to_save(shape):
    advice = recommend(sp.csr_array(shape))
    assert (advice.format, advice.layout, advice.reasons) == ("csr", {}, ("no entries are stored",))
    assert "blocks           none" in str(advice.features)


def test_the_padding_told_is_that_of_the_layout_made():
    lengths = np.arange(1000) % 7
    columns = np.concatenate([np.arange(k) for k in lengths])
    S = sp.csr_array((np.ones(lengths.sum()), columns, np.r_[0, lengths.cumsum()]))
    made, found = sf.asarray(S, format="pjad"), recommend(S).features
    assert found.pjad_bsize == made.bsize and found.pjad_fill == pytest.approx(made.nnz / made.data.size)
    assert f"PJAD (blocks of {made.bsize} rows)" in str(found)
