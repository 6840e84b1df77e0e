"""Which arrays are ours, and whose functions take the arrays inside them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import array_api_compat
import numpy as np

Array = Any  # a SparseArray, or an array of a storage namespace: no library has a common base class


def is_sparse(x: Any) -> bool:
    """Whether this is a `SparseArray`."""
    return hasattr(type(x), "components")


def is_dense(x: Any) -> bool:
    """Whether this is an array of a storage namespace (not a Python scalar)."""
    return hasattr(x, "dtype") and hasattr(x, "shape") and not is_sparse(x) and not isinstance(x, type)


@functools.cache
def compat(namespace: str) -> Any:
    """The namespace of a library of this name, spelled as the standard spells it."""
    if namespace == "numpy":
        import array_api_compat.numpy as xp
    elif namespace == "cupy":
        import array_api_compat.cupy as xp  # type: ignore[no-redef]
    elif namespace == "torch":
        import array_api_compat.torch as xp  # type: ignore[no-redef]
    else:
        import importlib

        return importlib.import_module(namespace)
    return xp


def storage(*arrays: Any) -> Any:
    """The namespace, spelled as the standard spells it, of the arrays inside the first array of these; else NumPy's."""
    for x in arrays:
        if is_sparse(x):
            return compat(x._namespace)
        if is_dense(x):
            return compat("numpy") if isinstance(x, np.ndarray | np.generic) else _foreign(x)
    return compat("numpy")


def _foreign(x: Any) -> Any:
    try:
        return array_api_compat.array_namespace(x)
    except TypeError as error:
        hint = "; spformats.asarray(A) makes one" if hasattr(x, "tocsr") else ""
        raise TypeError(f"{error}{hint}") from None


def sparse(x: Any) -> Any:
    """One of our arrays as it is, anybody else's sparse matrix converted; everything else as it is."""
    if is_sparse(x) or isinstance(x, np.ndarray | np.generic | int | float | complex | list | tuple):
        return x
    from scipy.sparse import issparse

    if issparse(x) or type(x).__module__.startswith("cupyx.scipy.sparse"):
        from spformats.interop.asarray import asarray

        return asarray(x)
    return x


def structural(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function that moves entries about on NumPy where the arrays' own library cannot scatter.

    NumPy and CuPy arrays are worked on where they are. Others (torch, array_api_strict) live on the CPU too; the
    standard has no word for scattering, so they are handed to NumPy and back.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        foreign = next((x for x in _walk(args, kwargs) if is_sparse(x) and x._namespace not in ("numpy", "cupy")), None)
        if foreign is None:
            return function(*args, **kwargs)
        xp = foreign._library
        result = function(*_each(args, _to_numpy), **{k: _each(v, _to_numpy) for k, v in kwargs.items()})
        return _each(result, lambda x: _to_library(x, xp))

    return run


def _walk(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    for x in (*args, *kwargs.values()):
        if isinstance(x, list | tuple):
            yield from x
        else:
            yield x


def _each(x: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(_each(v, change) for v in x))
    if isinstance(x, list | tuple):
        return type(x)(_each(v, change) for v in x)
    return change(x)


def _to_numpy(x: Any) -> Any:
    if is_sparse(x):
        return x.to_namespace(np)
    if is_dense(x) and not isinstance(x, np.ndarray | np.generic):
        from spformats.interop.devices import to_numpy

        return to_numpy(x)
    return x


def _to_library(x: Any, xp: Any) -> Any:
    if is_sparse(x):
        return x.to_namespace(xp)
    if isinstance(x, np.ndarray | np.generic):
        return xp.asarray(np.array(x))
    return x
