"""How the columns of a panel of a dense operand are cut, vectors of falling width, and the lines that sum one of them.

A vector of one column is a plain number: it is read and written by `get` and `put`.
"""

from __future__ import annotations

WIDTHS = (16, 8, 4, 2, 1)


def parts_of(columns: int, widest: int = 8) -> list[tuple[int, int]]:
    """The vectors of a panel: (first column, how many)."""
    parts, first = [], 0
    for width in WIDTHS[WIDTHS.index(widest) :]:
        while columns - first >= width:
            parts.append((first, width))
            first += width
    return parts


def over_columns(columns: int, whole: list[str] | None, rest: list[str]) -> list[str]:
    """``whole`` for every full panel of so many columns from c on, if there is any, then ``rest``."""
    if whole is None:
        return rest
    return [f"while c + {columns} <= k:", *(" " * 4 + line for line in whole), f"    c += {columns}", *rest]


def zeroed(s: str, width: int) -> str:
    """The sum s begins."""
    return f"{s} = y.dtype.type(0)" if width == 1 else f"{s} = vzero(y, {width})"


def added(s: str, width: int, value: str, place: str) -> str:
    """The sum s grows by a value times what x holds there."""
    if width == 1:
        return f"{s} += {value} * get(x, {place})"
    return f"{s} = vmuladd({s}, {value}, vload(x, {place}, {width}))"


def written(y: str, s: str, width: int, place: str) -> str:
    """The sum s goes to an array, with alpha and beta."""
    if width == 1:
        return f"put({y}, {place}, alpha * {s} if fresh else alpha * {s} + beta * get({y}, {place}))"
    return f"vupdate({y}, {place}, {s}, alpha, beta, fresh)"
