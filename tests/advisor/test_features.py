"""Structure features against plain counting."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats.advisor import features
from spformats.advisor.features import BLOCK_SIZES, SAMPLE_ENTRIES


def test_rows_and_diagonals():
    M = np.zeros((5, 7))
    M[0, :6] = 1
    M[2, 1] = M[4, 6] = 2
    f = features(M)
    assert (f.shape, f.nnz, f.row_min, f.row_max, f.empty_rows) == ((5, 7), 8, 0, 6, 2)
    assert f.row_mean == 8 / 5 and f.row_std == pytest.approx(np.std([6, 0, 1, 0, 1]))
    assert f.n_diagonals == 7  # 0..5 from the first row, -1; (4, 6) lies on +2
    assert (f.lower_bandwidth, f.upper_bandwidth) == (1, 5)
    lengths = {o: np.diagonal(M, o).size for o in (-1, 0, 1, 2, 3, 4, 5)}
    assert f.diagonal_fill == pytest.approx(8 / sum(lengths.values()))
    assert f.cds_fill == pytest.approx(8 / 35) and f.ell_fill == pytest.approx(8 / 30)


def test_block_fill_is_counted():
    rng = np.random.default_rng(0)
    S = sp.random_array((97, 61), density=0.05, rng=rng, format="csr")
    rows, cols = S.tocoo().coords
    fill = features(S).block_fill
    assert set(fill) == set(BLOCK_SIZES)
    for (r, c), value in fill.items():
        blocks = len(set(zip(rows // r, cols // c, strict=True)))
        assert value == pytest.approx(S.nnz / (blocks * r * c))


def test_block_fill_from_samples_is_close():
    A = sf.gallery.elasticity((24, 24, 24))
    assert A.nnz > 5 * SAMPLE_ENTRIES
    f = features(A)
    assert f.block_fill[3, 3] == pytest.approx(1, abs=1e-3)
    assert f.best_block[0] == (3, 3)


@pytest.mark.parametrize(
    ("M", "symmetry", "pattern"),
    [
        (np.array([[1.0, 2], [2, 3]]), "symmetric", True),
        (np.array([[0.0, 2], [-2, 0]]), "skew-symmetric", True),
        (np.array([[1, 2j], [-2j, 3]]), "hermitian", True),
        (np.array([[1.0, 2], [5, 3]]), "none", True),
        (np.array([[1.0, 2], [0, 3]]), "none", False),
        (np.ones((2, 3)), "none", False),
    ],
)
def test_symmetry(M, symmetry, pattern):
    f = features(M)
    assert (f.symmetry, f.pattern_symmetric) == (symmetry, pattern)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 3)])
def test_empty(shape):
    f = features(sp.csr_array(shape))
    assert f.nnz == 0 and f.n_diagonals == 0 and f.row_max == 0
    assert str(f)


def test_the_input_is_not_changed():
    S = sp.csr_array((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))  # unsorted, with a duplicate
    f = features(S)
    assert f.nnz == 2 and S.nnz == 3 and S.indices.tolist() == [1, 0, 1]


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "cds", "hm", "cdm"])
def test_every_format_has_the_same_features(format):
    A = sf.gallery.poisson2d(6, 5, format=format)
    f = features(A)
    assert (f.nnz, f.n_diagonals, f.symmetry) == (30 * 5 - 2 * 11, 5, "symmetric")
