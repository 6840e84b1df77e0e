"""One matrix of the suite in the format under test."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spformats.testing.compare import same_bits


class Case(NamedTuple):
    """One matrix in the format under test, with its dense twin; `where` names it in messages."""

    where: str
    A: Any
    dense: np.ndarray

    def equal(self, what: str, got: Any, expected: np.ndarray) -> None:
        assert same_bits(got, expected), (
            f"{self.where}: {what} is wrong: got {_short(got)}, expected {_short(expected)}"
        )


def _short(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return f"{type(value).__name__} {value!r}"[:200]
    text = np.array2string(value, threshold=40, precision=4).replace("\n", "")
    return f"{value.dtype} {value.shape} {text}"[:300]
