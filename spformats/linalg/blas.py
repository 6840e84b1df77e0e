"""The BLAS form of the papers: ``y ← alpha·op(A)·x + beta·y``."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats import SparseArray
from spformats.linalg.products import check_operand

_REAL = {int, float}
_TRANS = ("N", "T", "C")


def spmv(A: SparseArray, x: Any, y: Any = None, alpha: Any = 1, beta: Any = 0, trans: str = "N") -> Any:
    """Sparse matrix times vector (or matrix), accumulated into y.

    Parameters
    ----------
    A : SparseArray
    x : array, shape (m,) or (m, k); (n,) or (n, k) for a transposed product
    y : array, optional
        Updated in place; of the product's shape and dtype. Allocated where left out.
    alpha, beta : scalar
        With ``beta == 0`` the old values of y are never read.
    trans : {"N", "T", "C"}
        A itself, its transpose, its adjoint.

    Returns
    -------
    y : array

    Raises
    ------
    ValueError
        If shapes do not match, y is read-only, or ``beta`` is given without y.
    TypeError
        If A is not a SparseArray or y not an array, alpha or beta is no number, y has another dtype than the product,
        or a complex scalar meets real operands.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> y = np.array([1.0, 1.0, 1.0])
    >>> sf.spmv(A, np.ones(3), y, alpha=2.0, beta=10.0)
    array([12., 10., 12.])
    """
    plain = type(x) is type(y) is np.ndarray and type(alpha) in _REAL and type(beta) in _REAL
    if plain and isinstance(A, SparseArray) and trans in _TRANS:
        owner, fitting = dispatch.fitting_key(A, x, y, trans)
        product = owner._plans.get(fitting)
        if product is not None and y.flags.writeable and _are_apart(x, y):
            return product(owner, x, y, alpha, beta)
    if not isinstance(A, SparseArray):
        raise TypeError(f"A must be a SparseArray, got {type(A).__name__}; spformats.asarray(A) makes one")
    if trans not in _TRANS:
        raise ValueError(f"trans must be 'N', 'T' or 'C', got {trans!r}")
    given = x
    x = check_operand(A, x, trans)
    xp = A._library
    dtype = xp.result_type(A.dtype, x.dtype)
    for name, value in (("alpha", alpha), ("beta", beta)):
        _check_scalar(name, value, dtype)
    shape = (A.shape[0] if trans == "N" else A.shape[1], *x.shape[1:])
    if y is None:
        if beta != 0:
            raise ValueError(f"beta = {beta!r} scales y, but no y was given")
    else:
        if not hasattr(y, "shape") or not hasattr(y, "dtype"):
            raise TypeError(f"y is updated in place, so it must be an array, got {type(y).__name__}")
        if tuple(y.shape) != tuple(shape):
            raise ValueError(f"y must have the product's shape {tuple(shape)}, got {tuple(y.shape)}")
        if y.dtype != dtype:
            raise TypeError(f"y must have the product's dtype {dtype}, got {y.dtype}")
        if isinstance(y, np.ndarray):
            if not y.flags.writeable:
                raise ValueError("y is read-only; pass a writable array, or leave y out")
            if not _are_apart(x, y):
                x = x.copy()
    base, product = dispatch.prepared("spmv" if x.ndim == 1 else "spmm", A, x, trans)
    if plain and x is given and base is owner:  # a later product with operands like these needs none of the checks
        owner._plans[fitting] = product
    return product(base, x, y, alpha, beta)


def _are_apart(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays share no memory."""
    return (x.flags.owndata and y.flags.owndata and x is not y) or not np.may_share_memory(x, y)


def _check_scalar(name: str, value: Any, dtype: Any) -> None:
    """Refuse what is no number (an array of no dimensions is one), and a complex number in a real product."""
    if not isinstance(value, Number) and getattr(value, "shape", None) != ():
        raise TypeError(f"{name} must be a number, got {value!r}")
    if "complex" in str(getattr(value, "dtype", type(value))) and "complex" not in str(dtype):
        raise TypeError(f"{name} = {value!r} is complex, but the product is {dtype}; make x or A complex")
