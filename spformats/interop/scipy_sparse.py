"""SciPy's sparse matrices and arrays, all seven formats, to ours and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats import BSR, CDS, CSR, SparseArray, _arrays
from spformats.formats._guard import check_storage
from spformats.formats.csr import first_unsorted
from spformats.formats.diagonal import diagonal_range


def is_scipy(obj: Any) -> bool:
    """Whether this is a sparse matrix or array of SciPy itself."""
    return type(obj).__module__.startswith("scipy.sparse") and hasattr(obj, "format")


def from_scipy(S: Any) -> SparseArray:
    """CSR from CSR, BSR from BSR, CDS from DIA, else CSR."""
    if S.ndim != 2:
        raise ValueError(f"a sparse array has two dimensions, got a SciPy array of shape {S.shape}")
    if S.format == "csr":
        return _compressed(S.data, S.indices, S.indptr, S.shape)
    if S.format == "bsr":
        return _from_bsr(S)
    if S.format == "dia":
        return _from_dia(S)
    if S.format == "csc":
        return _compressed(S.data, S.indices, S.indptr, S.shape[::-1])._transposed(conjugate=False)
    coo = S if S.format == "coo" else S.tocoo()
    rows, cols = coo.coords
    return from_coordinates(coo.data, rows, cols, S.shape)


def with_integers(S: Any, dtype: Any) -> SparseArray:
    """The array with integer or bool values, which never pass through floating point."""
    csr = S.tocsr(copy=True).astype(dtype)
    csr.sum_duplicates()
    made = CSR._made(csr.data, csr.indices, csr.indptr, _arrays.check_shape(S.shape))
    if S.format == "bsr":
        return made.asformat("bsr", blocksize=S.blocksize)
    return made.asformat("cds") if S.format == "dia" else made


def from_coordinates(data: Any, rows: Any, cols: Any, shape: tuple[int, int]) -> CSR:
    """CSR of coordinate triplets in any order; duplicates are summed."""
    from scipy.sparse import coo_array

    n, m = shape = _arrays.check_shape(shape)
    _arrays.check_range("row", rows, n)
    _arrays.check_range("col", cols, m)
    csr = coo_array((_arrays.as_values(data), (rows, cols)), shape=shape).tocsr()
    csr.sum_duplicates()
    return CSR._made(csr.data, csr.indices, csr.indptr, shape)


def _compressed(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> CSR:
    """CSR from SciPy's arrays, checked; shares values and indices where they are canonical."""
    shape = _arrays.check_shape(shape)
    nnz = int(indptr[-1]) if indptr.shape[0] else 0
    if min(data.shape[0], indices.shape[0]) < nnz:
        raise ValueError(
            f"indptr ends at {nnz}, but data and indices have {data.shape[0]} and {indices.shape[0]} entries"
        )
    data, indices = _arrays.as_values(data[:nnz]), _native(indices[:nnz])
    indptr = _native(indptr)
    _arrays.check_pointers("indptr", indptr, shape[0] + 1, nnz)
    _arrays.check_range("indices", indices, shape[1])
    if first_unsorted(indices, indptr) is not None:
        from scipy.sparse import csr_array

        # copies: summing happens in place, and the caller's arrays are not ours to change
        copy = csr_array((data.copy(), indices.copy(), indptr.copy()), shape=shape)
        copy.sum_duplicates()
        data, indices, indptr = copy.data, copy.indices, copy.indptr
    return CSR._made(data, indices, indptr, shape)


def _native(array: Any) -> Any:
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _from_bsr(S: Any) -> SparseArray:
    R, C = S.blocksize
    indptr, indices = _native(S.indptr), _native(S.indices)
    nb = int(indptr[-1])
    data, indices = _arrays.as_values(S.data[:nb]), indices[:nb]
    n, m = _arrays.check_shape(S.shape)
    _arrays.check_pointers("indptr", indptr, n // R + 1, nb)
    _arrays.check_range("indices", indices, m // C)
    if first_unsorted(indices, indptr) is not None:
        from scipy.sparse import bsr_array

        copy = bsr_array((data.copy(), indices.copy(), indptr.copy()), shape=(n, m))
        copy.sum_duplicates()
        data, indices, indptr = copy.data, copy.indices, copy.indptr
    return BSR(np.ascontiguousarray(data), indices, indptr, shape=(n, m))


def _from_dia(S: Any) -> SparseArray:
    """CDS of a DIA matrix; SciPy aligns a diagonal's values by columns, we by rows."""
    n, m = _arrays.check_shape(S.shape)
    source = _arrays.as_values(np.atleast_2d(S.data))
    given = np.asarray(S.offsets).astype(np.int64)
    inside = np.flatnonzero((given > -n) & (given < m))
    offsets = np.unique(given[inside])
    nbytes = offsets.shape[0] * n * source.itemsize
    check_storage(
        "cds", nbytes, source.nbytes, f"{offsets.shape[0]} diagonals are padded to {n} slots", "CSR or HM", False
    )
    data = np.zeros((offsets.shape[0], n), dtype=source.dtype)
    width = source.shape[1]
    for k in inside.tolist():
        o = int(given[k])
        lo, hi = diagonal_range(o, n, m)
        hi = max(lo, min(hi, width - o))  # values SciPy does not store are zero
        data[np.searchsorted(offsets, o), lo:hi] += source[k, lo + o : hi + o]
    return CDS._build({"data": data, "offsets": offsets}, (n, m), symmetric=False)


def pruned(A: SparseArray) -> SparseArray:
    """The array without explicit zeros, in its own format."""
    csr = A.to_csr()
    keep = csr.data != 0
    if bool(keep.all()):
        return A
    rows = _arrays.rows_of(csr.indptr)[keep]
    counts = csr._library.bincount(rows, minlength=A.shape[0])
    made = CSR._made(csr.data[keep], csr.indices[keep], _arrays.pointers(counts), A.shape)
    return made.asformat(A.format, force=True, **A._layout())


def to_scipy_csr(A: SparseArray) -> Any:
    """``csr_array`` with arrays of its own, index arrays of the kind SciPy would choose."""
    from scipy.sparse import csr_array

    host = _on_host(A)
    csr = host.to_csr()
    index = _arrays.index_dtype(*csr.shape, csr._stored)
    return csr_array((csr.data.copy(), csr.indices.astype(index), csr.indptr.astype(index)), shape=csr.shape)


def to_scipy(A: SparseArray) -> Any:
    """SciPy's nearest kind: ``bsr_array`` of BSR, ``dia_array`` of CDS, else ``csr_array``; always a copy."""
    host = _on_host(A)
    if isinstance(host, BSR) and not host.padded:
        from scipy.sparse import bsr_array

        index = _arrays.index_dtype(*host.shape, host._stored)
        return bsr_array((host.data.copy(), host.indices.astype(index), host.indptr.astype(index)), shape=host.shape)
    if isinstance(host, CDS):
        from scipy.sparse import dia_array

        flat, base, offsets = host._diagonals()
        (n, m), width = host.shape, max(host.shape[1], 1)
        data = np.zeros((offsets.shape[0], width), dtype=host.dtype)
        for k, (b, o) in enumerate(zip(base.tolist(), offsets.tolist(), strict=True)):
            lo, hi = diagonal_range(o, n, m)
            data[k, lo + o : hi + o] = flat[b + lo : b + hi]
        return dia_array((data, offsets), shape=host.shape)
    return to_scipy_csr(host)


def _on_host(A: SparseArray) -> SparseArray:
    if A._namespace == "numpy":
        return A
    if A._namespace == "cupy":
        raise TypeError(
            f"this array is on {A.device}; SciPy works on the host. Use A.to_device('cpu') first, or "
            "A.to_cupyx_sparse() with cupyx"
        )
    return A.to_namespace(np)
