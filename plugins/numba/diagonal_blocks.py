"""Lines of generated source that the kernels of matrices kept by diagonals share: how they walk over rows."""

from __future__ import annotations


def inside(count: str, offsets: str) -> list[str]:
    """Narrow ``inner`` and ``outer``, between which rows are inside every diagonal, to these diagonals."""
    return [
        f"for d in range({count}):",
        f"    inner, outer = max(inner, -get({offsets}, d)), min(outer, cols - get({offsets}, d))",
    ]


def next_block(block: str, edge: int) -> list[str]:
    """Rows ``first`` to ``last`` follow, ``block`` of them inside every diagonal, ``edge`` where some begin or end."""
    return [
        "first = last",
        "if first < inner:",
        f"    last = min(first + {edge}, hi, inner)",
        "elif first < outer:",
        f"    last = min(first + {block}, hi, outer)",
        "else:",
        f"    last = min(first + {edge}, hi)",
    ]


def clipped(covering: str, count: str, offsets: str, body: list[str]) -> list[str]:
    """``body`` for each row i of the diagonals d that begin or end inside the block, one by one."""
    return [
        f"if {covering} < {count}:",
        f"    for d in range({count}):",
        f"        offset = get({offsets}, d)",
        "        if offset < -first or last > cols - offset:",
        "            for i in range(max(first, -offset), min(last, cols - offset)):",
        *(" " * 16 + line for line in body),
    ]
