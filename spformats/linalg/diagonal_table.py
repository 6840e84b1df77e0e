"""The diagonal table of an operand: the one view under which CDS, HM, CDM and their transposes look alike.

Entry ``(i, i + offsets[k])`` of op(A) is ``flat[base[k] + i]``, conjugated where ``conj`` is set. A lazy transpose is
read through the table of the array it belongs to, so ``A.T @ B`` and ``A @ B.T`` never make a transposed copy.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from spformats.formats._arrays import xp_of
from spformats.formats.diagonal import BORROWED, VIEW, DiagonalArray


class Structure:
    """All that a product depends on beside the values: where entries are kept, of which type, on which device.

    Equal structures are one object, so that what was prepared for one matrix is found again for the next by identity.

    Attributes
    ----------
    plans : dict
        Plans of products of this structure with others on its right, by the other structure.
    """

    __slots__ = ("__weakref__", "plans")

    def __init__(self) -> None:
        self.plans: dict[Structure, Any] = {}


#: Every structure in use, by what it stands for.
_structures: weakref.WeakValueDictionary[Any, Structure] = weakref.WeakValueDictionary()


class DiagonalTable(NamedTuple):
    """Where a diagonal matrix keeps its entries.

    Attributes
    ----------
    flat : 1-D array of values, in the operand's own array namespace
    base : int64[nd], NumPy
    offsets : int64[nd], NumPy, sorted
    conj : bool
        Whether the values must be conjugated when read.
    structure : Structure or None
        None for tables made for one use.
    """

    flat: Any
    base: np.ndarray[Any, Any]
    offsets: np.ndarray[Any, Any]
    conj: bool = False
    structure: Structure | None = None


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
    """Raise TypeError unless both keep their values in arrays of one library, on one device."""
    if A._namespace != B._namespace:
        raise TypeError(
            f"the operands live in different array libraries, {A._namespace} and {B._namespace}; "
            "move one with to_device() or to_namespace() first"
        )
    here, there = (array_api_compat.device(X._holder.data) for X in (A, B))
    if here != there:
        raise TypeError(f"the operands are on different devices, {here} and {there}; move one with to_device() first")


#: Where an array keeps its tables: made once, and no matter of its values.
_TABLES = {(t, conj): ("diagonal table", t, conj) for t in "NT" for conj in (False, True)}
#: Where it keeps its own; a lazy transpose has none, its tables are with the array it belongs to.
OWN = _TABLES["N", False]


def table_of(A: Any, trans: str = "N") -> DiagonalTable:
    """The table of op(A), ``trans`` in "N", "T", "C"; made once per array."""
    if A._source is None and trans == "N":
        owner, key = A, OWN
    else:
        owner, t, conj = _resolve(A, trans)
        key = _TABLES[t, conj]
    table = owner._plans.get(key)
    if table is None:
        table = owner._plans[key] = _made(owner, *key[1:])
    return table


def _made(owner: Any, trans: str, conj: bool) -> DiagonalTable:
    flat, base, offsets = owner._diagonals(trans)
    base, offsets = (np.ascontiguousarray(part, dtype=np.int64) for part in (base, offsets))
    shape = owner.shape if trans == "N" else owner.shape[::-1]
    where = owner._namespace, str(array_api_compat.device(flat)), str(owner.format), str(flat.dtype)
    key = (*where, shape, conj, base.tobytes(), offsets.tobytes())
    structure = _structures.get(key)
    if structure is None:
        structure = _structures.setdefault(key, Structure())
    return DiagonalTable(flat, base, offsets, conj, structure)


def _resolve(A: Any, trans: str) -> tuple[Any, str, bool]:
    """``(M, t, conj)``: op(A) is M or M.T (t is "N" or "T"), conjugated or not, where M owns the storage."""
    transposed, conj = trans != "N", trans == "C"
    if A._source is not None:
        A, taken = A._source
        transposed, conj = transposed != (taken != "N"), conj != (taken == "C")
    return A, "T" if transposed else "N", conj and A._is_complex


def check_apart(flat: Any, name: str, operand: Any) -> None:
    """Raise ValueError if the values of ``out`` share memory with those of an operand; both are contiguous."""
    ours, theirs = _extent(flat), _extent(operand)
    if ours is not None and theirs is not None:
        shared = ours[0] < theirs[1] and theirs[0] < ours[1]
    else:
        test = getattr(xp_of(flat), "may_share_memory", None)
        shared = operand is flat or (test is not None and bool(test(flat, operand)))
    if shared:
        raise ValueError(f"out shares memory with {name}; pass another matrix, or a copy of {name}")


def _extent(flat: Any) -> tuple[int, int] | None:
    """First address and the one behind the last, where the library tells cheaply: as ``flat.data.ptr``."""
    if isinstance(flat, np.ndarray):
        return None
    start = getattr(getattr(flat, "data", None), "ptr", None)
    return None if start is None else (start, start + flat.nbytes)


def writable_flat(C: Any, what: str = "out") -> Any:
    """The values of C as a 1-D array that may be written; anything derived from the old values is forgotten.

    Formats are immutable for everybody but the in-place products, which own this one door.
    """
    if C._source is not None or C.__dict__.get("transposed", False) or BORROWED in C._plans:
        raise ValueError(f"{what} is a transposed view; pass the array it belongs to, or a copy")
    table = C._plans.get(OWN)
    if len(C._plans) > (table is not None):
        _forget_values(C)
    data = C.data
    if not isinstance(data, np.ndarray):
        return array_api_compat.array_namespace(data).reshape(data, (-1,)) if table is None else table.flat
    if not data.flags.writeable:
        data = data.view()
        try:
            data.flags.writeable = True
        except ValueError:
            raise ValueError(f"{what} shares read-only memory and cannot be written; pass {what}.copy()") from None
    return data.reshape(-1)


def _forget_values(C: Any) -> None:
    """Drop what was derived from the values of C, here and in the transpose that shares them."""
    kept = {key: C._plans[key] for key in (*_TABLES.values(), VIEW) if key in C._plans}
    C._plans.clear()
    C._plans.update(kept)
    if VIEW in kept:
        _forget_values(kept[VIEW])
