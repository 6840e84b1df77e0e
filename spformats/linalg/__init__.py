"""Products and solvers people call, and the array API's ``linalg`` extension; each name is loaded when first used."""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "spmv": "blas",
    "cg": "conjugate_gradient",
    "to_banded": "banded",
    "bandwidth": "banded",
    "matmul_plan": "diagonal_product",
    "triple_product": "galerkin",
    "syrk": "symmetric_update",
    "syr2k": "symmetric_update",
}
_EXTENSION = (
    "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
    "matrix_transpose "
    "outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"
).split()
_MODULES = ("diagonal_elementwise", "diagonal_product")
__all__ = sorted([*_HOME, *_EXTENSION, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"spformats.linalg.{_HOME[name]}"), name)
    if name in _EXTENSION:
        return getattr(importlib.import_module("spformats.array_api.linalg"), name)
    if name in _MODULES:
        return importlib.import_module(f"spformats.linalg.{name}")
    raise AttributeError(f"module 'spformats.linalg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
