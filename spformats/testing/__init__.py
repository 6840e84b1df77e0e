"""The conformance suite: what a format or a kernel must do, ours or a third party's.

`check_format` and `check_kernel` raise AssertionError at the first difference; `edge_matrices` are the matrices they
use. `strategies` (loaded on first use) holds Hypothesis strategies for the same kinds of matrices; all else needs
NumPy and SciPy only.

Examples
--------
A plugin's own tests need no more than this:

>>> from spformats.testing import check_format, check_kernel
>>> checked = check_format("csr", dtypes=["float64"])
>>> products = check_kernel("spmm", "csr", name="reference", pairs=[("float32", "float64")])
"""

from __future__ import annotations

import importlib
from typing import Any

from spformats.testing.formats import check_format
from spformats.testing.kernels import PAIRS, check_kernel
from spformats.testing.matrices import DTYPES, EdgeMatrix, edge_matrices

__all__ = ["DTYPES", "PAIRS", "EdgeMatrix", "check_format", "check_kernel", "edge_matrices", "strategies"]


def __getattr__(name: str) -> Any:
    if name == "strategies":  # needs hypothesis
        return importlib.import_module("spformats.testing.strategies")
    raise AttributeError(f"module 'spformats.testing' has no attribute {name!r}")
