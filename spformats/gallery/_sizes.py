"""Sizes of matrices and grids: whole numbers."""

from __future__ import annotations

import operator
from typing import Any


def whole(name: str, value: Any) -> int:
    """The value as an int, or TypeError that names the argument."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
