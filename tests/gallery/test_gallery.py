"""Every gallery matrix against its definition, in every format and value type."""

import itertools
import tracemalloc

import numpy as np
import pytest

import spformats as sf

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]


def lap(n):
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def kron(*factors):
    out = np.ones((1, 1))
    for factor in factors:
        out = np.kron(out, factor)
    return out


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_laplace1d(n):
    np.testing.assert_array_equal(sf.gallery.laplace1d(n).todense(), lap(n))


@pytest.mark.parametrize("grid", [(1, 1), (1, 4), (4, 1), (2, 2), (2, 5), (3, 2), (5, 4), (0, 3)])
def test_poisson2d(grid):
    nx, ny = grid
    expected = kron(np.eye(ny), lap(nx)) + kron(lap(ny), np.eye(nx))
    np.testing.assert_array_equal(sf.gallery.poisson2d(nx, ny).todense(), expected)


def test_poisson2d_is_the_papers():
    """Appendix E of the paper, entry by entry."""
    N = 4
    A = np.zeros((N * N, N * N))
    for j in range(N):
        for i in range(N):
            p = j * N + i
            A[p, p] = 4
            if i > 0:
                A[p, p - 1] = -1
            if i < N - 1:
                A[p, p + 1] = -1
            if j > 0:
                A[p, p - N] = -1
            if j < N - 1:
                A[p, p + N] = -1
    np.testing.assert_array_equal(sf.gallery.poisson2d(N).todense(), A)


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 1, 3), (1, 1, 4), (2, 2, 2), (3, 4, 2)])
def test_poisson3d(grid):
    nx, ny, nz = grid
    eyes, laps = [np.eye(n) for n in grid], [lap(n) for n in grid]
    expected = kron(eyes[2], eyes[1], laps[0]) + kron(eyes[2], laps[1], eyes[0]) + kron(laps[2], eyes[1], eyes[0])
    np.testing.assert_array_equal(sf.gallery.poisson3d(nx, ny, nz).todense(), expected)


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 2, 2), (3, 2, 1), (3, 4, 5), (4, 1, 2)])
def test_stencil27(grid):
    near = [np.triu(np.tril(np.ones((n, n)), 1), -1) for n in grid]
    expected = 27 * np.eye(np.prod(grid)) - kron(near[2], near[1], near[0])
    np.testing.assert_array_equal(sf.gallery.stencil27(*grid).todense(), expected)


def stencil_entry_by_entry(weights, grid):
    weights = np.asarray(weights)
    points = list(itertools.product(*(range(length) for length in grid)))
    number = {point: k for k, point in enumerate(points)}
    out = np.zeros((len(points), len(points)))
    for point in points:
        for index in itertools.product(*(range(length) for length in weights.shape)):
            other = tuple(p + i - length // 2 for p, i, length in zip(point, index, weights.shape, strict=True))
            if other in number:
                out[number[point], number[other]] += weights[index]
    return out


@pytest.mark.parametrize("grid", [(1, 1), (2, 2), (3, 2), (2, 3), (6, 7), (1, 5)])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (1, 7), (5, 5)])
def test_stencil(grid, shape):
    weights = np.random.default_rng(0).integers(-3, 4, shape).astype(float)
    np.testing.assert_array_equal(sf.gallery.stencil(weights, grid).todense(), stencil_entry_by_entry(weights, grid))


@pytest.mark.parametrize(
    ("weights", "grid", "words"),
    [
        ([1, 2], (4,), "odd length"),
        ([[1]], (4,), "2 dimensions"),
        ([1], (-4,), "negative"),
    ],
)
def test_stencil_errors(weights, grid, words):
    with pytest.raises(ValueError, match=words):
        sf.gallery.stencil(weights, grid)


def test_symmetric_storage():
    A = sf.gallery.poisson2d(5, 4, symmetric=True)
    assert A.symmetric and A.offsets.tolist() == [0, 1, 5]
    np.testing.assert_array_equal(A.todense(), sf.gallery.poisson2d(5, 4).todense())
    B = sf.gallery.poisson2d(5, 4).asformat("cds", symmetric=True)
    np.testing.assert_array_equal(A.data, B.data)
    with pytest.raises(ValueError, match="mirror"):
        sf.gallery.stencil([1, 2, 3], (4,), symmetric=True)


def test_advection_diffusion2d():
    A = sf.gallery.advection_diffusion2d(6, 4, velocity=(2.0, -1.0), diffusion=0.1)
    M = A.todense()
    h = 1 / 7
    np.testing.assert_allclose(np.diag(M), 4 * 0.1 + h * 3, rtol=1e-14)
    np.testing.assert_allclose(M[8, [7, 9, 2, 14]], [-0.1 - 2 * h, -0.1, -0.1, -0.1 - h], rtol=1e-14)
    row_sums = M.sum(axis=1)
    assert np.all(row_sums > -1e-14) and np.any(row_sums > 0) and np.any(M != M.T)
    with pytest.raises(ValueError, match="diffusion"):
        sf.gallery.advection_diffusion2d(3, diffusion=-1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 7, 16, 30])
def test_dense_spd(n, dtype):
    A = sf.gallery.dense_spd(n, shift=0.5, seed=2, dtype=dtype)
    M = A.todense()
    assert A.dtype == dtype and A.nnz == n * n
    np.testing.assert_array_equal(M, M.conj().T)
    c = np.random.default_rng(2).random((n, n))
    if np.dtype(dtype).kind == "f":
        np.testing.assert_allclose(M, c.T @ c + 0.5 * np.eye(n), rtol=4 * n * np.finfo(dtype).eps + 1e-15)
    assert n == 0 or np.linalg.eigvalsh(M.astype(np.result_type(dtype, np.float64)))[0] > 0.4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("blocksize", [(5, 5), (3, 2), (2, 3), (1, 1)])
def test_block_band(blocksize, dtype):
    n = 240
    A = sf.gallery.block_band(n, blocksize=blocksize, density=0.1, dtype=dtype)
    r, c = blocksize
    blocks_a_row = round(0.1 * n / c)
    assert A.dtype == dtype and A.blocksize == blocksize
    assert np.all(np.diff(A.indptr) == blocks_a_row)
    M = A.todense()
    assert A.nnz == np.count_nonzero(M) == blocks_a_row * c * n
    assert np.all(M.real >= 0)
    np.testing.assert_allclose(M.sum(axis=1), 1, rtol=n * np.finfo(dtype).eps)
    rows, cols = np.nonzero(M)
    middle = (rows > n // 4) & (rows < 3 * n // 4)
    assert np.abs(rows - cols)[middle].max() <= 0.05 * n + r + c  # a band about the diagonal


def test_block_band_is_the_papers():
    A = sf.gallery.block_band(3200)
    assert A.data.shape == (640 * 32, 5, 5) and A.nnz == 0.05 * 3200**2


@pytest.mark.parametrize("options", [{"blocksize": (7, 7)}, {"blocksize": (0, 5)}, {"density": 0}, {"density": 2}])
def test_block_band_errors(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        sf.gallery.block_band(100, **options)


@pytest.mark.parametrize(("n", "kl", "ku"), [(1, 0, 0), (6, 2, 1), (6, 5, 5), (6, 0, 3), (0, 0, 0)])
def test_banded(n, kl, ku):
    M = sf.gallery.banded(n, kl, ku, seed=4).todense()
    inside = np.tril(np.triu(np.ones((n, n)), -kl), ku).astype(bool)
    assert np.all((M > 0) == inside) and np.all(M < 1)


@pytest.mark.parametrize("options", [{"kl": 5, "ku": 0}, {"kl": 0, "ku": 5}, {"kl": -1, "ku": 0}])
def test_banded_errors(options):
    with pytest.raises(ValueError, match=r"kl|ku"):
        sf.gallery.banded(5, **options)


def test_structured():
    A = sf.gallery.structured(50, 12, seed=9)
    M = A.todense()
    occupied = [o for o in range(-49, 50) if np.any(np.diagonal(M, o))]
    assert len(occupied) == 12 and sorted(A.offsets.tolist()) == occupied
    assert all(np.all(np.diagonal(M, o) > 0) for o in occupied)
    assert np.any(sf.gallery.structured(50, 12, seed=10).offsets != A.offsets)
    assert sf.gallery.structured(4, 7).nnz == 16
    with pytest.raises(ValueError, match="ndiags"):
        sf.gallery.structured(4, 8)


@pytest.mark.parametrize("poisson", [0.0, 0.3])
@pytest.mark.parametrize("grid", [(3, 4), (2, 3, 2)])
def test_elasticity(grid, poisson):
    d = len(grid)
    A = sf.gallery.elasticity(grid, young=2.0, poisson=poisson)
    assert A.blocksize == (d, d)
    M = A.todense()
    rounding = 2 * 2**d * np.finfo(float).eps * abs(M).max()  # 2^d elements meet in a node
    np.testing.assert_allclose(M, M.T, atol=rounding)
    assert np.linalg.eigvalsh(M)[0] > 1e-3


def test_elasticity_keeps_rigid_motions_inside():
    """Away from the clamped border translations and rotations cost no energy."""
    grid = (5, 5, 5)
    A = sf.gallery.elasticity(grid)
    x, y, z = (axis.ravel() for axis in np.meshgrid(*(np.arange(n) for n in grid), indexing="ij"))
    zero = np.zeros_like(x)
    inner = np.zeros(grid, dtype=bool)
    inner[1:-1, 1:-1, 1:-1] = True
    for motion in ([1, 0, 0], [0, 1, 0], [y, -x, zero], [zero, z, -y]):
        u = np.stack([zero + part for part in motion], axis=-1).astype(float)
        force = (A @ u.ravel()).reshape(-1, 3)[inner.ravel()]
        np.testing.assert_allclose(force, 0, atol=1e-13)


def test_elasticity_of_one_node_is_known():
    """Plane strain, one free node: four bilinear elements, K = 4/3 (lambda + 3 mu) on the diagonal."""
    lame, shear = 0.3 / (1.3 * 0.4), 1 / 2.6
    np.testing.assert_allclose(
        sf.gallery.elasticity((1, 1)).todense(), 4 / 3 * (lame + 3 * shear) * np.eye(2), rtol=1e-14
    )


@pytest.mark.parametrize("options", [{"grid": (3,)}, {"grid": (3, 3), "poisson": 0.5}])
def test_elasticity_errors(options):
    with pytest.raises(ValueError, match=r"grid|poisson"):
        sf.gallery.elasticity(**options)


def test_power_law():
    A = sf.gallery.power_law(3000, 8.0, seed=1)
    lengths = np.diff(A.indptr)
    assert 5 < lengths.mean() < 9 and lengths.max() > 20 * lengths.mean() and lengths.min() >= 1
    M = A.to_scipy_sparse()
    off = abs(M).sum(axis=1) - abs(M.diagonal())
    assert np.all(M.diagonal() > off)
    with pytest.raises(ValueError, match="exponent"):
        sf.gallery.power_law(10, exponent=1)
    with pytest.raises(ValueError, match="mean"):
        sf.gallery.power_law(10, 0.5)


GENERATORS = {
    "laplace1d": (12,),
    "poisson2d": (4, 3),
    "poisson3d": (3, 2, 2),
    "stencil27": (3, 2, 2),
    "advection_diffusion2d": (4, 3),
    "dense_spd": (12,),
    "block_band": (20,),
    "banded": (12, 2, 3),
    "structured": (12, 5),
    "elasticity": ((3, 2),),
    "power_law": (12, 3.0),
    "stencil": ([[1, 2, 3]] * 3, (4, 3)),
}


def test_every_generator_is_tested():
    assert sorted(GENERATORS) == sorted(sf.gallery.__all__)


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_formats_and_dtypes(name, format, dtype):
    generator = getattr(sf.gallery, name)
    A = generator(*GENERATORS[name], format=format, dtype=dtype)
    assert A.format == format and A.dtype == dtype
    native = generator(*GENERATORS[name], dtype=dtype)
    np.testing.assert_array_equal(A.todense(), native.todense())
    assert np.all(np.isfinite(A.todense()))


@pytest.mark.parametrize("name", GENERATORS)
def test_native_layout_passes_the_public_constructor(name):
    """What is built without checks must be what the checking constructor accepts."""
    A = getattr(sf.gallery, name)(*GENERATORS[name])
    parameters = {key: getattr(A, key) for key in A.parameters if key != "blocksize"}
    B = type(A)(**{key: getattr(A, key) for key in A.components}, shape=A.shape, **parameters)
    for key in A.components:
        np.testing.assert_array_equal(getattr(A, key), getattr(B, key))
        assert getattr(A, key).dtype == getattr(B, key).dtype


@pytest.mark.parametrize("name", ["dense_spd", "block_band", "banded", "structured", "power_law"])
def test_seeds(name):
    generator = getattr(sf.gallery, name)
    first = generator(*GENERATORS[name], seed=1).todense()
    np.testing.assert_array_equal(first, generator(*GENERATORS[name], seed=1).todense())
    assert np.any(first != generator(*GENERATORS[name], seed=2).todense())


@pytest.mark.parametrize("build", [lambda: sf.gallery.poisson2d(512), lambda: sf.gallery.stencil27(40)])
def test_stencils_take_only_their_own_memory(build):
    tracemalloc.start()
    A = build()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * A.nbytes + 1e6
