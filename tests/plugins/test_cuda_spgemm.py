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
    """Rows of very different lengths, of small integers: every order of additions gives the same sums."""
    lengths = np.minimum((most / (1 + np.arange(n)) ** 0.7).astype(int), m)
    rng.shuffle(lengths)
    indptr = np.r_[0, np.cumsum(lengths)]
    indices = np.concatenate([np.sort(rng.choice(m, k, replace=False)) for k in lengths])
    values = rng.integers(-9, 10, len(indices)).astype(float)
    return sp.csr_array((values, indices.astype(np.int32), indptr), shape=(n, m))


def widened(A):
    return A._build({**A._parts(), "indices": A.indices.astype(np.int64)}, A.shape, **A._parameters())


@pytest.fixture
def small_classes(monkeypatch):
    """Classes that small matrices fill."""
    monkeypatch.setattr(spgemm, "CLASSES", ((16, 8), (64, 16), (128, 32), (512, 64)))
    monkeypatch.setattr(spgemm, "THREADS", 128)
    monkeypatch.setattr(spgemm, "TABLES", 1 << 13)


@pytest.fixture
def launched(monkeypatch):
    """Functions and macros of the kernels that are launched."""
    found, kernel = [], runtime.kernel

    def spied(name, function, macros):
        found.append({"function": function, **dict(macros)})
        return kernel(name, function, macros)

    spied.cache_clear = kernel.cache_clear
    monkeypatch.setattr(runtime, "kernel", spied)
    return found


def seen(launched, function, key):
    return {macros[key] for macros in launched if macros["function"] == function}


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_class_of_rows(device, small_classes, launched, index):
    """Rows whose tables and sums lie in shared and in global memory, no row in pieces."""
    rng = np.random.default_rng(5)
    S, R = power_law(rng, 300, 250, 200), power_law(rng, 250, 900, 90)
    A, B = sf.asarray(S), sf.asarray(R)
    if index is np.int64:
        A, B = widened(A), widened(B)
    C = multiplied(device, A, B)
    assert C.format == "csr"
    np.testing.assert_array_equal(C.todense(), S.todense() @ R.todense())
    sf.CSR(C.data, C.indices, C.indptr, shape=C.shape)  # sorted, no duplicates
    slots = {slots for _, slots, _ in spgemm.classes(index)}
    assert seen(launched, "pattern", "TABLE") == {0, *slots}
    assert seen(launched, "values", "PLACES") == {0, *(slot * 7 // 8 for slot in slots)}
    assert not seen(launched, "combine", "BLOCK")


@pytest.mark.parametrize("room", ["plenty", "little", "none"])
@pytest.mark.parametrize(("left", "right", "little"), [((1, 1), (1, 1), 1 << 12), ((2, 3), (3, 2), 1 << 14)])
def test_rows_in_pieces(device, small_classes, launched, monkeypatch, left, right, little, room):
    """Pieces are summed one by one; fewer of them where their sums take too much memory."""
    monkeypatch.setattr(spgemm, "LONG", 100)
    monkeypatch.setattr(spgemm, "SCRATCH", {"plenty": 1 << 25, "little": little, "none": 0}[room])
    rng = np.random.default_rng(8)
    S, R = power_law(rng, 120, 180, 150), power_law(rng, 180, 240, 60)
    kind = {} if left == (1, 1) else {"format": "bsr"}
    A, B = (sf.asarray(M, **kind, **(kind and {"blocksize": size})) for M, size in ((S, left), (R, right)))
    C = multiplied(device, A, B)
    np.testing.assert_array_equal(C.todense(), S.todense() @ R.todense())
    functions = [macros["function"] for macros in launched]
    assert (functions.count("cut") > 1) == (room != "plenty")
    assert functions.count("combine") == (room != "none")
    assert seen(launched, "values", "PIECES") == ({0} if room == "none" else {0, 1})


def test_the_same_bits_in_every_run(device, small_classes, monkeypatch):
    monkeypatch.setattr(spgemm, "LONG", 200)
    rng = np.random.default_rng(9)
    S, R = power_law(rng, 100, 150, 120), power_law(rng, 150, 300, 200)
    for M in (S, R):
        M.data = rng.standard_normal(M.nnz)
    A, B = device(sf.asarray(S)), device(sf.asarray(R))
    C, again = ((A @ B).to_device("cpu") for _ in range(2))
    np.testing.assert_array_equal(again.indices, C.indices)
    np.testing.assert_array_equal(again.data, C.data)
    np.testing.assert_allclose(C.todense(), S.todense() @ R.todense(), rtol=0, atol=1e-11)


def test_much_work_for_few_columns(device, small_classes, launched):
    """A row of many products in a small result has more threads than its length asks for."""
    rng = np.random.default_rng(10)
    S, R = (sp.random_array(shape, density=0.5, rng=rng, format="csr") for shape in ((3, 2000), (2000, 12)))
    np.testing.assert_allclose(
        multiplied(device, sf.asarray(S), sf.asarray(R)).todense(), (S @ R).todense(), rtol=0, atol=1e-11
    )
    assert seen(launched, "pattern", "GROUP") == {64}


def test_few_launches_for_a_small_product(device, launched):
    A = sf.asarray(sp.eye_array(100, format="csr"))
    multiplied(device, A, A)
    assert [macros["function"] for macros in launched] == [
        *("measure", "classify", "pattern"),
        *("classify", "pattern", "values"),
    ]


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
    np.testing.assert_allclose(multiplied(device, widened(A), A).todense(), (S @ S).todense(), rtol=0, atol=1e-13)
    for format in ("ell", "jad", "pjad"):
        B = sf.asarray(S, format=format)
        np.testing.assert_allclose(multiplied(device, B, B.T).todense(), (S @ S.T).todense(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("format", ["csr", "bsr"])
def test_parts_with_gaps(device, format):
    """Arrays given as columns of larger ones: kernels read them without the gaps."""
    rng = np.random.default_rng(9)
    S = sp.random_array((30, 30), density=0.2, rng=rng, format="csr")
    A = device(sf.asarray(S, format=format, **({"blocksize": (2, 2)} if format == "bsr" else {})))
    xp = A._library

    def gaps(part):
        return xp.stack([part, part + 1], axis=-1)[..., 0]

    B = type(A)(gaps(A.data), gaps(A.indices), gaps(A.indptr), shape=A.shape)
    x = xp.asarray(rng.standard_normal(30))
    np.testing.assert_allclose((B @ B).to_device("cpu").todense(), (S @ S).todense(), rtol=0, atol=1e-13)
    y, x = (v.get() if hasattr(v, "get") else v for v in (B @ x, x))
    np.testing.assert_allclose(y, S @ x, rtol=0, atol=1e-13)


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
    result = np.result_type(*(np.dtype(c) for c in pair))
    classes = [*spgemm.classes(index), (0, 0, spgemm.THREADS)]
    limits = ",".join(str(most) for most, _, _ in classes[:-1])
    found = [(f, (("GROUP", 32), ("BLOCK", 256), ("LIMITS", limits))) for f in ("measure", "classify")]
    for _, slots, group in classes:
        found += [("pattern", spgemm.pattern_macros(slots, group, fill)) for fill in (0, 1)]
    for blocks in ((1, 1, 1), (3, 2, 3), (6, 6, 6)):
        sizes = tuple(zip(("HEIGHT", "INNER", "WIDTH"), blocks, strict=True))
        found += [(f, (("GROUP", 32), ("BLOCK", 256), *sizes)) for f in ("cut", "combine")]
        shapes = {spgemm.values_macros(most, group, blocks[0] * blocks[2], result, index) for most, _, group in classes}
        found += [("values", (*shape, *sizes)) for shape in shapes]
        found.append(("values", (("GROUP", 32), ("BLOCK", 256), ("PLACES", 0), ("PIECES", 1), *sizes)))
    for function, macros in found:
        report = nvrtc.compile_source(runtime.source("spgemm.cuh", (*types, *macros)), function, 90)
        assert report.spilled == 0 and report.stack == 0, (function, dict(macros), report)
