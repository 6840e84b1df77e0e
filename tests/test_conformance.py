"""Every format in every layout, and every kernel that runs on NumPy arrays, through the public conformance suite."""

import numpy as np
import pytest
from layouts import LAYOUTS

import spformats as sf
from spformats.testing import check_format, check_kernel

CASES = {**LAYOUTS, "bsr-3x3": ("bsr", {"blocksize": (3, 3)}), "cds-symmetric": ("cds", {"symmetric": True})}
#: The layouts of each format; a plugin's variant is checked on the first, the default kernels on all.
OF_FORMAT = {f: [name for name, (g, _) in CASES.items() if f == g] for f, _ in CASES.values()}
SPMM_PAIRS = [("float32", "float32"), ("float64", "float64"), ("complex128", "complex64")]


def _kernels():
    for kernel in sf.dispatch.kernels():
        if kernel.operation in ("spmv", "spmm") and kernel.namespace in ("numpy", "*") and kernel.format != "*":
            layouts = OF_FORMAT.get(kernel.format, [])
            for layout in layouts if kernel.priority >= 0 else layouts[:1]:
                yield pytest.param(
                    kernel.operation, layout, kernel.name, id=f"{kernel.operation}-{layout}-{kernel.name}"
                )


@pytest.mark.parametrize("layout", CASES)
def test_format(layout):
    format, options = CASES[layout]
    assert check_format(format, **options)


@pytest.mark.parametrize(("op", "layout", "name"), list(_kernels()))
def test_kernel(op, layout, name):
    format, options = CASES[layout]
    pairs = {} if op == "spmv" else {"pairs": SPMM_PAIRS}
    assert check_kernel(op, format, name=name, **pairs, **options)


@pytest.mark.parametrize("format", ["csr", "bsr"])
def test_sparse_product(format):
    options = {"blocksize": (2, 2), "pad": True} if format == "bsr" else {}
    assert check_kernel("spgemm", format, pairs=[("float64", "float64"), ("float32", "complex64")], **options)


@pytest.mark.parametrize("layout", CASES)
def test_other_libraries_hold_every_format(layout, backend):
    """The same storage over another library's arrays gives the same dense array there, and comes back unchanged."""
    if backend.name == "numpy":
        pytest.skip("nothing to move")
    format, options = CASES[layout]
    rng = np.random.default_rng(3)
    dense = rng.standard_normal((12, 12)) * (rng.random((12, 12)) < 0.3)
    A = sf.asarray(dense + dense.T, format=format, **options)
    B = backend.matrix(A)
    assert B.format == format and B.nnz == A.nnz
    np.testing.assert_array_equal(backend.to_numpy(B.todense()), dense + dense.T)
    back = B.to_device("cpu") if backend.name == "cupy" else B.to_namespace(np)
    for name in A.components:
        np.testing.assert_array_equal(getattr(back, name), getattr(A, name))
