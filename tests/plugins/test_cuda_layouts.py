"""Launch parameters and packed layouts of the CUDA plugin, each against SciPy, under the CPU emulator."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.cuda import blocks, diagonals, jagged, lanes, rows
from spformats_plugins.cuda.geometry import geometry
from spformats_plugins.cuda.transpose import Rows

from . import cuda_emulator
from .cuda_emulated import emulated

pytestmark = pytest.mark.skipif(cuda_emulator.COMPILER is None, reason="the emulator needs g++")


@pytest.fixture(scope="module", autouse=True)
def _emulator():
    with emulated():
        yield


def close(y, expected):
    assert np.abs(y - expected).max(initial=0) <= 1e-12 * max(1, np.abs(expected).max(initial=0))


def uneven(n, m, rng, longest=0):
    """Rows of very different lengths, some empty; the columns of a row are close together or all over the width."""
    lengths = np.minimum(m, (rng.pareto(1.0, n) * 3).astype(int))
    lengths[rng.integers(0, n, n // 8)] = 0
    if longest:
        lengths[n // 2] = longest
    start = rng.integers(0, m, n)
    width = np.where(rng.random(n) < 0.5, np.minimum(m, lengths + 30), m)
    cols = [np.sort((s + rng.choice(w, k, replace=False)) % m) for s, w, k in zip(start, width, lengths, strict=True)]
    ptr = np.r_[0, np.cumsum(lengths)]
    return sp.csr_array((rng.standard_normal(ptr[-1]), np.concatenate(cols), ptr), shape=(n, m))


def packed(S, **how):
    return lanes.pack(Rows(S.data, S.indices.astype(np.int32), S.indptr.astype(np.int64), S.shape), **how)


@pytest.mark.parametrize("m", [40, 700, 70_000])
@pytest.mark.parametrize("how", [{}, {"window": 32, "steps": 4, "longest": 16}, {"steps": 2, "longest": 64}])
def test_slices(m, how, rng):
    S = uneven(300, m, rng, longest=min(m, 500))
    slices = packed(S, **how)
    x = rng.standard_normal(m)
    for ahead in (0, 1):
        close(jagged.spmv(slices, x.dtype, False, unroll=3, ahead=ahead)(None, x, None, 1, 0), S @ x)
    y = rng.standard_normal(300)
    close(jagged.spmv(slices, x.dtype, False)(None, x, y.copy(), 2.0, -1.0), 2 * (S @ x) - y)
    assert (slices.pieces > 0) == bool(how.get("longest", 1024) < np.diff(S.indptr).max())


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_slices_use_all_index_widths(rng):
    m = 300_000
    narrow, middle = sp.eye_array(64, m, k=9), sp.random_array((64, 9000), density=0.02, rng=rng)
    S = sp.vstack(
        [narrow, sp.hstack([middle, sp.csr_array((64, m - 9000))]), sp.random_array((64, m), density=1e-4, rng=rng)]
    ).tocsr()
    slices = packed(S, steps=64)
    widths = slices.slice[:, 3] >> 19 & 3
    assert set(widths.tolist()) == {0, 1, 2}
    x = rng.standard_normal(m)
    close(jagged.spmv(slices, x.dtype, False)(None, x, None, 1, 0), S @ x)


def test_slices_of_an_even_matrix_are_alike(rng):
    grid, full = sf.gallery.poisson2d(64).to_scipy_sparse(), sp.csr_array(rng.standard_normal((70, 96)))
    for S in (grid, sp.eye_array(1000), sp.eye_array(33), full):
        S = S.tocsr()
        slices = packed(S)
        assert slices.even is not None and slices.rowmap.size == 0
        x = rng.standard_normal(S.shape[1])
        close(jagged.spmv(slices, x.dtype, False)(None, x, None, 1, 0), S @ x)
        close(jagged.spmv(slices, x.dtype, False, unroll=3)(None, x, None, 2, 0), 2 * (S @ x))
    assert packed(uneven(300, 700, rng)).even is None


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad"])
def test_long_rows_are_cut(format, rng, monkeypatch):
    monkeypatch.setattr(rows, "PIECE", 64)
    S = uneven(100, 300, rng, longest=290)
    A = sf.asarray(S, format=format, **({"bsize": 8, "sigma": 16} if format == "pjad" else {}))
    x = rng.standard_normal((300, 3))
    layout = rows.layout_of(A)
    assert rows.Pieces(layout).count
    close(rows.spmv(layout, x.dtype, False)(A, x[:, 0], None, 1, 0), S @ x[:, 0])
    y = rng.standard_normal((100, 3))
    close(rows.spmm(layout, x.dtype, False)(A, x, y.copy(), 0.5, 2.0), 0.5 * (S @ x) + 2 * y)


SIZES = [*((b, b) for b in range(1, 9)), (3, 2), (2, 3), (6, 3), (1, 7), (16, 1), (12, 12), (20, 30)]


@pytest.mark.parametrize("blocksize", SIZES)
def test_block_sizes(blocksize, rng):
    C = blocksize[1]
    S = sp.random_array((13, 11), density=0.4, rng=rng)
    S = sp.kron(S, np.ones(blocksize)).tobsr(blocksize)
    S.data[:] = rng.standard_normal(S.data.shape)
    A = sf.asarray(S)
    x = rng.standard_normal((11 * C, 6))
    run = blocks.prepare_spmv(A, x.dtype, "N")
    close(run(A, x[:, 0].copy(), None, 1, 0), S @ x[:, 0])
    close(blocks.prepare_spmm(A, x.dtype, "N")(A, x, None, 1, 0), S @ x)
    close(blocks.prepare_spmv(A, x.dtype, "T")(A, (S @ x)[:, 0].copy(), None, 1, 0), S.T @ (S @ x)[:, 0])


@pytest.mark.parametrize(("blocksize", "lanes_", "warps", "unroll"), [
    *(((5, 5), 32, w, u) for w, u in itertools.product((1, 2, 4), (1, 2))),
    ((2, 2), 8, 1, 4), ((2, 2), 16, 1, 2), ((3, 2), 8, 1, 2), ((4, 4), 32, 2, 1), ((3, 3), 16, 1, 3),
])  # fmt: skip
def test_launch_parameters(blocksize, lanes_, warps, unroll, rng):
    S = sp.kron(sp.random_array((9, 70), density=0.5, rng=rng), np.ones(blocksize)).tobsr(blocksize)
    S.data[:] = rng.standard_normal(S.data.shape)
    A = sf.asarray(S)
    x = rng.standard_normal(S.shape[1])
    for tail in (0, 1):
        shape = geometry(blocksize, x.dtype, 35, lanes=lanes_, warps=warps, unroll=unroll, tail=tail)
        close(blocks.with_geometry(blocks.Blocks(A, "N"), x.dtype, shape)(A, x, None, 1, 0), S @ x)


@pytest.mark.parametrize("count", [0, 3, 7, 40])
@pytest.mark.parametrize("specialised", [0, 1 << 60])
@pytest.mark.parametrize("shape", [(601, 601), (1030, 700), (512, 1100)])
def test_tables_of_diagonals(count, specialised, shape, rng, monkeypatch):
    monkeypatch.setattr(diagonals, "SPECIALISED", specialised)
    n, m = shape
    offsets = np.sort(rng.choice(np.arange(-n // 3, m // 3), count, replace=False))
    S = (
        sp.diags_array([rng.standard_normal(min(n, m)) for _ in offsets], offsets=offsets, shape=shape)
        if count
        else sp.csr_array(shape)
    )
    A = sf.asarray(S.tocsr(), format="cds")
    x, w = rng.standard_normal(m), rng.standard_normal(n)
    close(diagonals.prepare_spmv(A, x.dtype, "N")(A, x, None, 1, 0), S @ x)
    close(diagonals.prepare_spmv(A, x.dtype, "T")(A, w, None, 1, 0), S.T @ w)
    X = rng.standard_normal((m, 5))
    close(diagonals.prepare_spmm(A, x.dtype, "N")(A, X, None, 1, 0), S @ X)
