"""`asarray`: anything matrix-like in, one of our formats out."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats import SparseArray, format_class
from spformats.interop import dense, scipy_sparse


def asarray(
    obj: Any,
    /,
    *,
    format: str | None = None,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    force: bool = False,
    prune: bool = False,
    **layout: Any,
) -> Any:
    """Convert anything matrix-like to a sparse array (the array API's ``asarray``, with a format).

    Parameters
    ----------
    obj : SparseArray, scipy.sparse or cupyx matrix, dense array, nested list
        A dense array of one dimension or none, or a number, gives a dense array of the storage namespace (NumPy, CuPy).
        Duplicates are summed and unsorted indices sorted, in a copy: the caller's matrix is never changed.
    format : str, optional
        ``"csr"``, ``"ell"``, ``"jad"``, ``"pjad"``, ``"bsr"``, ``"cds"``, ``"hm"``, ``"cdm"``, a plugin's, or
        ``"auto"`` for the one the advisor recommends. By default the input's own: CSR from CSR, BSR from BSR, CDS from
        DIA, else CSR.
    dtype : dtype, optional
        By default the input's; integers and bool become float32 or float64, whichever NumPy promotes them with float32
        to, float16 becomes float32. Integer and bool data types are kept where they are named here, and where a dense
        input comes without a format, as the array API standard has it.
    device : str or device, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``; by default where the input is.
    copy : bool, optional
        By default a CSR or BSR input of the right dtype shares its values and indices with the result (do not change it
        afterwards), and every other result is independent. True never shares; False raises ValueError where it must
        copy.
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
        If the input's indices are out of range, the layout options do not fit the shape, or the format is unknown.
    TypeError
        If the input is no matrix, or the format has no such layout option.

    Examples
    --------
    >>> import scipy.sparse as sp, spformats as sf
    >>> A = sf.asarray(sp.eye_array(3), format="cds")
    >>> A
    <CDS 3×3 float64, nnz=3>
    """
    if format is not None and not isinstance(format, str):
        raise TypeError(f"format must be a name such as 'cds' or 'bsr', got {format!r}")
    plain = format is None and not layout
    if plain:
        few = _fewer_dimensions(obj, dtype, device, copy)
        if few is not None:
            return few
    A = _input(obj, dtype, plain)
    if prune:
        A = scipy_sparse.pruned(A)
    if dtype is not None and A.dtype != dtype:
        A = A.astype(dtype)
    if format is not None or layout:
        name = A.format if format is None else format if format == "auto" else format_class(format).format
        A = A.asformat(name, force=force, **layout)
    if device is not None:
        A = A.to_device(device)
    if copy is True and _shares(A, obj):
        A = A.copy()
    elif copy is False and not _shares_values(A, obj):
        raise ValueError("copy=False, but this conversion must copy; leave copy out, or pass copy=True")
    return A


def _fewer_dimensions(obj: Any, dtype: Any, device: Any, copy: bool | None) -> Any:
    """A dense array of the storage namespace of a number, a list or an array without two dimensions; else None."""
    if isinstance(obj, SparseArray) or scipy_sparse.is_scipy(obj) or hasattr(obj, "matvec") or hasattr(obj, "tocoo"):
        return None
    if not hasattr(obj, "shape"):
        if not isinstance(obj, list | tuple | int | float | complex) and not hasattr(obj, "__array__"):
            return None
        obj = np.asarray(obj)
    if len(obj.shape) >= 2 or getattr(obj.dtype, "kind", "f") == "O":
        return None
    from spformats.array_api.data_types import native, on_numpy
    from spformats.array_api.namespaces import storage
    from spformats.interop.devices import current, namespace_on

    _, xp = on_numpy(dtype)
    if xp is None:
        xp = storage(obj) if device is None else namespace_on(device)
    with current(device):
        return xp.asarray(obj, dtype=native(dtype, xp), copy=copy)


def _is_integer(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype | type | str) and np.dtype(dtype).kind in "biu"


def _input(obj: Any, dtype: Any, plain: bool) -> SparseArray:
    """The input in the format nearest to its own."""
    if isinstance(obj, SparseArray):
        return obj
    if scipy_sparse.is_scipy(obj):
        return scipy_sparse.with_integers(obj, dtype) if _is_integer(dtype) else scipy_sparse.from_scipy(obj)
    if type(obj).__module__.startswith("cupyx.scipy.sparse"):
        from spformats.interop import cupyx

        return cupyx.from_cupyx(obj)
    for method in ("to_scipy_sparse", "tocoo", "tocsr"):
        if hasattr(obj, method):
            return scipy_sparse.from_scipy(getattr(obj, method)())
    return dense.from_dense(obj, dtype=dtype if _is_integer(dtype) else None, keep_dtype=plain)


def _arrays_of(obj: Any) -> list[Any]:
    """The arrays an input is made of, its values first."""
    if isinstance(obj, SparseArray):
        return list(obj._holder._parts().values())
    if isinstance(obj, np.ndarray):
        return [obj]
    return [getattr(obj, name) for name in ("data", "indices", "indptr", "offsets") if hasattr(obj, name)]


def _shares(A: SparseArray, obj: Any) -> bool:
    """Whether any of the result's memory is the input's."""
    return any(_same_memory(a, b) for a in _arrays_of(A) for b in _arrays_of(obj))


def _shares_values(A: SparseArray, obj: Any) -> bool:
    """Whether the result's values are the input's."""
    return any(_same_memory(A._holder.data, b) for b in _arrays_of(obj)[:1])


def _same_memory(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b))
