"""The Galerkin product against dense products."""

import numpy as np
import pytest
from diagonal_cases import diagonal_matrix, random_offsets, tolerance

from spformats.linalg import triple_product


@pytest.mark.parametrize("format", ["cds", "hm", "cdm"])
@pytest.mark.parametrize(("r_count", "a_count"), [(3, 9), (9, 2)])
def test_square(r_count, a_count, format):
    rng = np.random.default_rng(1)
    R, r = diagonal_matrix(rng, 50, 50, random_offsets(rng, 50, 50, r_count), format=format)
    A, a = diagonal_matrix(rng, 50, 50, random_offsets(rng, 50, 50, a_count), format=format)
    C = triple_product(R, A)
    assert C.format == format
    np.testing.assert_allclose(np.asarray(C.todense()), r.T @ a @ r, rtol=0, atol=tolerance("d", 81))


@pytest.mark.parametrize("shape", [(12, 5), (5, 12)])
def test_rectangular_and_hermitian(shape):
    rng = np.random.default_rng(2)
    n, m = shape
    R, r = diagonal_matrix(rng, n, m, random_offsets(rng, n, m, 4), "D")
    A, a = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 6), "D")
    for hermitian, left in ((False, r.T), (True, r.conj().T)):
        C = triple_product(R, A, hermitian=hermitian)
        assert C.shape == (m, m)
        np.testing.assert_allclose(np.asarray(C.todense()), left @ a @ r, rtol=0, atol=tolerance("d", 60))


def test_shapes_that_do_not_fit():
    rng = np.random.default_rng(3)
    R, _ = diagonal_matrix(rng, 6, 3, [0])
    A, _ = diagonal_matrix(rng, 5, 5, [0])
    with pytest.raises(ValueError, match=r"\(6, 6\)"):
        triple_product(R, A)
