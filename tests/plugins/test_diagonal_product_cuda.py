"""The CUDA kernels of the diagonal product, without a GPU: run by the emulator, compiled by NVRTC."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

import spformats as sf
from spformats import dispatch
from spformats.linalg import matmul_plan, syrk
from spformats_plugins.cuda import diagonal_product, diagonal_walk, runtime

from . import cuda_emulator, nvrtc
from .cuda_emulated import emulated

sys.path.insert(0, str(Path(__file__).parents[1] / "linalg"))
from diagonal_cases import diagonal_matrix, random_offsets, tolerance

KERNELS = {
    "cuda": diagonal_product.ours,
    "tile": diagonal_product.tile,
    "atomic": diagonal_product.atomic,
}
needs_compiler = pytest.mark.skipif(cuda_emulator.COMPILER is None, reason="the emulator needs g++")


@pytest.fixture(scope="module")
def emulator():
    for name, make in KERNELS.items():
        diagonal_product.register(f"emulated-{name}", make, -5, namespace="numpy")
    with emulated():
        yield


@needs_compiler
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("left", "right"), [("cds", "cds"), ("hm", "hm"), ("cdm", "cdm"), ("hm", "cdm")])
def test_square(left, right, name, emulator):
    rng = np.random.default_rng(1)
    n = 150
    A, a = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 9), format=left)
    B, b = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 37), format=right)
    with sf.config(kernel=f"emulated-{name}"):
        for (X, x), (Y, y) in itertools.product(((A, a), (A.T, a.T)), ((B, b), (B.T, b.T))):
            C = X @ Y
            np.testing.assert_allclose(np.asarray(C.todense()), x @ y, rtol=0, atol=tolerance("d", 9))
            if C.format == "cds":
                sf.CDS(C.data, C.offsets, shape=C.shape)  # zero outside the matrix
        plan = matmul_plan(A, B)
        C = plan(A, B)
        before = np.asarray(C.todense()).copy()
        plan(A, B, out=C, alpha=2.0, beta=-3.0)
        np.testing.assert_allclose(np.asarray(C.todense()), 2 * a @ b - 3 * before, rtol=0, atol=tolerance("d", 50))
        np.testing.assert_allclose(np.asarray(syrk(A).todense()), a @ a.T, rtol=0, atol=tolerance("d", 9))


@needs_compiler
@pytest.mark.parametrize("shape", [(1, 1, 4), (2, 2, 4), (1, 3, 2), (2, 8, 1), (4, 1, 32), (4, 2, 4)])
def test_every_shape_of_our_kernel(shape, emulator, monkeypatch):
    monkeypatch.setattr(diagonal_walk, "FIXED", diagonal_walk.Shape(*shape))
    rng = np.random.default_rng(3)
    with sf.config(kernel="emulated-cuda"):
        for n, offsets in ((150, random_offsets(rng, 150, 150, 19)), (300, np.arange(-9, 10))):
            A, a = diagonal_matrix(rng, n, n, offsets, format="hm")
            B, b = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 31), format="cds")
            for X, Y, x, y in ((A, B, a, b), (B, A, b, a), (A, A, a, a)):
                np.testing.assert_allclose(np.asarray((X @ Y).todense()), x @ y, rtol=0, atol=tolerance("d", 31))


@needs_compiler
def test_diagonals_that_share_a_row_of_storage(emulator):
    """CDM keeps diagonals o and o - n in one row; a result with such pairs, and one whose rows have slots left over."""
    rng = np.random.default_rng(4)
    for offsets in ([-7, 0, 3], [-2, 0, 1]):
        A, a = diagonal_matrix(rng, 10, 10, np.array(offsets), format="cdm")
        with sf.config(kernel="emulated-cuda"):
            C = A @ A
        np.testing.assert_allclose(np.asarray(C.todense()), a @ a, rtol=0, atol=1e-12)
        sf.CDM(C.data, C.offsets, C.rows, shape=C.shape)


@needs_compiler
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("left", "right"), [("f", "d"), ("D", "D"), ("F", "f")])
def test_types_shapes_and_adjoints(left, right, name, emulator):
    rng = np.random.default_rng(2)
    for n, m, p in ((20, 33, 7), (1, 40, 1), (40, 1, 300), (3, 0, 2)):
        A, a = diagonal_matrix(rng, n, m, random_offsets(rng, n, m, 8), left)
        B, b = diagonal_matrix(rng, m, p, random_offsets(rng, m, p, 8), right)
        with sf.config(kernel=f"emulated-{name}"):
            for C, c in ((A @ B, a @ b), (B.H @ A.H, b.conj().T @ a.conj().T)):
                assert C.dtype == c.dtype
                np.testing.assert_allclose(np.asarray(C.todense()), c, rtol=0, atol=tolerance(C.dtype, 8))


@pytest.mark.skipif(nvrtc.library() is None, reason="NVRTC is not installed")
@pytest.mark.parametrize("types", ["fff", "fdd", "ddd", "DDD", "FdD"])
@pytest.mark.parametrize(
    ("function", "more"),
    [
        ("product", (("PRODUCT", 1), ("RUN", 4), ("DIAGS", 1), ("WARPS", 8), ("SCALED", 0))),
        ("product", (("PRODUCT", 1), ("RUN", 4), ("DIAGS", 2), ("WARPS", 8), ("SCALED", 1))),
        ("tile", (("TILE", 1), ("SIDE", diagonal_product.SIDE))),
        ("atomic", (("ATOMIC", 1), ("BLOCK", 256))),
        ("scale", (("ATOMIC", 1), ("BLOCK", 256))),
    ],
)
def test_compiles_without_spilling(function, more, types):
    names = (*zip(("TA", "TX", "TY"), (runtime.CTYPES[t] for t in types), strict=True),)
    base = (("INDEX", "int"), ("CONJ", 0), ("STREAM", 0), ("CONJ_A", 1), ("CONJ_B", 0))
    text = runtime.source("diagonal_product.cuh", (*names, *base, *more))
    for arch in (75, 90):
        report = nvrtc.compile_source(text, function, arch)
        assert report.spilled <= 0


def test_named_variants_are_registered_but_never_chosen():
    found = {k.name: k.priority for k in dispatch.kernels("diagmm", "hm") if k.namespace == "cupy"}
    assert found["cuda"] > 0 > max(found["tile"], found["atomic"])
