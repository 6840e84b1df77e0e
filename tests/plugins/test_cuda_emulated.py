"""The CUDA kernels' index arithmetic on the CPU: the conformance suite under the emulator."""

import pytest

from spformats.testing import check_kernel

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
