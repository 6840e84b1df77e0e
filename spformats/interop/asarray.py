"""`asarray`: anything matrix-like in, one of our formats out."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats import SparseArray, format_class
from spformats.interop import dense, scipy_sparse


def asarray(
    obj: Any, /, *, format: str | None = None, dtype: Any = None, device: Any = None, copy: bool | None = None,
    force: bool = False, prune: bool = False, **layout: Any,
) -> SparseArray:
    """Convert anything matrix-like to a sparse array.

    Parameters
    ----------
    obj : SparseArray, scipy.sparse or cupyx matrix, dense 2-D array, nested list
        Duplicates are summed and unsorted indices sorted, in a copy: the caller's matrix is never changed.
    format : str, optional
        ``"csr"``, ``"ell"``, ``"jad"``, ``"pjad"``, ``"bsr"``, ``"cds"``, ``"hm"``, ``"cdm"``, a plugin's, or ``"auto"``
        for the one the advisor recommends. By default the input's own: CSR from CSR, BSR from BSR, CDS from DIA, else CSR.
    dtype : dtype, optional
        float32, float64, complex64 or complex128. By default the input's; integers and bool become float32 or float64,
        whichever NumPy promotes them with float32 to, float16 becomes float32.
    device : str or device, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``; by default where the input is.
    copy : bool, optional
        By default a CSR or BSR input of the right dtype shares its values and indices with the result (do not change it
        afterwards), and every other result is independent. True never shares; False raises ValueError where it must copy.
    force : bool
        Convert even where the format's padding would take absurd memory.
    prune : bool
        Drop explicit zeros. By default they stay, except that a diagonal holding nothing else is not stored.
    **layout
        The format's own options: ``blocksize=``, ``bsize=``, ``sigma=``, ``symmetric=``, …

    Returns
    -------
    SparseArray

    Raises
    ------
    StorageError
        If the format would need far more memory than CSR; the message gives the bytes and names a format that fits.
    ValueError
        If the input's indices are out of range, or the layout options do not fit the shape.

    Examples
    --------
    >>> import scipy.sparse as sp, spformats as sf
    >>> A = sf.asarray(sp.eye_array(3), format="cds")
    >>> A
    <CDS 3×3 float64, nnz=3>
    """
    A = _input(obj, dtype)
    if prune:
        A = scipy_sparse.pruned(A)
    if dtype is not None and A.dtype != dtype:
        A = A.astype(dtype)
    if format == "auto":
        from spformats.advisor import recommend

        best = recommend(A)
        format, layout = best.format, {**best.layout, **layout}
    if format is not None or layout:
        cls = format_class(str(format)) if format is not None else type(A)
        A = A.asformat(cls.format, force=force, **layout)
    if device is not None:
        A = A.to_device(device)
    if copy is not None:
        shared = _shares(A, obj)
        if copy and shared:
            A = A.copy()
        elif not copy and not shared:
            raise ValueError("copy=False, but this conversion must copy; leave copy out, or pass copy=True")
    return A


def _input(obj: Any, dtype: Any) -> SparseArray:
    """The input in the format nearest to its own."""
    if isinstance(obj, SparseArray):
        return obj
    if scipy_sparse.is_scipy(obj):
        return scipy_sparse.from_scipy(obj)
    if type(obj).__module__.startswith("cupyx.scipy.sparse"):
        from spformats.interop import cupyx

        return cupyx.from_cupyx(obj)
    for method in ("to_scipy_sparse", "tocoo", "tocsr"):
        if hasattr(obj, method):
            return scipy_sparse.from_scipy(getattr(obj, method)())
    return dense.from_dense(obj)


def _shares(A: SparseArray, obj: Any) -> bool:
    """Whether the result's memory is the input's."""
    if isinstance(obj, SparseArray):
        theirs = list(obj._holder._parts().values())
    else:
        theirs = [getattr(obj, name) for name in ("data", "indices", "indptr") if hasattr(obj, name)] if not isinstance(obj, np.ndarray) else []
    ours = A._holder._parts().values()
    return any(
        a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)) for a in ours for b in theirs
    )
