"""What all products share: the accumulator, and the ``alpha``, ``beta`` tail."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

Array = Any  # any array of an array-API namespace: no library has a common base class


def is_complex(xp: Any, array: Array) -> bool:
    return xp.isdtype(array.dtype, "complex floating")


def accumulator(rows: tuple[int, ...], data: Array, x: Array) -> Array:
    """Zeros of shape ``rows + x.shape[1:]`` in the result type of a matrix with values `data` times `x`."""
    xp = array_namespace(x)
    return xp.zeros(rows + tuple(x.shape[1:]), dtype=xp.result_type(data.dtype, x.dtype), device=device(x))


def finish(acc: Array, y: Array | None, alpha: complex, beta: complex) -> Array:
    """``y <- alpha * acc + beta * y``; y is never read when `beta` is 0, and allocated when it is None."""
    xp = array_namespace(acc)
    # Python numbers take the array's precision, where a NumPy scalar would give it its own
    number: Any = complex if is_complex(xp, acc) else float
    if alpha != 1:
        acc = number(alpha) * acc
    if y is None:
        return acc
    if beta != 0:
        acc = acc + number(beta) * y
    y[...] = acc
    return y
