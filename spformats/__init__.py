"""spformats: sparse matrix formats that keep a matrix's structure.

>>> import numpy as np, spformats as sf
>>> A = sf.gallery.poisson2d(32)      # or sf.asarray(any_scipy_matrix, format="cds")
>>> A
<CDS 1024×1024 float64, nnz=5054>
>>> (A @ np.ones(1024)).sum()
np.float64(128.0)
"""

from __future__ import annotations

import importlib
from typing import Any

from spformats import dispatch
from spformats.array_api import NAMES
from spformats.dispatch import config
from spformats.formats import BSR, CDM, CDS, CSR, ELL, HM, JAD, PJAD, SparseArray, StorageError
from spformats.interop.asarray import asarray

__version__ = "0.1.0"

# what is loaded when first used, and where it lives
_LAZY = {
    "spmv": "spformats.linalg.blas",
    "mmread": "spformats.interop.matrix_market",
    "mmwrite": "spformats.interop.matrix_market",
    "save": "spformats.interop.npz",
    "load": "spformats.interop.npz",
    "from_diagonals": "spformats.creation",
    "eye": "spformats.creation",
    "random": "spformats.creation",
    **NAMES,
}
_MODULES = ("advisor", "gallery", "linalg", "testing")

__all__ = [
    "BSR",
    "CDM",
    "CDS",
    "CSR",
    "ELL",
    "HM",
    "JAD",
    "PJAD",
    "SparseArray",
    "StorageError",
    "asarray",
    "config",
    "dispatch",
    *_LAZY,
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"spformats.{name}")
    else:
        raise AttributeError(f"module 'spformats' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
