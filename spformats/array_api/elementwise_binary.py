"""Elementwise functions of two arrays, made from a table.

Two sparse arrays meet over the union of their patterns, or over the intersection where f(x, 0) = f(0, x) = 0. A
scalar or a dense array keeps the pattern of the sparse one where f(0, other) is 0 everywhere. Anything else is dense by
nature.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from spformats.array_api.densify import permit
from spformats.array_api.elementwise_unary import held, named, over_stored, sentence
from spformats.array_api.namespaces import Array, is_dense, is_sparse, sparse, storage, structural
from spformats.array_api.patterns import INTERSECTION, UNION, combine
from spformats.formats import BSR, ELL, PJAD, _arrays
from spformats.formats.device import at_home

DENSE = "dense"

# name -> (where two sparse arrays' result is stored, what it does)
_TABLE = {
    "add": (UNION, "sum"),
    "atan2": (UNION, "angle of the point (x2, x1)"),
    "bitwise_and": (INTERSECTION, "bitwise and"),
    "bitwise_left_shift": (UNION, "x1 shifted left by x2 bits"),
    "bitwise_or": (UNION, "bitwise or"),
    "bitwise_right_shift": (UNION, "x1 shifted right by x2 bits"),
    "bitwise_xor": (UNION, "bitwise exclusive or"),
    "copysign": (UNION, "x1 with the sign of x2"),
    "divide": (DENSE, "quotient"),
    "equal": (DENSE, "x1 == x2"),
    "floor_divide": (DENSE, "quotient rounded down"),
    "greater": (UNION, "x1 > x2"),
    "greater_equal": (DENSE, "x1 >= x2"),
    "hypot": (UNION, "square root of x1² + x2²"),
    "less": (UNION, "x1 < x2"),
    "less_equal": (DENSE, "x1 <= x2"),
    "logaddexp": (DENSE, "log(exp(x1) + exp(x2))"),
    "logical_and": (INTERSECTION, "logical and"),
    "logical_or": (UNION, "logical or"),
    "logical_xor": (UNION, "logical exclusive or"),
    "maximum": (UNION, "larger of two"),
    "minimum": (UNION, "smaller of two"),
    "multiply": (INTERSECTION, "product"),
    "nextafter": (UNION, "next number after x1 towards x2"),
    "not_equal": (UNION, "x1 != x2"),
    "pow": (DENSE, "x1 to the power x2"),
    "remainder": (DENSE, "remainder of x1 / x2, with the sign of x2"),
    "subtract": (UNION, "difference"),
}


_ABOUT = """

    Parameters
    ----------
    x1, x2 : arrays or Python scalars
        At least one array; their shapes broadcast.

    Returns
    -------
    array
        Sparse in the operands' common structure; beside a scalar or a dense array, in the sparse one's format where the
        function is 0 at every 0. Else dense.

    Raises
    ------
    DensifyError
        If the result is dense, outside ``with spformats.config(densify=True)``; the message gives the bytes.

    References
    ----------
    https://data-apis.org/array-api/latest/API_specification/generated/array_api.NAME.html

    Examples
    --------
    >>> import spformats as sf
    """
_SPARSE = """>>> sf.NAME(sf.eye(3), sf.eye(3, k=1)).format
    'cds'
    """
_INTEGERS = """>>> sf.NAME(sf.eye(3, dtype=int), sf.eye(3, k=1, dtype=int)).format
    'cds'
    """
_DENSE = """>>> with sf.config(densify=True):
    ...     sf.NAME(sf.eye(3), sf.eye(3, k=1)).shape
    (3, 3)
    """


def apply(name: str, x1: Any, x2: Any) -> Any:
    """The function of the standard of this name, by the rules at the top of this module."""
    return _applied(name, sparse(x1), sparse(x2))


@at_home
def _applied(name: str, x1: Any, x2: Any) -> Any:
    first, second = is_sparse(x1), is_sparse(x2)
    if not (first or second):
        return getattr(storage(x1, x2), name)(x1, x2)
    function = functools.partial(held, getattr(storage(x1 if first else x2), name))
    pattern = _TABLE[name][0]
    if first and second:
        return _two(name, function, x1, x2, pattern)
    if first:
        return _with_other(name, function, x1, x2, pattern, swapped=False)
    return _with_other(name, lambda a, b: function(b, a), x2, x1, pattern, swapped=True)


def _two(name: str, function: Callable[..., Any], A: Any, B: Any, pattern: str) -> Any:
    A, B = broadcast_pair(name, A, B)
    if pattern != DENSE:
        return combine(function, [A, B], pattern)
    dtype = _result_dtype(function, A, B)
    instead = "to test for equality: not spformats.any(A != B)" if name == "equal" else ""
    permit(f"{name} of two sparse arrays", f"{name}(0, 0) is not 0", A.shape, dtype, instead)
    return function(A.todense(), B.todense())


def _result_dtype(function: Callable[..., Any], A: Any, other: Any) -> Any:
    """The dtype of the result, by trying the function on ones."""
    xp = storage(A)
    one = xp.ones((1,), dtype=A.dtype)
    two = xp.ones((1,), dtype=other.dtype) if hasattr(other, "dtype") else other
    return function(one, two).dtype


def broadcast_pair(name: str, A: Any, B: Any) -> tuple[Any, Any]:
    """Two sparse arrays of one shape; rows or columns of length 1 are repeated."""
    if A.shape == B.shape:
        return A, B
    from spformats.array_api.joining import broadcast_to

    try:
        shape = np.broadcast_shapes(A.shape, B.shape)
    except ValueError:
        raise ValueError(f"{name}: shapes {A.shape} and {B.shape} do not broadcast together") from None
    return broadcast_to(A, shape), broadcast_to(B, shape)


def _with_other(name: str, function: Callable[..., Any], A: Any, other: Any, pattern: str, swapped: bool) -> Any:
    """A sparse array and a Python scalar or a dense array."""
    if isinstance(other, list | tuple):
        other = np.asarray(other)
    if not is_dense(other) and not isinstance(other, int | float | complex):
        raise TypeError(f"{name} takes arrays and numbers, got {type(other).__name__}")
    if is_dense(other) and type(A._holder.data).__module__ != type(other).__module__:
        other = _adopted(name, A, other)
    at_zero: Any = None
    if pattern != INTERSECTION:
        with np.errstate(all="ignore"):  # a question, not yet a result
            at_zero = function(A._library.zeros((1,) * max(getattr(other, "ndim", 0), 1), dtype=A.dtype), other)
    keeps = at_zero is None or not _any(at_zero)
    if getattr(other, "ndim", 0) == 0:
        if keeps:
            result = over_stored(A, lambda values: function(values, other))
            return result if name != "multiply" or _finite(other) else _padding_cleared(result)
        order = f"{name}({other}, 0)" if swapped else f"{name}(0, {other})"
        permit(f"{name} of a sparse array and {other}", f"{order} is not 0", A.shape, at_zero.dtype)
        return function(A.todense(), other)
    try:
        shape = np.broadcast_shapes(A.shape, other.shape)
    except ValueError:
        raise ValueError(f"{name}: shapes {A.shape} and {tuple(other.shape)} do not broadcast together") from None
    if len(shape) > 2:
        raise ValueError(f"{name}: a sparse array has two dimensions, but the operands broadcast to shape {shape}")
    if keeps:
        return _over_pattern(name, A, other, shape, swapped)
    if tuple(other.shape) != shape:
        # the other operand is no dense matrix of the result's size: the result would be the first
        permit(
            f"{name} of a sparse array and a dense one of shape {tuple(other.shape)}",
            f"{name} is not 0 where A is",
            shape,
            at_zero.dtype,
        )
    return function(A.todense(), other)


def _any(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return bool(values.any())
    xp = storage(values)
    return bool(xp.any(xp.astype(values, xp.bool)))


def _adopted(name: str, A: Any, other: Any) -> Any:
    if A._namespace == "numpy" and isinstance(other, np.generic):
        return other
    if isinstance(other, np.generic):
        return storage(A).asarray(other)
    ours, theirs = A._namespace, type(other).__module__.partition(".")[0]
    if ours == theirs:
        return other
    raise TypeError(
        f"{name}: the sparse array holds {ours} arrays and the operand is one of {theirs}; convert one of them"
    )


def _finite(scalar: Any) -> bool:
    number = complex(scalar)
    return math.isfinite(number.real) and math.isfinite(number.imag)


@structural
def _padding_cleared(A: Any) -> Any:
    """A with zeros in the slots that stand for no entry: 0 times an infinity has made NaN of them."""
    if A._source is not None:
        base, taken = A._source
        return _padding_cleared(base)._transpose_of(taken)
    if isinstance(A, ELL | PJAD):
        return A.to_csr().asformat(A.format, force=True, **A._layout())
    if not isinstance(A, BSR):
        return A
    (n, m), (height, width) = A.shape, A.blocksize
    data = A.data.copy()
    if n % height:
        data[int(A.indptr[-2]) :, n % height :, :] = 0
    if m % width:
        last = A._library.flatnonzero(A.indices == m // width)
        data[last, :, m % width :] = 0
    return A._with_data(data)


@structural
def _over_pattern(name: str, A: Any, other: Any, shape: tuple[int, int], swapped: bool) -> Any:
    """The function at A's stored entries only, in A's format."""
    from spformats.array_api.joining import broadcast_to

    A = broadcast_to(A, shape)
    csr = A.to_csr()
    full = csr._library.broadcast_to(other, shape)
    beside = full[_arrays.rows_of(csr.indptr), csr.indices]
    function = functools.partial(held, getattr(storage(A), name))
    data = function(beside, csr.data) if swapped else function(csr.data, beside)
    layout = A._layout()
    if layout.get("symmetric"):
        layout["symmetric"] = False  # the other operand need not be symmetric
    return csr._with_data(data).asformat(A.format, force=True, **layout)


def _binary(name: str, pattern: str, text: str) -> Callable[..., Any]:
    def function(x1: Array, x2: Array, /) -> Array:
        return apply(name, x1, x2)

    kept = {
        UNION: "Two sparse arrays: over the union of their patterns.",
        INTERSECTION: "Two sparse arrays: over the intersection of their patterns.",
        DENSE: "Dense for two sparse arrays: see `spformats.config`.",
    }[pattern]
    example = _INTEGERS if name.startswith("bitwise") else _DENSE if pattern == DENSE else _SPARSE
    return named(function, name, f"{sentence(text)}, elementwise. {kept}{_ABOUT}{example}")


globals().update({name: _binary(name, *entry) for name, entry in _TABLE.items()})
