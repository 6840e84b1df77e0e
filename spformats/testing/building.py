"""Test matrices in the format under test."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from spformats.testing.matrices import EdgeMatrix, fitted


def build(cls: Any, matrix: sp.coo_array, layout: dict[str, Any]) -> Any:
    """The SciPy matrix in the format `cls`, through the format's own ``from_csr``."""
    from spformats import asarray

    return cls.from_csr(asarray(matrix, format="csr"), **layout)


def built(cls: Any, case: EdgeMatrix, layout: dict[str, Any]) -> tuple[EdgeMatrix, Any]:
    """The case fitted to the layout and its array; None where a format of square matrices refuses an oblong one.

    Raises
    ------
    AssertionError
        If the format refuses for any other reason.
    """
    case = fitted(case, layout)
    try:
        return case, build(cls, case.matrix, layout)
    except Exception as error:
        oblong = case.matrix.shape[0] != case.matrix.shape[1]
        if oblong and isinstance(error, ValueError) and "square" in str(error):
            return case, None
        raise AssertionError(
            f"{cls.__name__}.from_csr on the matrix {case.name!r} {case.matrix.shape} {case.matrix.dtype}, "
            f"layout {layout}: {type(error).__name__}: {error}"
        ) from error
