"""The CUDA kernels' index arithmetic on the CPU: the conformance suite under the emulator."""

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats import dispatch
from spformats.testing import check_kernel
from spformats_plugins.cuda import row_blocks, rows, runtime, slices, transpose

from . import cuda_emulator
from .cuda_emulated import NAME, emulated, register_emulated

pytestmark = pytest.mark.skipif(cuda_emulator.COMPILER is None, reason="the emulator needs g++")

LAYOUTS = [
    ("csr", {}),
    ("ell", {}),
    ("jad", {}),
    ("pjad", {}),
    ("pjad", {"bsize": 2}),
    ("bsr", {"blocksize": (2, 2)}),
    ("bsr", {"blocksize": (3, 2)}),
    ("cds", {}),
    ("cds", {"symmetric": True}),
    ("hm", {}),
    ("cdm", {}),
]
DOUBLE, MIXED = (("float64", "float64"),), (("complex64", "float64"),)


@pytest.fixture(scope="module", autouse=True)
def _emulator():
    register_emulated()
    with emulated():
        yield


@pytest.mark.parametrize(("format", "layout"), LAYOUTS)
@pytest.mark.parametrize("op", ["spmv", "spmm"])
def test_products(op, format, layout):
    assert check_kernel(op, format, name=NAME, pairs=DOUBLE, **layout)


@pytest.mark.parametrize("format", ["csr", "ell", "pjad", "cds", "bsr"])
def test_mixed_types(format):
    layout = {"blocksize": (2, 3)} if format == "bsr" else {}
    assert check_kernel("spmv", format, name=NAME, pairs=MIXED, **layout)


@pytest.mark.parametrize("variant", ["row_major", "thread_private", "team", "vector_unrolled"])
def test_kernels_of_paper_003(variant):
    assert check_kernel("spmv", "bsr", name=f"{NAME}-{variant}", pairs=DOUBLE, blocksize=(3, 2))


@pytest.mark.parametrize("layout", [{"bsize": 2}, {"bsize": 2, "sigma": 4}])
def test_kernel_of_papers_001_and_002(layout):
    assert check_kernel("spmv", "pjad", name=f"{NAME}-paper", pairs=DOUBLE, **layout)


@pytest.mark.parametrize(
    ("format", "layout"),
    [(f, {}) for f in ("csr", "ell", "jad", "pjad")] + [("bsr", {"blocksize": b}) for b in ((2, 2), (3, 2))],
)
def test_atomic_variants(format, layout):
    assert check_kernel("spmv", format, name=f"{NAME}-atomic", pairs=DOUBLE, **layout)


@pytest.mark.parametrize("name", [NAME, f"{NAME}-atomic"])
def test_rows_of_csr_in_blocks_and_pieces(name, monkeypatch):
    """Rows of every length around the limits, empty ones between; long rows in several pieces."""
    monkeypatch.setattr(row_blocks, "CUT", 1.0)
    monkeypatch.setattr(row_blocks, "LAUNCHES", 0)
    monkeypatch.setattr(row_blocks, "MOST_ROWS", 50)
    monkeypatch.setattr(rows, "PIECE", 64)
    rng = np.random.default_rng(0)
    lengths = np.r_[rng.integers(0, 6, 300), 31, 32, 33, 64, 65, np.zeros(120, int), 200, 512, 513, 0, 600, 1]
    indptr = np.r_[0, np.cumsum(lengths)]
    indices = np.concatenate([np.sort(rng.choice(700, k, replace=False)) for k in lengths])
    S = sp.csr_array((rng.standard_normal(len(indices)), indices, indptr), shape=(len(lengths), 700))
    A, x, y = sf.asarray(S), rng.standard_normal(700), rng.standard_normal(len(lengths))
    with sf.config(kernel=name):
        np.testing.assert_allclose(A @ x, S @ x, rtol=0, atol=1e-11)
        np.testing.assert_allclose(sf.spmv(A, x, y.copy(), 2.0, -1.0), 2 * (S @ x) - y, rtol=0, atol=1e-11)
        np.testing.assert_allclose(A.T @ y, S.T @ y, rtol=0, atol=1e-11)


def test_few_long_rows_are_cut_only_where_it_pays():
    short, long = np.full(100_000, 10), np.full(5_000_000, 10)
    for lengths in (short, long):
        lengths[7] = 900
    assert row_blocks.limit_for(short, 2048) == 900
    assert row_blocks.limit_for(long, 2048) == 128
    assert row_blocks.limit_for(np.full(1000, 398), 2048) == 398
    assert row_blocks.limit_for(np.full(1000, 3000), 2048) == 1024
    assert row_blocks.limit_for(np.zeros(0, dtype=np.int64), 2048) == 0


class Home:
    """Stands for a device that is current only inside its context."""

    depth = 0

    def __enter__(self):
        Home.depth += 1

    def __exit__(self, *error):
        Home.depth -= 1


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "bsr", "cds"])
def test_what_a_matrix_keeps_is_made_on_its_own_device(format, monkeypatch):
    """A product on a device that is not the current one: its tables must not land on the current one."""
    monkeypatch.setattr(runtime, "is_current", lambda array: Home.depth > 0)
    monkeypatch.setattr(runtime, "on_device", lambda array: Home())
    made = []
    for module in (transpose._arrays, slices._arrays):
        pointers = module.pointers
        monkeypatch.setattr(module, "pointers", lambda *a, f=pointers: (made.append(Home.depth), f(*a))[1])
    kernel = runtime.kernel
    monkeypatch.setattr(runtime, "kernel", lambda *a: (made.append(Home.depth), kernel(*a))[1])
    S = sp.random_array((40, 40), density=0.2, rng=np.random.default_rng(1), format="csr")
    A = sf.asarray(S, format=format, force=True, **({"blocksize": (2, 2)} if format == "bsr" else {}))
    made.clear()
    with sf.config(kernel=NAME):
        for trans in "NT":
            for x in (np.ones(40), np.ones((40, 3))):
                np.testing.assert_allclose(sf.spmv(A, x, trans=trans), (S.T if trans == "T" else S) @ x, rtol=1e-12)
    assert made and min(made) > 0
    assert Home.depth == 0


def test_every_launcher_prepares_on_the_device_of_the_matrix():
    found = [k for k in dispatch.kernels() if k.namespace == "cupy" and k.operation in ("spmv", "spmm")]
    assert len(found) > 15
    assert not [k for k in found if not hasattr(k.function, "__wrapped__")]
