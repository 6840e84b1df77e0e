"""Run a product: the kernel is looked up once for each matrix and kind of operand, then kept with the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spformats.dispatch.registry import generation, namespace_of, select
from spformats.dispatch.settings import current_config


def plan_key(operation: str, x: Any, trans: str) -> tuple[Any, ...]:
    """What a prepared product is kept by in ``A._plans``: all that the choice of its kernel depends on beside A."""
    return operation, type(x), x.dtype, trans, current_config(), generation()


def fitting_key(A: Any, x: Any, y: Any, trans: str) -> tuple[Any, tuple[Any, ...]]:
    """The array that has A's values, and what a product into y is kept by in its plans once these operands fit A.

    In its plans, not in those of a view: they are cleared where the values are written in place.
    """
    owner, taken = A._source or (A, None)
    return owner, (taken, x.shape, y.shape, x.dtype, y.dtype, trans, current_config(), generation())


def run(operation: str, A: Any, x: Any, y: Any = None, alpha: Any = 1, beta: Any = 0, trans: str = "N") -> Any:
    """Run a product ``y ← alpha·op(A)·x + beta·y``; the operands have been checked by the caller.

    x and y share no memory.
    """
    A, product = prepared(operation, A, x, trans)
    return product(A, x, y, alpha, beta)


def prepared(operation: str, A: Any, x: Any, trans: str) -> tuple[Any, Callable[..., Any]]:
    """The matrix that keeps A's values, and ``product(matrix, x, y, alpha, beta)``, op(A) times operands like x."""
    source = A._source
    if source is not None:
        base, taken = source
        if trans == "N":
            A, trans = base, taken
        elif trans == taken or not A._is_complex:
            A, trans = base, "N"
        else:  # the adjoint of a transpose, or the transpose of an adjoint, is the conjugate
            A, trans = base._conjugated(), "N"
    key = plan_key(operation, x, trans)
    plans = A._plans
    product = plans.get(key)
    if product is None:
        product = plans[key] = _prepared(operation, A, type(x), x.dtype, trans)
    return A, product


def _prepared(operation: str, A: Any, array_type: type, dtype: Any, trans: str) -> Callable[..., Any]:
    if _holds_integers(A.dtype) and not _holds_integers(dtype):
        # kernels know floating-point values only; the converted array serves every later product
        from spformats.linalg.integer_products import as_floating

        floating = as_floating(A, dtype)
        product = _prepared(operation, floating, array_type, dtype, trans)
        return lambda A, x, y, alpha, beta: product(floating, x, y, alpha, beta)
    kernel = select(operation, A, namespace_of(array_type), dtype, trans)
    function = kernel.function
    if kernel.prepare:
        return function(A, dtype, trans)
    return lambda A, x, y, alpha, beta: function(A, x, y, alpha, beta, trans)


def _holds_integers(dtype: Any) -> bool:
    name = str(dtype)
    return "int" in name or "bool" in name


def call(operation: str, A: Any, *operands: Any) -> Any:
    """Run the kernel of any other operation: ``kernel(A, *operands)``, chosen by A's format and array namespace."""
    return select(operation, A, A._namespace, *operands).function(A, *operands)
