"""The diagonal table of an operand: the one view under which CDS, HM, CDM and their transposes look alike.

Entry ``(i, i + offsets[k])`` of op(A) is ``flat[base[k] + i]``, conjugated where ``conj`` is set. A lazy transpose is
read through the table of the array it belongs to, so ``A.T @ B`` and ``A @ B.T`` never make a transposed copy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from spformats.formats._arrays import xp_of
from spformats.formats.diagonal import DiagonalArray


class DiagonalTable(NamedTuple):
    """Where a diagonal matrix keeps its entries.

    Attributes
    ----------
    flat : 1-D array of values, in the operand's own array namespace
    base : int64[nd], NumPy
    offsets : int64[nd], NumPy, sorted
    conj : bool
        Whether the values must be conjugated when read.
    """

    flat: Any
    base: np.ndarray[Any, Any]
    offsets: np.ndarray[Any, Any]
    conj: bool = False


def is_diagonal(A: Any) -> bool:
    """Whether A belongs to the diagonal family (CDS, HM, CDM)."""
    return isinstance(A, DiagonalArray)


def check_diagonal(name: str, A: Any) -> None:
    """Raise TypeError unless A belongs to the diagonal family."""
    if not is_diagonal(A):
        got = getattr(A, "format", None)
        raise TypeError(
            f"{name} must be in a diagonal format (cds, hm or cdm), got {got or type(A).__name__!r}; "
            f"convert it first: spformats.asarray({name}, format='cds')"
        )


def check_together(A: Any, B: Any) -> None:
    """Raise TypeError unless both keep their values in arrays of one library."""
    if A._namespace != B._namespace:
        raise TypeError(
            f"the operands live in different array libraries, {A._namespace} and {B._namespace}; "
            "move one with to_device() or to_namespace() first"
        )


def table_of(A: Any, trans: str = "N") -> DiagonalTable:
    """The table of op(A), ``trans`` in "N", "T", "C"; made once per array."""
    owner, t, conj = _resolve(A, trans)
    table = owner._plan(("diagonal table", t), lambda owner: DiagonalTable(*owner._diagonals(t)))
    return table._replace(conj=True) if conj else table


def _resolve(A: Any, trans: str) -> tuple[Any, str, bool]:
    """``(M, t, conj)``: op(A) is M or M.T (t is "N" or "T"), conjugated or not, where M owns the storage."""
    transposed, conj = trans != "N", trans == "C"
    if A._source is not None:
        A, taken = A._source
        transposed, conj = transposed != (taken != "N"), conj != (taken == "C")
    return A, "T" if transposed else "N", conj and A._is_complex


def check_apart(flat: Any, name: str, operand: Any) -> None:
    """Raise ValueError if the values of ``out`` share memory with those of an operand."""
    test = getattr(xp_of(flat), "may_share_memory", None)
    if operand is flat or (test is not None and bool(test(flat, operand))):
        raise ValueError(f"out shares memory with {name}; pass another matrix, or a copy of {name}")


def writable_flat(C: Any, what: str = "out") -> Any:
    """The values of C as a 1-D array that may be written; anything derived from the old values is forgotten.

    Formats are immutable for everybody but the in-place products, which own this one door.
    """
    if C._source is not None or getattr(C, "transposed", False):
        raise ValueError(f"{what} is a transposed view; pass the array it belongs to, or a copy")
    data = C.data
    if isinstance(data, np.ndarray) and not data.flags.writeable:
        data = data.view()
        try:
            data.flags.writeable = True
        except ValueError:
            raise ValueError(f"{what} shares read-only memory and cannot be written; pass {what}.copy()") from None
    C._plans.clear()
    return array_api_compat.array_namespace(data).reshape(data, (-1,))
