"""The operators: ``@`` through dispatch, ``+ - * /`` that keep the structure where the mathematics does."""

from __future__ import annotations

import functools
import math
import numbers
from typing import Any

import numpy as np
from scipy.sparse import issparse

from spformats.dispatch import plan_key
from spformats.formats.device import at_home


@functools.cache
def _products() -> Any:
    """`spformats.linalg.products`, which imports the formats and so this module: an import statement in a product
    would cost it a microsecond."""
    from spformats.linalg import products

    return products


def _is_scalar(x: Any) -> bool:
    return isinstance(x, numbers.Number | np.generic) or (hasattr(x, "dtype") and getattr(x, "ndim", None) == 0)


def _is_sparse(x: Any) -> bool:
    return hasattr(type(x), "components") or issparse(x) or type(x).__module__.startswith("cupyx.scipy.sparse")


def _sparse(x: Any) -> Any:
    """One of our arrays, from ours or anybody's sparse matrix."""
    if hasattr(type(x), "components"):
        return x
    from spformats.interop.asarray import asarray

    return asarray(x)


class Operators:
    """Arithmetic of `SparseArray`."""

    __slots__ = ()
    #: NumPy and CuPy arrays and scalars then leave ``x @ A`` and ``x * A`` to the methods below.
    __array_ufunc__ = None

    # ------------------------------------------------------------------ products
    def __matmul__(self: Any, x: Any) -> Any:
        if type(x) is np.ndarray and 0 < x.ndim < 3 and len(x) == self.shape[1]:
            if x.ndim == 2 and x.shape[1] == 1:  # solvers hand over (n, 1): that is a vector
                return (self @ x[:, 0]).reshape(-1, 1)
            product = self._plans.get(plan_key("spmv" if x.ndim == 1 else "spmm", x, "N"))
            if product is not None and x.size:  # an operand like this one has been checked and multiplied before
                return product(self, x, None, 1, 0)
        return self._times(x, "N")

    def __rmatmul__(self: Any, x: Any) -> Any:
        if _is_sparse(x):
            return _sparse(x) @ self
        if _is_operator(x):
            return x @ self._as_operator()
        x = self._as_dense_operand(x)
        if x.ndim == 1:
            return self._times(x, "T")
        if x.ndim != 2:
            raise ValueError(f"x @ A: x must be 1-D or 2-D, got shape {tuple(x.shape)}")
        return self._times(x.T, "T").T

    def _times(self: Any, x: Any, trans: str) -> Any:
        products = _products()
        if type(x) is np.ndarray and x.ndim:
            return products.dense_product(self, x, trans)
        if _is_sparse(x):
            return products.sparse_product(self._op(trans), _sparse(x))
        if _is_operator(x):
            return self._op(trans)._as_operator() @ x
        return products.dense_product(self, self._as_dense_operand(x), trans)

    def _op(self: Any, trans: str) -> Any:
        return self if trans == "N" else self._transpose_of(trans)

    def _as_dense_operand(self: Any, x: Any) -> Any:
        """Lists and np.matrix become arrays of NumPy; a scalar is refused."""
        if _is_scalar(x):
            raise ValueError(f"@ needs a vector or matrix, got the scalar {x!r}; use * to scale")
        return np.asarray(x) if isinstance(x, list | tuple | np.matrix) or not hasattr(x, "ndim") else x

    def dot(self: Any, x: Any) -> Any:
        """``A @ x``; a scalar ``x`` scales."""
        return self * x if _is_scalar(x) else self @ x

    def __pow__(self: Any, power: Any) -> Any:
        """Every stored value to a positive power; see `spformats.linalg.matrix_power` for ``A @ A @ …``."""
        return _apply("pow", self, power)

    def __rpow__(self: Any, base: Any) -> Any:
        return _apply("pow", base, self)

    # ------------------------------------------------------------------ scaling
    def __mul__(self: Any, x: Any) -> Any:
        if _is_scalar(x) and abs(x) < math.inf:  # inf and NaN must not reach padding
            return self._scaled(x)
        if _is_operator(x):  # among operators * is composition
            return self @ x
        return _apply("multiply", self, x)

    __rmul__ = __mul__

    def multiply(self: Any, x: Any) -> Any:
        """Elementwise product, as SciPy names it."""
        return self * x

    def __truediv__(self: Any, x: Any) -> Any:
        if isinstance(x, numbers.Number | np.generic) and x != 0 and x == x:
            return self._with_values(lambda v: v / x)
        return _apply("divide", self, x)

    def __rtruediv__(self: Any, x: Any) -> Any:
        return _apply("divide", x, self)

    def __neg__(self: Any) -> Any:
        return self._with_values(lambda v: -v)

    def __pos__(self: Any) -> Any:
        return self

    def __abs__(self: Any) -> Any:
        return self._with_values(abs)

    @at_home
    def _scaled(self: Any, factor: Any) -> Any:
        return self._with_values(lambda v: v * factor)

    @at_home
    def _with_values(self: Any, change: Any) -> Any:
        """The same layout with every stored value changed by a function that keeps zero."""
        if self._source is not None:  # change the values below the view
            base, taken = self._source
            return (base if taken == "T" else base._conjugated())._with_values(change)._transpose_of("T")
        return self._with_data(change(self.data))

    # ------------------------------------------------------------------ sums
    def __add__(self: Any, x: Any) -> Any:
        return self._sum(x, 1, 1)

    def __radd__(self: Any, x: Any) -> Any:
        return self._sum(x, 1, 1)

    def __sub__(self: Any, x: Any) -> Any:
        return self._sum(x, 1, -1)

    def __rsub__(self: Any, x: Any) -> Any:
        return self._sum(x, -1, 1)

    def _sum(self: Any, x: Any, alpha: int, beta: int) -> Any:
        """alpha·A + beta·x, the factors 1 or -1."""
        if _is_operator(x):
            A = self._as_operator()
            return (A if alpha == 1 else -A) + (x if beta == 1 else -x)
        if isinstance(x, int) and x == 0:  # where sum([A, B]) begins
            return self if alpha == 1 else -self
        if alpha == -1:
            return _apply("subtract", x, self)
        return _apply("add" if beta == 1 else "subtract", self, x)


def _apply(name: str, x1: Any, x2: Any) -> Any:
    from spformats.array_api.elementwise_binary import apply

    return apply(name, x1, x2)


def _is_operator(x: Any) -> bool:
    from scipy.sparse.linalg import LinearOperator

    return isinstance(x, LinearOperator) and not hasattr(type(x), "components")
