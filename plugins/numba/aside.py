"""Results written past the caches: they would not stay there, and need not be read first.

A row of a result with k columns begins and ends inside a cache line, and pieces of lines that pass the caches get in
the way of reads from memory. So rows are summed in a buffer, from which whole lines go to the result.
"""

from __future__ import annotations

from .generated import define
from .simd_memory import LINE

#: Bytes of the buffer: a small part of the first cache.
BUFFER = 1 << 13


def _whole_lines(size: int) -> list[str]:
    """Lines of y whose elements have so many bytes: the compiler drops the other sizes."""
    elements = LINE // size
    return [
        f"    if y.itemsize == {size}:",
        f"        while i + {elements} <= count:",
        f"            vstream(y, start + i, vload(buffer, i, {elements}), {LINE})",
        f"            i += {elements}",
    ]


#: ``release(buffer, y, start, count)``: the buffer's first values go to y, which lies at a multiple of its item size.
#: Other threads see them after `simd_memory.fence` only.
release = define(
    "release",
    [
        "def release(buffer, y, start, count):",
        f"    before = min(count, -(y.ctypes.data // y.itemsize + start) % ({LINE} // y.itemsize))",
        "    for i in range(before):",
        "        put(y, start + i, get(buffer, i))",
        "    i = np.int64(before)",
        *(line for size in (4, 8, 16) for line in _whole_lines(size)),
        "    for i in range(i, count):",
        "        put(y, start + i, get(buffer, i))",
    ],
)
