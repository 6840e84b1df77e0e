"""Put several sparse arrays over one pattern, the union or the intersection of theirs, in the structure they share.

Arrays whose layouts are the same need nothing at all. Diagonal formats meet in the set of their diagonals, BSR arrays
of one block size in the set of their blocks, everything else in CSR.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from spformats.array_api.elementwise_unary import laid_out_like
from spformats.formats import BSR, CSR, DiagonalArray, SparseArray, _arrays
from spformats.interop.devices import to_numpy
from spformats.linalg.diagonal_merge import apply_over

#: Entries compared at a time.
_BLOCK = 2**16
#: Pairs of index arrays, by their ids, that held the same; arrays of ours do not change.
_found_equal: dict[tuple[int, int], tuple[weakref.ref[Any], weakref.ref[Any]]] = {}
#: Of `combine`: where the result is stored.
UNION, INTERSECTION = "union", "intersection"


def combine(function: Callable[..., Any], arrays: list[SparseArray], pattern: str = UNION) -> SparseArray:
    """``function(values of A, values of B, …)`` over the union or the intersection of the patterns of A, B, ….

    ``function`` must give 0 where every argument is 0; with the intersection, where any one is.

    Returns
    -------
    SparseArray
        In the format of the operands where they share it; else CDS if all are diagonal, CSR if not.
    """
    first = arrays[0]
    _check(arrays)
    alike = _transposed_alike(arrays)
    if alike:
        return combine(function, alike, pattern)._transpose_of("T")
    if all(same_layout(first, other) for other in arrays[1:]):
        return first._with_data(laid_out_like(function(*(A.data for A in arrays)), first.data))
    if all(isinstance(A, DiagonalArray) for A in arrays):
        return apply_over(function, arrays, np.union1d if pattern == UNION else np.intersect1d)
    if first._namespace not in ("numpy", "cupy"):  # the standard has no word for scattering: NumPy merges the patterns
        xp = first._library
        moved = [A.to_namespace(np) for A in arrays]
        return combine(
            lambda *data: to_numpy(function(*(xp.asarray(d.copy()) for d in data))), moved, pattern
        ).to_namespace(xp)
    if isinstance(first, BSR) and all(isinstance(A, BSR) and A.blocksize == first.blocksize for A in arrays):
        return _over_keys(function, arrays, pattern)
    result = _over_keys(function, [A.to_csr() for A in arrays], pattern)
    if all(type(A) is type(first) for A in arrays) and type(result) is not type(first):
        return result.asformat(first.format, force=True, **first._layout())
    return result


def _check(arrays: list[SparseArray]) -> None:
    first = arrays[0]
    namespace = first._namespace
    for other in arrays[1:]:
        if other.shape != first.shape:
            raise ValueError(f"shapes {first.shape} and {other.shape} differ")
        if other._namespace != namespace:
            raise TypeError(
                f"one operand holds {namespace} arrays and another {other._namespace} arrays; "
                "move one with to_device or to_namespace"
            )


def _transposed_alike(arrays: list[SparseArray]) -> list[SparseArray]:
    """The arrays that all of these are lazy transposes of; nothing where one is no transpose."""
    sources = [A._source for A in arrays if A._source is not None and A._source[1] == "T"]
    return [source[0] for source in sources] if len(sources) == len(arrays) else []


def same_layout(A: SparseArray, B: SparseArray) -> bool:
    """Whether two arrays store the same entries at the same places."""
    return (
        type(A) is type(B)
        and A._parameters() == B._parameters()  # before the parts, which a view has to make
        and A.data.shape == B.data.shape
        and all(_equal(getattr(A, name), getattr(B, name)) for name in A.components[1:])
    )


def _equal(a: Any, b: Any) -> bool:
    """Whether two index arrays are equal; large ones that were found equal are not read again."""
    if a is b:
        return True
    if tuple(a.shape) != tuple(b.shape):
        return False
    if a.shape[0] <= _BLOCK or not isinstance(a, np.ndarray):
        return _compared(a, b)
    known = _found_equal.get((id(a), id(b)))
    if known is not None and known[0]() is a and known[1]() is b:
        return True
    if not _compared(a, b):
        return False
    if len(_found_equal) >= 256:
        _found_equal.clear()
    _found_equal[id(a), id(b)] = weakref.ref(a), weakref.ref(b)
    return True


def _compared(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray):
        return bool(_arrays.xp_of(a).all(a == b))
    if a.dtype == b.dtype:
        if a.nbytes <= _BLOCK:
            return a.tobytes() == b.tobytes()
        if a.strides == b.strides and (a.flags.c_contiguous or a.flags.f_contiguous):
            # by words of 64 bits, in blocks that stay in cache: whole arrays would write as many bools to memory
            a, b = a.reshape(-1, order="A"), b.reshape(-1, order="A")
            words = a.nbytes // 8 * 8 // a.itemsize
            if not bool((a[words:] == b[words:]).all()):
                return False
            a, b = a[:words].view(np.int64), b[:words].view(np.int64)
    else:
        a, b = a.reshape(-1), b.reshape(-1)
    return all(bool((a[i : i + _BLOCK] == b[i : i + _BLOCK]).all()) for i in range(0, a.shape[0], _BLOCK))


# ---------------------------------------------------------------------- rows of entries or blocks
def _over_keys(function: Callable[..., Any], arrays: list[Any], pattern: str) -> Any:
    """CSR or BSR: every entry or block has a number that rises along the storage; merge the numbers."""
    first = arrays[0]
    xp = first._library
    width = _width(first)
    numbers = [entry_numbers(A) for A in arrays]
    everything = xp.concatenate(numbers)
    order = xp.argsort(everything, kind="stable")  # sorted runs: a stable sort merges them
    risen = everything[order]
    new = xp.ones(risen.shape[0], dtype=bool)
    new[1:] = risen[1:] != risen[:-1]
    place = xp.empty(risen.shape[0], dtype=np.int64)
    place[order] = xp.cumsum(new) - 1
    keys = risen[new]
    shared = None
    if pattern == INTERSECTION:
        shared = xp.flatnonzero(xp.bincount(place, minlength=keys.shape[0]) == len(arrays))
    values, begin = [], 0
    for A, number in zip(arrays, numbers, strict=True):
        data = xp.zeros((keys.shape[0], *A.data.shape[1:]), dtype=A.dtype)
        data[place[begin : begin + number.shape[0]]] = A.data
        begin += number.shape[0]
        values.append(data if shared is None else data[shared])
    return from_numbers(first, keys if shared is None else keys[shared], width, function(*values))


def _width(A: CSR | BSR) -> int:
    columns = -(-A.shape[1] // A.blocksize[1]) if isinstance(A, BSR) else A.shape[1]
    return max(columns, 1)


def entry_numbers(A: CSR | BSR) -> Any:
    """``row * columns + column`` of each stored entry (of each block, in blocks); they rise."""
    return _arrays.rows_of(A.indptr) * _width(A) + A.indices


def from_numbers(model: CSR | BSR, numbers: Any, width: int, data: Any) -> Any:
    """An array like ``model`` (its shape, its block size) with entries or blocks at these rising numbers."""
    xp = model._library
    counts = xp.bincount(numbers // width, minlength=model.indptr.shape[0] - 1)
    parts = {
        "data": data,
        "indices": (numbers % width).astype(model.indices.dtype),
        "indptr": _arrays.pointers(counts),
    }
    return type(model)._build(parts, model.shape, **model._parameters())
