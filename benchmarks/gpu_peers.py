"""The peers of the GPU benchmark: cuSPARSE through its own handles, with its preprocessing done beforehand, and torch.

Each class builds a peer's matrix from a ``cupyx`` CSR matrix on the device and gives a call without arguments that runs
one product into ``y``. A peer that cannot run a case says so by `Unavailable`.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
from ctypes import c_int64 as Long
from ctypes import c_void_p as Pointer
from typing import Any

import cupy as cp
import numpy as np

FLOAT64, INT32 = 1, 2  # cudaDataType CUDA_R_64F, cusparseIndexType CUSPARSE_INDEX_32I
ROW_MAJOR = 2  # CUSPARSE_ORDER_ROW
SPMV = {"csr": (0, 2, 3), "sell": (0, 5), "bsr": (0, 6)}
SPMM = (0, 4, 5, 6)


class Unavailable(RuntimeError):
    """This peer cannot run this case."""


@functools.cache
def library() -> tuple[Any, Any]:
    """cuSPARSE and a handle of it."""
    beside = os.path.join(os.path.dirname(np.__file__), "..", "nvidia", "**", "libcusparse.so*")
    for path in sorted(glob.glob(beside, recursive=True)) + glob.glob("/usr/local/cuda*/lib64/libcusparse.so*"):
        try:
            lib = ctypes.CDLL(path)
        except OSError:
            continue
        handle = Pointer()
        check(lib.cusparseCreate(ctypes.byref(handle)), "cusparseCreate")
        lib.cusparseSetStream(handle, Pointer(cp.cuda.get_current_stream().ptr))
        return lib, handle
    raise Unavailable("libcusparse was not found")


def version() -> int:
    lib, handle = library()
    out = ctypes.c_int()
    lib.cusparseGetVersion(handle, ctypes.byref(out))
    return out.value


def check(code: int, what: str) -> None:
    if code:
        raise Unavailable(f"{what} returned {code}")


def address(array: Any) -> Pointer:
    return Pointer(array.data.ptr)


class Peer:
    """Calls that run one product each, and the arrays they need."""

    def __init__(self, descriptor: Pointer, kept: tuple[Any, ...]):
        self.descriptor, self.kept = descriptor, kept
        self.one, self.zero = ctypes.c_double(1), ctypes.c_double(0)

    def spmv(self, algorithm: int, x: Any, y: Any) -> Any:
        lib, handle = library()
        dx, dy, size = Pointer(), Pointer(), ctypes.c_size_t()
        lib.cusparseCreateDnVec(ctypes.byref(dx), Long(x.size), address(x), FLOAT64)
        lib.cusparseCreateDnVec(ctypes.byref(dy), Long(y.size), address(y), FLOAT64)
        args = (handle, 0, ctypes.byref(self.one), self.descriptor, dx, ctypes.byref(self.zero), dy, FLOAT64, algorithm)
        check(lib.cusparseSpMV_bufferSize(*args, ctypes.byref(size)), "cusparseSpMV_bufferSize")
        buffer = cp.empty(max(1, size.value), dtype=np.uint8)
        if hasattr(lib, "cusparseSpMV_preprocess"):
            lib.cusparseSpMV_preprocess(*args, address(buffer))
        kept = (self, x, y, buffer)
        check(lib.cusparseSpMV(*args, address(buffer)), "cusparseSpMV")
        return lambda kept=kept: lib.cusparseSpMV(*args, address(buffer))

    def spmm(self, algorithm: int, X: Any, Y: Any) -> Any:
        lib, handle = library()
        dx, dy, size = Pointer(), Pointer(), ctypes.c_size_t()
        for out, M in ((dx, X), (dy, Y)):
            rows, cols = (Long(v) for v in M.shape)
            lib.cusparseCreateDnMat(ctypes.byref(out), rows, cols, cols, address(M), FLOAT64, ROW_MAJOR)
        one, zero = ctypes.byref(self.one), ctypes.byref(self.zero)
        args = (handle, 0, 0, one, self.descriptor, dx, zero, dy, FLOAT64, algorithm)
        check(lib.cusparseSpMM_bufferSize(*args, ctypes.byref(size)), "cusparseSpMM_bufferSize")
        buffer = cp.empty(max(1, size.value), dtype=np.uint8)
        lib.cusparseSpMM_preprocess(*args, address(buffer))
        kept = (self, X, Y, buffer)
        check(lib.cusparseSpMM(*args, address(buffer)), "cusparseSpMM")
        return lambda kept=kept: lib.cusparseSpMM(*args, address(buffer))


def csr(G: Any) -> Peer:
    lib, _ = library()
    out, (n, m) = Pointer(), G.shape
    arrays = tuple(address(a) for a in (G.indptr, G.indices, G.data))
    code = lib.cusparseCreateCsr(ctypes.byref(out), Long(n), Long(m), Long(G.nnz), *arrays, INT32, INT32, 0, FLOAT64)
    check(code, "cusparseCreateCsr")
    return Peer(out, (G,))


def sell(G: Any, height: int = 32) -> Peer:
    """Sliced ELL, columns of a slice contiguous."""
    lib, _ = library()
    n, m = G.shape
    lengths = cp.diff(G.indptr).astype(np.int64)
    slices = -(-n // height)
    padded = cp.zeros(slices * height, dtype=np.int64)
    padded[:n] = lengths
    offsets = cp.zeros(slices + 1, dtype=np.int64)
    cp.cumsum(padded.reshape(slices, height).max(axis=1) * height, out=offsets[1:])
    total = int(offsets[-1])
    if total > 4 * G.nnz or total >= 2**31:
        raise Unavailable(f"{total} slots for {G.nnz} entries")
    marks = cp.zeros(G.nnz + 1, dtype=np.int64)
    cp.add.at(marks, G.indptr[1:-1], 1)
    rows = cp.cumsum(marks)[:-1]
    del marks
    slot = offsets[rows // height] + (cp.arange(G.nnz) - G.indptr[rows]) * height + rows % height
    columns, values = cp.full(total, -1, dtype=np.int32), cp.zeros(total)
    columns[slot], values[slot] = G.indices, G.data
    starts = offsets.astype(np.int32)
    out = Pointer()
    arrays = tuple(address(a) for a in (starts, columns, values))
    sizes = tuple(Long(v) for v in (n, m, G.nnz, total, height))
    code = lib.cusparseCreateSlicedEll(ctypes.byref(out), *sizes, *arrays, INT32, INT32, 0, FLOAT64)
    check(code, "cusparseCreateSlicedEll")
    return Peer(out, (starts, columns, values))


def bsr(data: Any, indices: Any, indptr: Any) -> Peer:
    """The generic BSR of cuSPARSE 12 and later."""
    lib, _ = library()
    if not hasattr(lib, "cusparseCreateBsr"):
        raise Unavailable("this cuSPARSE has no cusparseCreateBsr")
    out, (nb, R, C) = Pointer(), data.shape
    rows, cols = indptr.size - 1, int(indices.max()) + 1
    sizes = tuple(Long(v) for v in (rows, cols, nb, R, C))
    arrays = tuple(address(a) for a in (indptr, indices, data))
    code = lib.cusparseCreateBsr(ctypes.byref(out), *sizes, *arrays, INT32, INT32, 0, FLOAT64, ROW_MAJOR)
    check(code, "cusparseCreateBsr")
    return Peer(out, (data, indices, indptr))


def bsrmv(data: Any, indices: Any, indptr: Any, x: Any, y: Any) -> Any:
    """The older routine for square blocks."""
    lib, handle = library()
    nb, R, C = data.shape
    if R != C or not hasattr(lib, "cusparseDbsrmv"):
        raise Unavailable("bsrmv takes square blocks, in versions that have it")
    description = Pointer()
    lib.cusparseCreateMatDescr(ctypes.byref(description))
    one, zero = ctypes.c_double(1), ctypes.c_double(0)
    rows, cols = indptr.size - 1, x.size // C
    args = (
        handle, 0, 0, rows, cols, nb, ctypes.byref(one), description, address(data), address(indptr), address(indices),
        R, address(x), ctypes.byref(zero), address(y),
    )  # fmt: skip
    kept = (one, zero, data, indices, indptr, x, y)
    check(lib.cusparseDbsrmv(*args), "cusparseDbsrmv")
    return lambda kept=kept: lib.cusparseDbsrmv(*args)


def torch_bsr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int], x: Any, expected: Any) -> Any:
    try:
        import torch
    except ImportError as error:
        raise Unavailable("torch is not installed") from error
    parts = [torch.as_tensor(a, device="cuda") for a in (indptr, indices, data)]
    try:
        A = torch.sparse_bsr_tensor(*parts, size=shape)
        operand = torch.as_tensor(x, device="cuda")
        product = A @ operand  # on the legacy default stream, which is CuPy's too
    except RuntimeError as error:
        raise Unavailable(str(error).splitlines()[0]) from error
    error = float(abs(cp.asarray(product) - expected).max() / abs(expected).max())
    if not error < 1e-10:
        raise Unavailable(f"its result is wrong, relative error {error}")
    return lambda: A @ operand
