"""cupyx's sparse matrices to ours and back, and arrays to a GPU; nothing here passes through the host."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from spformats.formats import CDS, CSR, SparseArray, _arrays
from spformats.formats._guard import check_storage
from spformats.formats.csr import first_unsorted
from spformats.formats.diagonal import diagonal_range


def from_cupyx(S: Any) -> SparseArray:
    """CSR on the same GPU from a cupyx matrix of any format, CDS from its ``dia_matrix``; duplicates are summed."""
    with S.data.device:
        if S.format == "dia":
            return _from_dia(S)
        csr = S if S.format == "csr" else S.tocsr()
        return _from_csr(csr)


def _from_csr(S: Any) -> CSR:
    shape = _arrays.check_shape(S.shape)
    nnz = int(S.indptr[-1])
    data, indices, indptr = _arrays.as_values(S.data[:nnz]), S.indices[:nnz], S.indptr
    _arrays.check_pointers("indptr", indptr, shape[0] + 1, nnz)
    _arrays.check_range("indices", indices, shape[1])
    if first_unsorted(indices, indptr) is not None:
        copy = type(S)((data.copy(), indices.copy(), indptr.copy()), shape=shape)  # summing works in place
        copy.sum_duplicates()
        data, indices, indptr = copy.data, copy.indices, copy.indptr
    return CSR._made(data, indices, indptr, shape)


def _from_dia(S: Any) -> CDS:
    """cupyx aligns a diagonal's values by columns, we by rows."""
    n, m = _arrays.check_shape(S.shape)
    source = _arrays.as_values(S.data)
    xp = _arrays.xp_of(source)
    given = S.offsets.get().astype(np.int64)
    inside = np.flatnonzero((given > -n) & (given < m))
    offsets = np.unique(given[inside])
    nbytes = offsets.shape[0] * n * source.itemsize
    why = f"{offsets.shape[0]} diagonals are padded to {n} slots"
    check_storage("cds", nbytes, source.nbytes, why, "CSR or HM", False)
    data = xp.zeros((offsets.shape[0], n), dtype=source.dtype)
    for k in inside.tolist():
        o = int(given[k])
        lo, hi = diagonal_range(o, n, m)
        hi = max(lo, min(hi, source.shape[1] - o))  # values that are not stored are zero
        data[np.searchsorted(offsets, o), lo:hi] += source[k, lo + o : hi + o]
    return CDS._build({"data": data, "offsets": offsets}, (n, m), symmetric=False)


def to_cupyx(A: SparseArray) -> Any:
    """A ``cupyx.scipy.sparse.csr_matrix`` with the same values, a copy; from the host A goes to the current GPU first.

    Raises
    ------
    ValueError
        If A has more entries than the 32-bit index arrays of cupyx can count.
    ImportError
        If CuPy is not installed.
    """
    cupy = _cupy()
    import cupyx.scipy.sparse as sparse

    if A._namespace != "cupy":
        A = to_cuda(A, "cuda")
    with A._holder.data.device:
        csr = A.to_csr() if A._source is None else A._source[0].to_csr()._transpose_of(A._source[1])
        if csr._stored > _arrays.INT32_MAX or max(csr.shape) > _arrays.INT32_MAX:
            raise ValueError(
                f"cupyx counts entries in 32 bits, but this array has {csr._stored} in the shape {csr.shape}"
            )
        indices, indptr = csr.indices.astype(cupy.int32), csr.indptr.astype(cupy.int32)
        return sparse.csr_matrix((csr.data.copy(), indices, indptr), shape=csr.shape)


def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise ImportError("GPU arrays need CuPy: pip install cupy-cuda13x (cupy-cuda12x for CUDA 12)") from error
    return cupy


def to_cuda(A: SparseArray, device: Any, stream: Any = None) -> SparseArray:
    """The array on a GPU; the same object where it is there already.

    Parameters
    ----------
    A : SparseArray
        Over NumPy or CuPy arrays.
    device : str or cupy.cuda.Device
        ``"cuda"`` (the current one), ``"cuda:1"``, or what ``A.device`` gives.
    stream : cupy.cuda.Stream, optional
        The stream that the copy is ordered on; by default the current one.
    """
    cupy = _cupy()
    if A._source is not None:
        base, taken = A._source
        return to_cuda(base, device, stream)._transpose_of(taken)
    target = _device(cupy, device)
    if A._namespace == "cupy" and A.data.device == target:
        return A

    def copy(array: Any) -> Any:
        return cupy.array(array, order="F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C")

    with target, stream if stream is not None else contextlib.nullcontext():
        return A._map(copy)


def _device(cupy: Any, device: Any) -> Any:
    if isinstance(device, cupy.cuda.Device):
        return device
    name, _, number = str(device).partition(":")
    if name != "cuda" or not (number == "" or number.isdigit()):
        raise ValueError(f"device must be 'cpu', 'cuda', 'cuda:0', … or a device of CuPy, got {device!r}")
    target = cupy.cuda.Device(int(number)) if number else cupy.cuda.Device()
    count = cupy.cuda.runtime.getDeviceCount()
    if target.id >= count:
        raise ValueError(f"device {device!r} does not exist: CuPy sees {count} GPU(s)")
    return target
