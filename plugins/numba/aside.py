"""Results written past the caches: they would not stay there, and need not be read first.

A row of a result with k columns begins and ends inside a cache line, and pieces of lines that pass the caches get in
the way of reads from memory. So rows are summed in a buffer, from which whole lines go to the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define
from .simd_memory import LINE

#: Bytes of the buffer: a small part of the first cache.
BUFFER = 1 << 13


@cache
def release(per_line: int) -> Callable[..., Any]:
    """``kernel(buffer, y, start, count)``: the buffer's first values go to y, which has so many elements in a line.

    y lies at a multiple of its item size. Other threads see the values after `simd_memory.fence` only.
    """
    name = f"release_{per_line}"
    lines = [
        f"def {name}(buffer, y, start, count):",
        f"    before = min(count, -(y.ctypes.data // y.itemsize + start) % {per_line})",
        "    for i in range(before):",
        "        put(y, start + i, get(buffer, i))",
        "    i = before",
        f"    while i + {per_line} <= count:",
        f"        vstream(y, start + i, vload(buffer, i, {per_line}), {LINE})",
        f"        i += {per_line}",
        "    for i in range(i, count):",
        "        put(y, start + i, get(buffer, i))",
    ]
    return define(name, lines)
