"""Where the entries of a result go: the storage of CDS, HM or CDM laid out before anything is allocated."""

from __future__ import annotations

import functools
import os
from typing import Any

import array_api_compat
import numpy as np

from spformats.formats import _arrays
from spformats.formats._guard import readable
from spformats.formats.base import format_class
from spformats.formats.cdm import compact_rows
from spformats.formats.diagonal import canonical_order, require_square


class ResultLayout:
    """Storage of a diagonal matrix with given diagonals in one of the formats.

    Attributes
    ----------
    format : {"cds", "hm", "cdm"}
    shape : (int, int)
    offsets : int64[nd], sorted
    base : int64[nd]
        Entry ``(i, i + offsets[k])`` is at ``base[k] + i`` of the flat values.
    size : int
        Number of values, padding included.
    data_shape : tuple of int
        Shape in which the format keeps its values.
    padded : bool
        Whether some of them belong to no entry and must be zero.
    """

    def __init__(self, format: str, shape: tuple[int, int], offsets: np.ndarray[Any, Any]):
        n = shape[0]
        self.format, self.shape, self.offsets = format, shape, offsets
        self.padded = True
        self._made: dict[bool, tuple[Any, dict[str, Any]]] = {}
        self._order = offsets
        self._extra: dict[str, Any] = {}
        if format == "cds":
            self.base = np.arange(len(offsets), dtype=np.int64) * n
            self.size = len(offsets) * n
            self.data_shape: tuple[int, ...] = (len(offsets), n)
            return
        require_square(format, shape)
        self._order = canonical_order(offsets)
        back = np.argsort(self._order)
        if format == "hm":
            starts = _arrays.pointers(n - np.abs(self._order))
            self.base = starts[:-1][back] + np.minimum(offsets, 0)
            self.size = int(starts[-1])
            self.padded = False
            self.data_shape = (self.size,)
            self._extra = {"starts": starts[:-1]}
        elif format == "cdm":
            rows, count = compact_rows(self._order, n)
            self.base = rows[back] * n
            self.size = count * n
            self.data_shape = (count, n)
            self._extra = {"rows": rows}
        else:
            raise ValueError(f"format must be 'cds', 'hm' or 'cdm', got {format!r}")

    def build(self, flat: Any, symmetric: bool = False) -> Any:
        """The matrix object around these values, which it takes over."""
        if flat.shape != self.data_shape:
            flat = array_api_compat.array_namespace(flat).reshape(flat, self.data_shape)
        like = self._made.get(symmetric)
        if like is None:
            parts = {"data": flat, "offsets": self._order, **self._extra}
            extra: dict[str, Any] = {"cds": {"symmetric": symmetric}, "hm": {}, "cdm": {"transposed": False}}[
                self.format
            ]
            made = format_class(self.format)._build(parts, self.shape, **extra)
            own = ("data", "dtype", "_plans")
            self._made[symmetric] = type(made), {k: v for k, v in made.__dict__.items() if k not in own}
            return made
        # all but the values is as before: `_build` would cost as much as a small product
        cls, attributes = like
        made = object.__new__(cls)
        made.__dict__.update(attributes, data=_arrays.read_only(flat), dtype=flat.dtype, _plans={})
        return made

    def check_size(self, itemsize: int, on_host: bool) -> None:
        """Raise MemoryError, with the bytes needed, where the result cannot fit this machine's memory at all."""
        nbytes = self.size * itemsize
        if nbytes >= 2**63 or (on_host and nbytes > _host_memory()):
            raise MemoryError(self.complaint(itemsize))

    def complaint(self, itemsize: int) -> str:
        """What to say when ``size`` values of ``itemsize`` bytes cannot be had."""
        nbytes = self.size * itemsize
        return (
            f"the result needs {nbytes} bytes ({readable(nbytes)}): {len(self.offsets)} diagonals of a "
            f"{self.shape[0]} x {self.shape[1]} matrix in format {self.format!r}, "
            f"{self.size} values of {itemsize} bytes each"
        )


def result_format(a: str, b: str) -> str:
    """The format of a result of two diagonal matrices: the one both have, or CDS."""
    return a if a == b else "cds"


@functools.cache
def _host_memory() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not known on this platform: let the allocation itself decide
        return float("inf")
