"""The CUDA kernels' index arithmetic, layouts and launch parameters, on the CPU: the conformance suite under the emulator."""

import pytest

from spformats.testing import check_kernel

from . import cuda_emulator
from .cuda_emulated import NAME, emulated, register_emulated

pytestmark = pytest.mark.skipif(cuda_emulator.COMPILER is None, reason="the emulator needs g++")

LAYOUTS = [
    ("csr", {}), ("ell", {}), ("jad", {}), ("pjad", {}), ("pjad", {"bsize": 2}), ("bsr", {"blocksize": (2, 2)}),
    ("bsr", {"blocksize": (3, 2)}), ("cds", {}), ("cds", {"symmetric": True}), ("hm", {}), ("cdm", {}),
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
