"""Data types and their functions. The dtypes are NumPy's; arrays of other libraries are given their own by name."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from spformats.array_api.namespaces import Array, compat, is_dense, is_sparse, storage
from spformats.formats.device import at_home

# NumPy's scalar types, as NumPy's own namespace has them: of np.dtype objects, the one of float64 equals None
bool = np.bool_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float32, float64, complex64, complex128 = np.float32, np.float64, np.complex64, np.complex128


#: Libraries with data types of their own.
_FOREIGN = ("torch", "array_api_strict")


def native(dtype: Any, xp: Any) -> Any:
    """The dtype as the library ``xp`` spells it: ours are NumPy's."""
    if dtype is None:
        return None
    if xp.__name__.rpartition(".")[2] in ("numpy", "cupy"):
        # "torch.float64", "array_api_strict.bool": a dtype of another library goes by its name
        return dtype if isinstance(dtype, np.dtype | type | str) else np.dtype(str(dtype).rpartition(".")[2])
    return getattr(xp, np.dtype(dtype).name) if isinstance(dtype, np.dtype | type) else dtype


def on_numpy(dtype: Any) -> tuple[Any, Any]:
    """A dtype as NumPy's, and the namespace it belongs to where that is neither NumPy's nor CuPy's.

    A dtype of another library asks for an array of that library: generic code writes ``dtype=x.dtype``.
    """
    module = type(dtype).__module__.partition(".")[0]
    if module not in _FOREIGN:
        return dtype, None
    return np.dtype(str(dtype).rpartition(".")[2]), compat(module)


def _plain(x: Any) -> Any:
    """A dtype for an array or dtype of any library, a Python scalar as it is."""
    return x.dtype if is_sparse(x) else x


@at_home
def astype(x: Array, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Array:
    """The array with another data type; a sparse array keeps its format and its pattern.

    Parameters
    ----------
    x : array
    dtype : dtype
    copy : bool
        False shares the values where the data type is x's already.
    device : optional
        Where the result goes, as in ``A.to_device``.

    Returns
    -------
    array
        Sparse, in x's format.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.astype(sf.eye(2), sf.float32)
    <CDS 2×2 float32, nnz=2>
    """
    if not is_sparse(x):
        xp = storage(x)
        moved = xp.astype(xp.asarray(x) if isinstance(x, np.generic) else x, native(dtype, xp), copy=copy)
        return moved if device is None else xp.asarray(moved, device=device)
    cast = x.astype(native(dtype, storage(x)), copy=copy)
    return cast if device is None else cast.to_device(device)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether the standard's promotion rules take one data type to another.

    Parameters
    ----------
    from_ : dtype or array
    to : dtype

    Returns
    -------
    bool

    Examples
    --------
    >>> import spformats as sf
    >>> sf.can_cast(sf.float32, sf.float64)
    True
    """
    from_, xp = _plain(from_), _library(from_, to)
    return builtins.bool(xp.can_cast(native(from_, xp) if not is_dense(from_) else from_, native(to, xp)))


class FloatLimits(NamedTuple):
    """Machine limits of a floating-point data type (for a complex one, of its parts)."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


def finfo(type: Any, /) -> FloatLimits:
    """Machine limits of a floating-point data type, or of an array's.

    Parameters
    ----------
    type : dtype or array

    Returns
    -------
    FloatLimits
        ``bits, eps, max, min, smallest_normal, dtype``.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.finfo(sf.float32).bits
    32
    """
    xp = _library(type)
    _must_be(type, xp, ("real floating", "complex floating"), "finfo needs a floating-point data type")
    limits = xp.finfo(native(_plain(type), xp) if not is_dense(type) else type)
    eps, largest, least, normal = (float(getattr(limits, name)) for name in ("eps", "max", "min", "smallest_normal"))
    return FloatLimits(int(limits.bits), eps, largest, least, normal, limits.dtype)


def _must_be(thing: Any, xp: Any, kind: Any, what: str) -> None:
    """Refuse an array or a data type of another kind than this."""
    dtype = native(thing.dtype if is_sparse(thing) or is_dense(thing) else thing, xp)
    if not xp.isdtype(np.dtype(dtype) if isinstance(dtype, str | type) else dtype, kind):
        raise ValueError(f"{what}, got {getattr(dtype, '__name__', dtype)}")


def iinfo(type: Any, /) -> Any:
    """Machine limits of an integer data type, or of an array's.

    Parameters
    ----------
    type : dtype or array

    Returns
    -------
    object
        ``bits, max, min, dtype``.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.iinfo(sf.int32).max
    2147483647
    """
    xp = _library(type)
    _must_be(type, xp, "integral", "iinfo needs an integer data type")
    return xp.iinfo(native(_plain(type), xp) if not is_dense(type) else type)


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a data type is of a kind: ``"real floating"``, ``"integral"``, another data type, or a tuple of these.

    Parameters
    ----------
    dtype : dtype
    kind : str, dtype or tuple of these

    Returns
    -------
    bool

    Examples
    --------
    >>> import spformats as sf
    >>> sf.isdtype(sf.float32, "real floating")
    True
    """
    return builtins.bool(_library(dtype).isdtype(dtype, kind))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The data type that arrays, data types and Python scalars promote to.

    Parameters
    ----------
    *arrays_and_dtypes : arrays, dtypes, Python scalars

    Returns
    -------
    dtype

    Examples
    --------
    >>> import spformats as sf
    >>> sf.result_type(sf.eye(2, dtype=sf.float32), sf.complex64)
    dtype('complex64')
    """
    xp = _library(*arrays_and_dtypes)
    return xp.result_type(*(x if is_dense(x) else _native_or_scalar(_plain(x), xp) for x in arrays_and_dtypes))


def _native_or_scalar(x: Any, xp: Any) -> Any:
    return x if isinstance(x, int | float | complex) else native(x, xp)


def _library(*things: Any) -> Any:
    """The namespace arrays and data types belong to; a data type tells by its module."""
    for x in things:
        if is_sparse(x) or is_dense(x):
            return storage(x)
        module = type(x).__module__.partition(".")[0]
        if module in _FOREIGN:
            return compat(module)
    return storage()
