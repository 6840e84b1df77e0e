"""Products and solvers people call; each name is loaded when first used."""

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
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"spformats.linalg.{_HOME[name]}"), name)
    raise AttributeError(f"module 'spformats.linalg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
