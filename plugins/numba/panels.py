"""How the columns of a panel of a dense operand are cut: vectors of falling width."""

from __future__ import annotations

WIDTHS = (8, 4, 2, 1)


def parts_of(columns: int) -> list[tuple[int, int]]:
    """The vectors of a panel: (first column, how many)."""
    parts, first = [], 0
    for width in WIDTHS:
        while columns - first >= width:
            parts.append((first, width))
            first += width
    return parts
