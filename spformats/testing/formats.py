"""`check_format`: does a format store what it was given, and does it keep the promises of `SparseArray`?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats.testing import format_products, format_storage
from spformats.testing.building import built
from spformats.testing.case import Case
from spformats.testing.compare import same_bits
from spformats.testing.matrices import DTYPES, edge_matrices


def check_format(format: Any, *, dtypes: Any = DTYPES, products: bool = True, **layout: Any) -> int:
    """Check a format against everything `SparseArray` promises; raise AssertionError at the first broken promise.

    For every edge matrix (`edge_matrices`) and value type: shape, dtype, nnz and nbytes; the round trip through CSR,
    NumPy and SciPy; the constructor; transpose, adjoint and conjugate; astype, copy, deepcopy and pickle; read-only
    storage, and a source that stays as it was; products with vectors, columns and matrices from both sides.

    A format may refuse oblong matrices by a ValueError that says "square". One that stores zeros inside its structure
    says where by ``_diagonals``, by ``blocksize`` or by a method ``_slots() -> (rows, cols)``: only there may a NaN in
    x meet them.

    Parameters
    ----------
    format : str or class
        Name of a format, or the class (a subclass of `SparseArray`).
    dtypes : iterable of dtype
        Value types to check; all four by default.
    products : bool
        Whether to check products too (with whichever kernel dispatch chooses).
    **layout
        Layout options for ``from_csr`` (``blocksize=``, ``bsize=``, ``sigma=``, ``symmetric=``).

    Returns
    -------
    int
        How many matrices were checked.

    Raises
    ------
    AssertionError
        For the first broken promise; the message names the format, the matrix and what differs.

    Examples
    --------
    >>> from spformats.testing import check_format
    >>> check_format("bsr", blocksize=(2, 3), dtypes=["float64"]) > 20
    True
    """
    from spformats.formats.base import SparseArray, format_class

    cls = format_class(format) if isinstance(format, str) else format
    title = f"format {cls.format!r}" + (f" {layout}" if layout else "")
    assert issubclass(cls, SparseArray), f"{title}: {cls!r} is not a subclass of spformats.SparseArray"
    assert format_class(cls.format) is cls, f"{title}: the name {cls.format!r} belongs to {format_class(cls.format)!r}"
    assert cls.components[:1] == ("data",), f"{title}: components must begin with 'data', got {cls.components}"
    checked = 0
    for dtype in map(np.dtype, dtypes):
        for edge in edge_matrices(dtype, nonfinite=True):
            matrix = edge.matrix
            before = [part.copy() for part in (matrix.data, *matrix.coords)]
            edge, A = built(cls, edge, layout)
            after = (matrix.data, *matrix.coords)
            case = Case(f"{title}, matrix {edge.name!r} {edge.matrix.shape} {dtype}", A, edge.dense())
            assert all(map(same_bits, before, after)), f"{case.where}: from_csr changed the arrays of its source"
            if A is None:
                continue
            checked += 1
            for check in format_storage.CHECKS:
                _named(check, case)
            if products and np.isfinite(case.dense).all():
                for check in format_products.CHECKS:
                    _named(check, case)
    assert checked, f"{title}: refused every matrix"
    return checked


def _named(check: Callable[[Case], None], case: Case) -> None:
    """Run one check; an exception becomes an AssertionError that says what was being checked."""
    try:
        check(case)
    except AssertionError:
        raise
    except Exception as error:
        what = (check.__doc__ or check.__name__).splitlines()[0].rstrip(".")
        raise AssertionError(f"{case.where}: while checking {what!r}: {type(error).__name__}: {error}") from error
