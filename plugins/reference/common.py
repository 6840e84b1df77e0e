"""What the three families share: arrays in x's namespace, and the ``alpha``, ``beta`` tail."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

Array = Any  # any array of an array-API namespace: no library has a common base class


def in_namespace(part: Array, x: Array) -> Array:
    """`part` as an array of x's namespace; the same object when it already is one.

    A matrix stored in NumPy may meet a vector of another CPU library. The copy keeps read-only storage out of libraries
    that know no read-only arrays.
    """
    xp = array_namespace(x)
    own = array_namespace(part)
    if own is xp:
        return part
    return xp.asarray(own.asarray(part, copy=True), device=device(x))


def adopt(A: Any, x: Array, name: str) -> Array:
    """Component `name` of A in x's namespace, converted once per object."""
    part = getattr(A, name)
    xp = array_namespace(x)
    if array_namespace(part) is xp:
        return part
    return A._plan(("reference", xp.__name__, name), lambda _: in_namespace(part, x))


def is_complex(xp: Any, array: Array) -> bool:
    return xp.isdtype(array.dtype, "complex floating")


def accumulator(rows: tuple[int, ...], data: Array, x: Array) -> Array:
    """Zeros of shape ``rows + x.shape[1:]`` in the result type of a matrix with values `data` times `x`."""
    xp = array_namespace(x)
    return xp.zeros(rows + tuple(x.shape[1:]), dtype=xp.result_type(data.dtype, x.dtype), device=device(x))


def finish(acc: Array, y: Array | None, alpha: complex, beta: complex) -> Array:
    """``y <- alpha * acc + beta * y``; y is never read when `beta` is 0, and allocated when it is None."""
    xp = array_namespace(acc)
    if isinstance(alpha, complex) and not is_complex(xp, acc):
        acc = xp.astype(acc, xp.result_type(acc.dtype, xp.complex64))
    if alpha != 1:
        acc = alpha * acc
    if y is None:
        return acc
    if beta != 0:
        acc = acc + beta * y
    y[...] = xp.astype(acc, y.dtype, copy=False)
    return y
