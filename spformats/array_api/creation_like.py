"""New arrays in the shape and format of another, and the triangles of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.array_api.creation import full, placed
from spformats.array_api.data_types import native
from spformats.array_api.densify import permit
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.formats import CSR, _arrays
from spformats.formats.device import at_home


@at_home
def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros of the shape, data type and format of x.

    Parameters
    ----------
    x : array
    dtype : dtype, optional
    device : optional

    Returns
    -------
    array
        Sparse, in x's format.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.zeros_like(sf.eye(3))
    <CDS 3×3 float64, nnz=0>
    """
    if not is_sparse(x):
        return storage(x).zeros_like(x, dtype=native(dtype, storage(x)), device=device)
    made = _empty_like(x)
    made = made if dtype is None else made.astype(native(dtype, storage(x)))
    return placed(made, device)


@structural
def _empty_like(x: Any) -> Any:
    xp, (n, m) = x._library, x.shape
    nothing = xp.zeros(0, dtype=_arrays.index_dtype(m))
    csr = CSR._made(xp.zeros(0, dtype=x.dtype), nothing, xp.zeros(n + 1, dtype=np.int64), (n, m))
    return csr.asformat(x.format, force=True, **x._layout()) if x.format != "csr" else csr


@at_home
def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """The same as `zeros_like`.

    Parameters
    ----------
    x, dtype, device
        As for `zeros_like`.

    Returns
    -------
    array
        Sparse, in x's format.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.empty_like(sf.eye(3)).nnz
    0
    """
    return zeros_like(x, dtype=dtype, device=device)


@at_home
def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """One value in the shape of x: sparse, in x's format, where the value is 0, else dense where allowed.

    Parameters
    ----------
    x : array
    fill_value : scalar
    dtype : dtype, optional
    device : optional

    Returns
    -------
    array

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.full_like(sf.eye(3), 0)
    <CDS 3×3 float64, nnz=0>
    """
    if not is_sparse(x):
        return storage(x).full_like(x, fill_value, dtype=native(dtype, storage(x)), device=device)
    if fill_value == 0:
        return zeros_like(x, dtype=dtype, device=device)
    xp = storage(x)
    dtype = x.dtype if dtype is None else native(dtype, xp)
    permit(f"full_like with {fill_value}", "no entry is 0", x.shape, dtype)
    if device is not None:
        return full(x.shape, fill_value, dtype=dtype, device=device)
    return xp.full(x.shape, fill_value, dtype=dtype)


@at_home
def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones in the shape of x: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array
    dtype : dtype, optional
    device : optional

    Returns
    -------
    array
        Dense.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.ones_like(sf.eye(2))
    array([[1., 1.],
           [1., 1.]])
    """
    return full_like(x, 1, dtype=dtype, device=device)


@at_home
def tril(x: Array, /, *, k: int = 0) -> Array:
    """The entries on and below diagonal k, in x's format; a dense matrix gives a sparse one.

    Parameters
    ----------
    x : array, shape (n, m)
    k : int
        Positive above the main diagonal.

    Returns
    -------
    array
        Sparse, in x's format.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.tril(A).todense()
    array([[ 2.,  0.,  0.],
           [-1.,  2.,  0.],
           [ 0., -1.,  2.]])
    """
    return _triangle(x, k, lower=True)


@at_home
def triu(x: Array, /, *, k: int = 0) -> Array:
    """The entries on and above diagonal k, in x's format; a dense matrix gives a sparse one.

    Parameters
    ----------
    x : array, shape (n, m)
    k : int
        Positive above the main diagonal.

    Returns
    -------
    array
        Sparse, in x's format.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.triu(A).todense()
    array([[ 2., -1.,  0.],
           [ 0.,  2., -1.],
           [ 0.,  0.,  2.]])
    """
    return _triangle(x, k, lower=False)


def _triangle(x: Any, k: int, lower: bool) -> Any:
    if is_sparse(x):
        return _half(x, k, lower)
    xp = storage(x)
    if x.ndim != 2:
        return (xp.tril if lower else xp.triu)(x, k=k)
    from spformats.interop.dense import from_dense

    return _half(from_dense(x, keep_dtype=True), k, lower)


@structural
def _half(x: Any, k: int, lower: bool) -> Any:
    csr = x.to_csr()
    xp = csr._library
    rows = _arrays.rows_of(csr.indptr)
    offset = csr.indices - rows
    keep = offset <= k if lower else offset >= k
    counts = xp.bincount(rows[keep], minlength=x.shape[0])
    made = CSR._made(csr.data[keep], csr.indices[keep], _arrays.pointers(counts), x.shape)
    layout = x._layout()
    if layout.get("symmetric"):
        layout["symmetric"] = False
    return made.asformat(x.format, force=True, **layout)
