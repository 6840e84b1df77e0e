"""Elementwise functions of one array, made from a table.

A function with f(0) = 0 is applied to the stored values and keeps the format and its layout; padding and filled-in
zeros are zeros still. One with f(0) ≠ 0 has a dense result, which `densify` refuses or allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats.array_api.densify import permit
from spformats.array_api.namespaces import Array, is_sparse, storage
from spformats.formats import _arrays
from spformats.formats.device import at_home

# what each does, for its docstring; all of these have f(0) = 0
_KEEPS_ZERO = {
    "abs": "absolute value",
    "asin": "inverse sine",
    "asinh": "inverse hyperbolic sine",
    "atan": "inverse tangent",
    "atanh": "inverse hyperbolic tangent",
    "ceil": "smallest integer not below each element",
    "conj": "complex conjugate",
    "expm1": "exp(x) - 1",
    "floor": "largest integer not above each element",
    "imag": "imaginary part",
    "isinf": "whether each element is infinite",
    "isnan": "whether each element is NaN",
    "log1p": "log(1 + x)",
    "negative": "-x",
    "positive": "+x",
    "real": "real part",
    "round": "nearest integer, halves to even",
    "sign": "sign",
    "signbit": "whether the sign bit is set",
    "sin": "sine",
    "sinh": "hyperbolic sine",
    "sqrt": "principal square root",
    "square": "x * x",
    "tan": "tangent",
    "tanh": "hyperbolic tangent",
    "trunc": "integer nearest to zero beside each element",
}
_FILLS = {
    "acos": ("inverse cosine", "acos(0) is π/2"),
    "acosh": ("inverse hyperbolic cosine", "acosh(0) is not 0"),
    "bitwise_invert": ("bitwise complement", "the complement of 0 has all bits set"),
    "cos": ("cosine", "cos(0) is 1"),
    "cosh": ("hyperbolic cosine", "cosh(0) is 1"),
    "exp": ("exponential", "exp(0) is 1"),
    "isfinite": ("whether each element is finite", "0 is finite"),
    "log": ("natural logarithm", "log(0) is -inf"),
    "log10": ("logarithm to base 10", "log(0) is -inf"),
    "log2": ("logarithm to base 2", "log(0) is -inf"),
    "logical_not": ("logical not", "not 0 is True"),
    "reciprocal": ("1 / x", "1/0 is inf"),
}


_KEPT = """

    Parameters
    ----------
    x : array
        Of a data type that the standard allows here; arrays that are not sparse go to their own library.

    Returns
    -------
    array
        Sparse, in x's format and layout.

    References
    ----------
    https://data-apis.org/array-api/latest/API_specification/generated/array_api.NAME.html

    Examples
    --------
    >>> import spformats as sf
    >>> sf.NAME(sf.eye(3) / 2).format
    'cds'
    """
_DENSE = """

    Parameters
    ----------
    x : array
        Of a data type that the standard allows here; arrays that are not sparse go to their own library.

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    References
    ----------
    https://data-apis.org/array-api/latest/API_specification/generated/array_api.NAME.html

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.NAME(MATRIX).shape
    (3, 3)
    """


def over_stored(x: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function with f(0) = 0 to the stored values; a lazy transpose stays lazy."""
    source = x._source
    if source is not None:
        base, taken = source
        if taken == "T":
            return over_stored(base, function)._transpose_of("T")
        x.data  # noqa: B018 (reading a part makes the parts of a lazy adjoint)
    data = held(function, x.data)
    if data is x.data:
        return x
    return x._with_data(laid_out_like(data, x.data))


def held(function: Callable[..., Any], *operands: Any) -> Any:
    """The function's values in a data type that formats hold: NumPy answers float16 for bool and 8-bit integers."""
    result = function(*operands)
    if getattr(result.dtype, "char", "") != "e":
        return result
    return function(*(x.astype(np.float32) if hasattr(x, "dtype") else x for x in operands))


def laid_out_like(data: Any, model: Any) -> Any:
    """The values laid out as the stored ones are: real parts, for one, come as a view with gaps."""
    strides, itemsize = getattr(data, "strides", None), getattr(data, "itemsize", None)
    if not isinstance(strides, tuple) or not isinstance(itemsize, int) or not strides:
        return data
    wanted = tuple(s // model.itemsize * itemsize for s in model.strides)
    if strides == wanted or data.shape != model.shape:
        return data
    out = _arrays.xp_of(data).empty_like(model, dtype=data.dtype)
    out[...] = data
    return out


def _keeper(name: str, text: str) -> Callable[..., Any]:
    @at_home
    def function(x: Array, /) -> Array:
        f = getattr(storage(x), name)
        return over_stored(x, f) if is_sparse(x) else f(x)

    summary = f"{sentence(text)}, elementwise; a sparse array keeps its format and its pattern."
    return named(function, name, summary + _KEPT)


def _filler(name: str, text: str, why: str) -> Callable[..., Any]:
    @at_home
    def function(x: Array, /) -> Array:
        f = getattr(storage(x), name)
        if not is_sparse(x):
            return f(x)
        permit(f"{name} of a sparse array", why, x.shape, held(f, storage(x).ones((1,), dtype=x.dtype)).dtype)
        return held(f, x.todense())

    summary = f"{sentence(text)}, elementwise. Dense, because {why}: see `spformats.config`."
    matrix = "sf.eye(3, dtype=bool)" if name in ("bitwise_invert", "logical_not") else "sf.eye(3)"
    return named(function, name, summary + _DENSE.replace("MATRIX", matrix))


def sentence(text: str) -> str:
    """The text with a capital at its beginning, unless a formula stands there."""
    return text if text.startswith(("exp(", "log(", "x")) else text[0].upper() + text[1:]


def named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """The function under its name of the standard; ``NAME`` in its documentation becomes that name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc.replace("NAME", name)
    return function


globals().update({name: _keeper(name, text) for name, text in _KEEPS_ZERO.items()})
globals().update({name: _filler(name, *text) for name, text in _FILLS.items()})
