"""Every kernel instance compiles under NVRTC, without a GPU; the default instances keep everything in registers."""

import numpy as np
import pytest

from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.blocks import rows_per_thread
from spformats_plugins.cuda.geometry import geometry
from spformats_plugins.cuda.product import columns_layout

from . import nvrtc

pytestmark = pytest.mark.skipif(nvrtc.library() is None, reason="needs the wheel nvidia-cuda-nvrtc")

PAIRS = [*(c * 2 for c in "fdFD"), "fd", "dF", "Fd", "Dd"]
#: Ampere, Hopper, and the newest this NVRTC knows.
ARCHITECTURES = sorted({80, 90, max(nvrtc.architectures())}) if nvrtc.library() else []
SIZES = [*((b, b) for b in range(1, 9)), (3, 2), (2, 3), (6, 3)]
TABLES = {
    1: (("ND", 5), ("OFFSETS", "-4096,-1,0,1,4096"), ("BASES", "0,1000,2000,3001,4000")), 2: (("ND", 7),), 3: (),
}  # fmt: skip

CSR = (("PER_THREAD", 8), ("ATOMIC", 0))


def instances(pair):
    """File, function and macros of the kernels for one pair of value types, as the launchers choose them."""
    matrix, vector = (np.dtype(c) for c in pair)
    wide = max(1, 16 // matrix.itemsize)
    types = runtime.types(matrix, vector, np.int32, conjugate=matrix.kind == "c")
    columns, lanes, _ = columns_layout(vector, 8)
    shape = (("LANES", lanes), ("COLS", columns), ("BLOCK", 256))
    for layout in range(4):
        share = (("LAYOUT", layout), ("BSIZE", 32), ("SHARE", 1 if layout else 8), ("BLOCK", 256), *CSR)
        yield "rows.cuh", "spmv", (*types, *share)
        yield "rows.cuh", "segments", (*types, *share)
        yield "rows.cuh", "spmm", (*types, ("LAYOUT", layout), ("BSIZE", 32), *shape)
    yield "rows.cuh", "segments", (*types, ("LAYOUT", 0), ("BSIZE", 1), *shape)
    for size in SIZES if pair == "dd" else [(2, 2), (3, 3), (5, 5), (8, 8)]:
        sizes = (("HEIGHT", size[0]), ("WIDTH", size[1]), ("EDGE", int(size == (3, 3))))
        yield "blocks.cuh", "spmv", (*types, *sizes, ("ALIGNED", 1), *geometry(size, matrix, 27).macros())
        yield "blocks.cuh", "spmm", (*types, *sizes, ("STRIP", rows_per_thread(size[0], columns)), *shape)
    yield "blocks.cuh", "spmv", (*types, ("EDGE", 1), ("ANY_SIZE", 1), ("BLOCK", 256))
    for table, macros in TABLES.items():
        run = wide if table == 1 else min(wide, 2)
        given = (*types, ("TABLE", table), *macros)
        yield "diagonals.cuh", "spmv", (*given, ("BLOCK", 256), ("RUN", run), ("ALIGNED", 1))
        yield "diagonals.cuh", "spmm", (*given, *shape)
    yield (
        "lanes.cuh",
        "spmv",
        (*types, ("UNROLL", 4), ("WIDTHS", 7), ("STEPS", 0), ("LOG_K", 0), ("BLOCK", 128), ("AHEAD", 0)),
    )
    yield "combine.cuh", "combine", (*types, ("BLOCK", 128))


#: Every architecture for equal types, Hopper for mixed ones.
CASES = [(pair, arch) for pair in PAIRS for arch in ARCHITECTURES if pair[0] == pair[1] or arch == 90]


@pytest.mark.parametrize(("pair", "arch"), CASES)
def test_default_instances_do_not_spill(pair, arch):
    for name, function, macros in instances(pair):
        report = nvrtc.compile_source(runtime.source(name, macros), function, arch)
        assert report.spilled == 0 and report.stack == 0, (name, function, dict(macros), report)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("variant", range(4))
def test_kernels_of_paper_003_compile(variant, arch):
    for pair in ("dd", "Ff"):
        sizes = (("HEIGHT", 5), ("WIDTH", 5), ("EDGE", 1), ("BLOCK", 128), ("VARIANT", variant), ("ROWS_AT_ONCE", 8))
        text = runtime.source("paper003.cuh", (*runtime.types(*pair), *sizes))
        assert nvrtc.compile_source(text, "spmv", arch).registers > 0


@pytest.mark.parametrize("pair", ["dd", "ff", "Dd", "FD"])
def test_atomic_variants_compile(pair):
    types = runtime.types(*(np.dtype(c) for c in pair))
    rows = (*types, ("LAYOUT", 0), ("BSIZE", 1), ("BLOCK", 256), ("PER_THREAD", 8), ("ATOMIC", 1))
    for name, function, macros in (
        ("rows.cuh", "segments", (*rows, ("SHARE", 2))),
        ("rows.cuh", "scatter", (*rows, ("LANES_PER_ROW", 4))),
        ("scatter.cuh", "scatter", (*types, ("EDGE", 1), ("BLOCK", 256))),
    ):
        assert nvrtc.compile_source(runtime.source(name, macros), function, 90).spilled == 0


def test_64_bit_indices_compile():
    types = runtime.types("d", "d", np.int64)
    for layout in range(4):
        macros = (*types, ("LAYOUT", layout), ("BSIZE", 32), ("SHARE", 1), ("BLOCK", 256), *CSR)
        assert nvrtc.compile_source(runtime.source("rows.cuh", macros), "spmv", 90).spilled == 0
    sizes = (("HEIGHT", 3), ("WIDTH", 3), ("EDGE", 0), ("ALIGNED", 1))
    macros = (*types, *sizes, *geometry((3, 3), "d", 27).macros())
    assert nvrtc.compile_source(runtime.source("blocks.cuh", macros), "spmv", 90).spilled == 0


def test_a_wrong_kernel_is_reported():
    with pytest.raises(RuntimeError, match="undefined"):
        nvrtc.compile_source('extern "C" __global__ void f() { undefined_name = 1; }', "f", 90)
