"""What the namespace can do, for code that asks: ``__array_namespace_info__()``."""

from __future__ import annotations

from typing import Any

from spformats.array_api import data_types as dt

_DTYPES = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_UNIONS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
    None: tuple(_DTYPES),
}


class Info:
    """The inspection interface of the array API standard."""

    def capabilities(self) -> dict[str, Any]:
        """No boolean indexing, data-dependent shapes, at most two dimensions."""
        return {"boolean indexing": False, "data-dependent shapes": True, "max dimensions": 2}

    def default_device(self) -> str:
        """Arrays are made on the CPU unless told otherwise."""
        return "cpu"

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """float64, complex128 and int64, on every device."""
        return {
            "real floating": dt.float64,
            "complex floating": dt.complex128,
            "integral": dt.int64,
            "indexing": dt.int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The data types by their names, all or of one kind (or of several, as a tuple)."""
        kinds: list[str] = []
        for k in kind if isinstance(kind, tuple) else (kind,):
            if k not in _DTYPES and k not in _UNIONS:
                raise ValueError(
                    f"unknown kind of data type {k!r}; known: {', '.join(map(repr, (*_DTYPES, *_UNIONS)))}"
                )
            kinds += _UNIONS.get(k, (k,))
        return {name: getattr(dt, name) for k in dict.fromkeys(kinds) for name in _DTYPES[k]}

    def devices(self) -> tuple[str, ...]:
        """``"cpu"``, and ``"cuda:0"``, … where CuPy finds GPUs."""
        from spformats.interop.devices import available

        return available()


def __array_namespace_info__() -> Info:
    """The standard's inspection interface of this namespace."""
    return Info()
