"""Sparse × sparse products of the CUDA plugin: emulated on the CPU, compiled by NVRTC, and run where there is a GPU."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats.testing import check_kernel
from spformats_plugins.cuda import runtime, spgemm

from . import cuda_emulator, nvrtc
from .cuda_emulated import NAME, emulated, register_emulated

FORMATS = [("csr", {}), ("bsr", {"blocksize": (2, 2)}), ("bsr", {"blocksize": (1, 1)})]


@pytest.fixture(params=["emulated", pytest.param("cupy", marks=pytest.mark.gpu)])
def device(request):
    """Moves a matrix to where the kernels run."""
    if request.param == "cupy":
        cupy = pytest.importorskip("cupy")
        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError:
            pytest.skip("needs a GPU")
        yield lambda A: A.to_device("cuda")
    elif cuda_emulator.COMPILER is None:
        pytest.skip("the emulator needs g++")
    else:
        register_emulated()
        with emulated(), sf.config(kernel=NAME):
            yield lambda A: A


def multiplied(device, A, B):
    return (device(A) @ device(B)).to_device("cpu")


@pytest.mark.parametrize(("format", "layout"), FORMATS)
@pytest.mark.parametrize("pair", [("float64", "float64"), ("float32", "complex64"), ("complex128", "float32")])
def test_conformance(device, format, layout, pair, request):
    if "cupy" in request.node.callspec.id:
        assert check_kernel("spgemm", format, "cupy", name="cuda", pairs=[pair], **layout)
    else:
        assert check_kernel("spgemm", format, name=NAME, pairs=[pair], **layout)


def power_law(rng, n, m, most):
    lengths = np.minimum((most / (1 + np.arange(n)) ** 0.7).astype(int), m)
    rng.shuffle(lengths)
    indptr = np.r_[0, np.cumsum(lengths)]
    indices = np.concatenate([np.sort(rng.choice(m, k, replace=False)) for k in lengths])
    return sp.csr_array((rng.standard_normal(len(indices)), indices, indptr), shape=(n, m))


def test_every_class_of_rows(device, monkeypatch):
    """Rows whose tables lie in shared and in global memory, rows that a whole block adds up."""
    monkeypatch.setattr(spgemm, "CLASSES", ((24, 32, 8), (48, 64, 32), (200, 256, 256), (None, 0, 256)))
    monkeypatch.setattr(spgemm, "LONG", 600)
    monkeypatch.setattr(spgemm, "TABLES", 1 << 13)
    rng = np.random.default_rng(5)
    S, R = power_law(rng, 300, 250, 200), power_law(rng, 250, 900, 500)
    C = multiplied(device, sf.asarray(S), sf.asarray(R))
    assert C.format == "csr"
    np.testing.assert_allclose(C.todense(), S.todense() @ R.todense(), rtol=0, atol=1e-12)
    sf.CSR(C.data, C.indices, C.indptr, shape=C.shape)  # sorted, no duplicates
    again = multiplied(device, sf.asarray(S), sf.asarray(R))
    np.testing.assert_array_equal(again.data, C.data)


@pytest.mark.parametrize(("left", "right"), [((3, 2), (2, 3)), ((2, 3), (3, 1)), ((1, 4), (4, 5)), ((2, 2), (3, 3))])
def test_rectangular_blocks(device, left, right):
    rng = np.random.default_rng(6)
    S, R = (sp.random_array((60, 60), density=0.08, rng=rng, format="csr") for _ in range(2))
    A = sf.asarray(S, format="bsr", blocksize=left)
    B = sf.asarray(R, format="bsr", blocksize=right)
    C = multiplied(device, A, B)
    np.testing.assert_allclose(C.todense(), (S @ R).todense(), rtol=0, atol=1e-13)
    if left[1] == right[0]:
        assert C.format == "bsr" and C.blocksize == (left[0], right[1])
        sf.BSR(C.data, C.indices, C.indptr, shape=C.shape)
    else:
        assert C.format == "csr"


def test_wide_indices_and_formats_without_a_kernel_of_their_own(device):
    rng = np.random.default_rng(7)
    S = sp.random_array((40, 40), density=0.1, rng=rng, format="csr")
    A = sf.asarray(S)
    wide = sf.CSR._build({**A._parts(), "indices": A.indices.astype(np.int64)}, A.shape)
    np.testing.assert_allclose(multiplied(device, wide, A).todense(), (S @ S).todense(), rtol=0, atol=1e-13)
    for format in ("ell", "jad", "pjad"):
        B = sf.asarray(S, format=format)
        np.testing.assert_allclose(multiplied(device, B, B.T).todense(), (S @ S.T).todense(), rtol=0, atol=1e-13)


def test_empty_products(device):
    for n, k, m in [(0, 0, 0), (3, 0, 2), (0, 4, 2), (3, 4, 0), (3, 4, 5)]:
        A, B = (sf.asarray(sp.csr_array(shape)) for shape in ((n, k), (k, m)))
        C = multiplied(device, A, B)
        assert C.shape == (n, m) and C.nnz == 0


@pytest.mark.skipif(nvrtc.library() is None, reason="needs the wheel nvidia-cuda-nvrtc")
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("pair", ["dd", "ff", "DD", "fD"])
def test_kernels_compile_without_spills(pair, index):
    types = runtime.types(*(np.dtype(c) for c in pair), index, once=False)
    found = []
    for _, slots, group in spgemm.CLASSES:
        for fill in (0, 1):
            macros = (*types, ("GROUP", group), ("BLOCK", 256), ("TABLE", slots), ("FILL", fill))
            found.append(("pattern", macros))
    for group in (4, 32, 256):
        for blocks in ((1, 1, 1), (3, 2, 3), (6, 6, 6)):
            sizes = tuple(zip(("HEIGHT", "INNER", "WIDTH"), blocks, strict=True))
            found.append(("values", (*types, ("GROUP", group), ("BLOCK", 256), *sizes)))
    for function, macros in found:
        report = nvrtc.compile_source(runtime.source("spgemm.cuh", macros), function, 90)
        assert report.spilled == 0 and report.stack == 0, (function, dict(macros), report)
