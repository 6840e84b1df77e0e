"""What the CPU benchmark compares with: SciPy, sparse_dot_mkl, and MKL's inspector through its own handles."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Product = Callable[[], Any]


def find_mkl() -> str | None:
    """Path of MKL's runtime library as the ``mkl`` wheel installs it."""
    found = sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
    return str(found[0]) if found else None


class _Description(ctypes.Structure):
    """matrix_descr of mkl_spblas.h: type, mode, diag."""

    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]


GENERAL, NONTRANSPOSED, ROW_MAJOR, ZERO_BASED = 20, 10, 101, 0


class Inspector:
    """An optimised MKL handle: created, hinted and inspected once, then only executed."""

    def __init__(self, library: str, matrix: sp.csr_array | sp.bsr_array, k: int | None) -> None:
        self.lib = ctypes.CDLL(library)
        self.letter = {np.dtype("f4"): "s", np.dtype("f8"): "d"}[matrix.dtype]
        self.real = ctypes.c_float if self.letter == "s" else ctypes.c_double
        self.handle, self.description = ctypes.c_void_p(), _Description(GENERAL, 0, 0)
        self.matrix = matrix
        indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        self.keep = (indptr, indices, matrix.data)
        rows, cols = matrix.shape
        shape: tuple[Any, ...] = (ctypes.c_int(rows), ctypes.c_int(cols))
        if matrix.format == "bsr":
            R, C = matrix.blocksize
            shape = (ROW_MAJOR, ctypes.c_int(rows // R), ctypes.c_int(cols // C), ctypes.c_int(R))
        pointers = [indptr.ctypes.data, indptr[1:].ctypes.data, indices.ctypes.data, matrix.data.ctypes.data]
        self._call(
            f"{self.letter}_create_{matrix.format}",
            ctypes.byref(self.handle),
            ZERO_BASED,
            *shape,
            *map(ctypes.c_void_p, pointers),
        )
        if k is None:
            self._call("set_mv_hint", self.handle, NONTRANSPOSED, self.description, 1000)
        else:
            self._call("set_mm_hint", self.handle, NONTRANSPOSED, self.description, ROW_MAJOR, ctypes.c_int(k), 1000)
        self._call("optimize", self.handle)

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.lib, f"mkl_sparse_{name}")(*arguments)
        if status:
            raise RuntimeError(f"mkl_sparse_{name} returned {status}")

    def product(self, x: np.ndarray) -> Product:
        rows = self.matrix.shape[0]
        y = np.empty((rows, *x.shape[1:]), x.dtype)
        a, b = self.real(1), self.real(0)
        px, py = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)
        if x.ndim == 1:
            function = getattr(self.lib, f"mkl_sparse_{self.letter}_mv")
            arguments = (NONTRANSPOSED, a, self.handle, self.description, px, b, py)
        else:
            function = getattr(self.lib, f"mkl_sparse_{self.letter}_mm")
            k = ctypes.c_int(x.shape[1])
            arguments = (NONTRANSPOSED, a, self.handle, self.description, ROW_MAJOR, px, k, k, b, py, k)

        def run() -> np.ndarray:
            if function(*arguments):
                raise RuntimeError("MKL refused the product")
            return y

        return run


def peers(csr: sp.csr_array, x: np.ndarray, threads: int, bsr: sp.bsr_array | None, dia: bool) -> dict[str, Product]:
    """Every way of multiplying that is installed here, by name."""
    found: dict[str, Product] = {"scipy csr": lambda: csr @ x}
    if bsr is not None:
        found["scipy bsr"] = lambda: bsr @ x
    if dia:
        diagonal = csr.todia()
        found["scipy dia"] = lambda: diagonal @ x
    library = find_mkl()
    if library is None:
        return found
    import os

    os.environ.setdefault("MKL_RT", library)
    from sparse_dot_mkl import dot_product_mkl, mkl_set_num_threads

    mkl_set_num_threads(threads)
    out = np.empty((csr.shape[0], *x.shape[1:]), x.dtype)
    matrix = sp.csr_matrix(csr)
    found["mkl csr"] = lambda: dot_product_mkl(matrix, x, out=out, out_scalar=0.0)
    k = None if x.ndim == 1 else x.shape[1]
    found["mkl csr inspected"] = Inspector(library, csr, k).product(x)
    if bsr is not None and bsr.blocksize[0] == bsr.blocksize[1]:
        block_matrix = sp.bsr_matrix(bsr)
        found["mkl bsr"] = lambda: dot_product_mkl(block_matrix, x, out=out, out_scalar=0.0)
        found["mkl bsr inspected"] = Inspector(library, bsr, k).product(x)
    return found
