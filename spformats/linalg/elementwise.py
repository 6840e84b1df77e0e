"""Elementwise sums and products of sparse arrays, in the structure both operands share."""

from __future__ import annotations

from typing import Any

from spformats.formats import BSR, CSR, DiagonalArray, SparseArray, _arrays


def add(A: SparseArray, B: SparseArray, alpha: Any = 1, beta: Any = 1) -> SparseArray:
    """``alpha·A + beta·B`` over the union of their patterns.

    Diagonal formats give a diagonal format, BSR of one block size gives BSR, two arrays of one format that format;
    otherwise the result is CSR.
    """
    _check(A, B, "+")
    if isinstance(A, DiagonalArray) and isinstance(B, DiagonalArray):
        from spformats.linalg import diagonal_elementwise

        return diagonal_elementwise.add(A, B, alpha, beta)
    if isinstance(A, BSR) and isinstance(B, BSR) and A.blocksize == B.blocksize:
        return _union(A, B, alpha, beta)
    return _like(_union(A.to_csr(), B.to_csr(), alpha, beta), A, B)


def multiply(A: SparseArray, x: Any) -> SparseArray:
    """Elementwise ``A * x``: over the intersection of the patterns for a sparse x, over A's pattern for a dense one."""
    if not isinstance(x, SparseArray):
        return _times_dense(A, x)
    _check(A, x, "*")
    if isinstance(A, DiagonalArray) and isinstance(x, DiagonalArray):
        from spformats.linalg import diagonal_elementwise

        return diagonal_elementwise.multiply(A, x)
    if isinstance(A, BSR) and isinstance(x, BSR) and A.blocksize == x.blocksize:
        return _intersection(A, x)
    return _like(_intersection(A.to_csr(), x.to_csr()), A, x)


def _check(A: SparseArray, B: SparseArray, operator: str) -> None:
    if A.shape != B.shape:
        raise ValueError(f"A {operator} B: shapes {A.shape} and {B.shape} differ")
    if A._namespace != B._namespace:
        raise TypeError(f"A holds {A._namespace} arrays and B {B._namespace} arrays; move one with to_device or to_namespace")


def _like(result: SparseArray, A: SparseArray, B: SparseArray) -> SparseArray:
    return result.asformat(A.format, force=True, **A._layout()) if type(A) is type(B) else result


def _keys(A: CSR | BSR) -> Any:
    """One number for the place of each stored entry or block, rising."""
    if isinstance(A, BSR):
        width = -(-A.shape[1] // A.blocksize[1])
    else:
        width = A.shape[1]
    return _arrays.rows_of(A.indptr) * max(width, 1) + A.indices, max(width, 1)


def _rebuilt(A: CSR | BSR, keys: Any, width: int, data: Any) -> Any:
    xp = A._xp
    counts = xp.bincount(keys // width, minlength=A.indptr.shape[0] - 1)
    parts = {"data": data, "indices": (keys % width).astype(A.indices.dtype), "indptr": _arrays.pointers(counts)}
    return type(A)._build(parts, A.shape, **A._parameters())


def _union(A: Any, B: Any, alpha: Any, beta: Any) -> Any:
    xp = A._xp
    (ka, width), (kb, _) = _keys(A), _keys(B)
    keys = xp.unique(xp.concatenate([ka, kb]))
    data = xp.zeros((keys.shape[0], *A.data.shape[1:]), dtype=xp.result_type(A.dtype, B.dtype))
    data[xp.searchsorted(keys, ka)] = alpha * A.data
    data[xp.searchsorted(keys, kb)] += beta * B.data
    return _rebuilt(A, keys, width, data)


def _intersection(A: Any, B: Any) -> Any:
    xp = A._xp
    (ka, width), (kb, _) = _keys(A), _keys(B)
    at = xp.searchsorted(kb, ka)
    at[at == kb.shape[0]] = 0
    both = xp.flatnonzero(kb[at] == ka) if kb.shape[0] else xp.zeros(0, dtype=ka.dtype)
    return _rebuilt(A, ka[both], width, A.data[both] * B.data[at[both]])


def _times_dense(A: SparseArray, x: Any) -> SparseArray:
    xp = A._xp
    x = xp.asarray(x)
    try:
        full = xp.broadcast_to(x, A.shape)
    except ValueError:
        raise ValueError(f"A * x: x of shape {tuple(x.shape)} does not broadcast to A's shape {A.shape}") from None
    csr = A.to_csr()
    data = csr.data * full[_arrays.rows_of(csr.indptr), csr.indices]
    return csr._with_data(data).asformat(A.format, force=True, **A._layout())
