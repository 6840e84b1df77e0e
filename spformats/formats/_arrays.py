"""Small array helpers the formats share; they work on NumPy and CuPy alike and import neither CuPy nor Numba."""

from __future__ import annotations

import sys
from typing import Any

import array_api_compat
import numpy as np

#: The value types every kernel knows, by NumPy's one-letter codes.
VALUE_TYPES = "fdFD"
INT32_MAX = 2**31 - 1


def xp_of(array: Any) -> Any:
    """The module whose functions take this array: ``numpy``, ``cupy``, or another in the standard's spelling."""
    if isinstance(array, np.ndarray):
        return np
    name = type(array).__module__.partition(".")[0]
    return sys.modules[name] if name == "cupy" else array_api_compat.array_namespace(array)


def index_dtype(*largest: int) -> type[np.signedinteger[Any]]:
    """int32 while every one of these numbers fits, int64 after."""
    return np.int32 if all(v <= INT32_MAX for v in largest) else np.int64


def value_dtype(dtype: Any) -> np.dtype[Any]:
    """The value type that holds ``dtype`` without loss: itself, or float32/float64 for integers, bool and float16."""
    dt = np.dtype(dtype).newbyteorder("=")
    if dt.char in VALUE_TYPES:
        return dt
    if dt.kind in "biu" or dt.char == "e":
        return np.result_type(dt, np.float32)
    raise TypeError(
        f"values of dtype {dt} are not supported; convert to float32, float64, complex64 or complex128 first"
    )


def storable_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype an array stores when asked for this one: a value type, or an integer or bool as it is."""
    dt = np.dtype(dtype)
    return dt.newbyteorder("=") if dt.kind in "biu" else value_dtype(dt)


def as_arrays(*parts: Any) -> tuple[Any, ...]:
    """A constructor's arguments as arrays: lists become NumPy arrays."""
    return tuple(np.asarray(part) if isinstance(part, list | tuple) else part for part in parts)


def as_values(array: Any, dtype: Any = None) -> Any:
    """The array with one of the value types, in native byte order; not copied where it already has it."""
    return array.astype(value_dtype(array.dtype if dtype is None else dtype), copy=False)


def unmasked(array: Any) -> np.ndarray[Any, Any]:
    """A plain array of a subclass of NumPy's; masked values, which no sparse product knows of, raise TypeError."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise TypeError("the array has masked values; choose what they count as first: x.filled(0)")
    return np.asarray(array)


def read_only(array: Any) -> Any:
    """A read-only view of a NumPy array; other arrays, which know no such flag, pass unchanged."""
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def rows_of(indptr: Any, dtype: Any = np.int64) -> Any:
    """Row number of each stored entry of a pointer array."""
    xp = xp_of(indptr)
    n = indptr.shape[0] - 1
    lengths = xp.diff(indptr)
    if xp is np:
        return np.repeat(np.arange(n, dtype=dtype), lengths)
    # CuPy's repeat wants host counts: mark each row's first entry, then add the marks up
    marks = xp.zeros(int(indptr[-1]) + 1, dtype=dtype)
    xp.add.at(marks, indptr[1:-1], 1)
    return xp.cumsum(marks, dtype=dtype)[:-1]


def position_in_row(indptr: Any, rows: Any) -> Any:
    """For each stored entry, its number among the entries of its row (0, 1, …)."""
    xp = xp_of(indptr)
    return xp.arange(rows.shape[0], dtype=np.int64) - indptr[rows]


def pointers(counts: Any) -> Any:
    """Running positions ``[0, c0, c0+c1, …]``, always int64."""
    xp = xp_of(counts)
    out = xp.zeros(counts.shape[0] + 1, dtype=np.int64)
    xp.cumsum(counts, out=out[1:])
    return out


def check_pointers(name: str, ptr: Any, length: int, last: int) -> None:
    """Raise ValueError unless ``ptr`` has this length, starts at 0, never falls and ends at ``last``."""
    if ptr.ndim != 1 or ptr.shape[0] != length:
        raise ValueError(f"{name} must be 1-D of length {length}, got shape {tuple(ptr.shape)}")
    if int(ptr[0]) != 0:
        raise ValueError(f"{name} must start at 0, got {name}[0] = {int(ptr[0])}")
    xp = xp_of(ptr)
    falls = xp.flatnonzero(ptr[1:] < ptr[:-1])
    if falls.shape[0]:
        i = int(falls[0])
        raise ValueError(
            f"{name} must never fall, got {name}[{i}] = {int(ptr[i])} > {name}[{i + 1}] = {int(ptr[i + 1])}"
        )
    if int(ptr[-1]) != last:
        raise ValueError(f"{name} must end at the number of stored entries, {last}, got {int(ptr[-1])}")


def check_range(name: str, values: Any, stop: int) -> None:
    """Raise ValueError naming the first of ``values`` outside ``0 <= value < stop``."""
    if values.shape[0] == 0 or (int(values.min()) >= 0 and int(values.max()) < stop):
        return
    i = int(xp_of(values).flatnonzero((values < 0) | (values >= stop))[0])
    raise ValueError(f"{name} must lie in [0, {stop}), got {name}[{i}] = {int(values[i])}")


def check_integers(name: str, array: Any) -> Any:
    """The array, or TypeError where it does not hold integers; what is empty, ``[]`` for one, holds no others."""
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must hold integers, got dtype {array.dtype}")
    return array


def check_shape(shape: Any) -> tuple[int, int]:
    """The shape as two Python ints, or an error that says what was wrong."""
    try:
        rows, cols = shape
        out = (int(rows), int(cols))
    except (TypeError, ValueError):
        raise ValueError(f"shape must be two integers, got {shape!r}") from None
    if out[0] < 0 or out[1] < 0 or out != (rows, cols):
        raise ValueError(f"shape must be two integers of at least 0, got {shape!r}")
    return out
