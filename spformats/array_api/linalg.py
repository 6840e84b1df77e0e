"""The standard's ``linalg`` extension, for single matrices.

What the structure allows is done sparsely (norms, traces, powers, `solve` by SciPy's LU). Factorisations that fill the
matrix are dense by nature: they run where `spformats.config` allows it.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from spformats.array_api import statistical
from spformats.array_api.densify import densified
from spformats.array_api.elementwise_unary import over_stored
from spformats.array_api.factorisations import (
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matrix_rank,
    pinv,
    qr,
    slogdet,
    svd,
    svdvals,
)
from spformats.array_api.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.formats import CSR, _arrays
from spformats.formats.device import at_home

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


@at_home
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """A diagonal as a dense vector.

    Parameters
    ----------
    x : array, shape (n, m)
    offset : int
        Positive above the main diagonal.

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.linalg.diagonal(A, offset=1)
    array([-1., -1.])
    """
    return x.diagonal(offset) if is_sparse(x) else storage(x).linalg.diagonal(x, offset=offset)


@at_home
def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sum of a diagonal.

    Parameters
    ----------
    x : array, shape (n, m)
    offset : int
    dtype : dtype, optional

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.linalg.trace(A)
    np.float64(6.0)
    """
    if not is_sparse(x):
        return storage(x).linalg.trace(x, offset=offset, dtype=dtype)
    return statistical.sum(x.diagonal(offset), dtype=dtype)


@at_home
def outer(x1: Array, x2: Array, /) -> Array:
    """Every product of elements of two vectors, as CSR over their nonzeros.

    Parameters
    ----------
    x1, x2 : arrays, one dimension

    Returns
    -------
    array, two dimensions
        Sparse, CSR.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.linalg.outer(sf.arange(2), sf.arange(3)).shape
    (2, 3)
    """
    if is_sparse(x1) or is_sparse(x2):
        raise ValueError("outer takes two vectors, and a sparse array has two dimensions; see A @ B")
    xp = storage(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer takes two vectors, got shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    from spformats.interop.dense import from_dense

    column, row = xp.reshape(x1, (-1, 1)), xp.reshape(x2, (1, -1))
    return from_dense(column, keep_dtype=True) @ from_dense(row, keep_dtype=True)


@at_home
def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Norm of all elements as one vector, or of rows or columns.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int or tuple of int, optional
        All axes where left out.
    keepdims : bool
        Keep the reduced axes at length 1.
    ord : float

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.linalg.vector_norm(A, axis=1)
    array([2.23606798, 2.44948974, 2.23606798])
    """
    if not is_sparse(x):
        return storage(x).linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    xp = storage(x)
    magnitude = over_stored(x, xp.abs)
    kept: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if statistical.reduced_axes(axis) == ():
        return magnitude
    if ord == float("inf"):
        # a vector without elements has the norm 0, though it has no largest element
        empty = 0 in [x.shape[a] for a in statistical.reduced_axes(axis)]
        return (statistical.sum if empty else statistical.max)(magnitude, **kept)
    if ord == -float("inf"):
        return statistical.min(magnitude, **kept)
    if ord == 0:
        from spformats.array_api.searching import count_nonzero

        return xp.astype(xp.asarray(count_nonzero(x, **kept)), magnitude.dtype)
    if ord == 1:
        return statistical.sum(magnitude, **kept)
    if ord == 2:
        return xp.sqrt(statistical.sum(over_stored(magnitude, xp.square), **kept))
    if ord > 0:
        return statistical.sum(over_stored(magnitude, lambda v: v**ord), **kept) ** (1 / ord)
    dense = densified(x, f"vector_norm of order {ord}", f"0 to the power {ord} is infinite")
    return xp.linalg.vector_norm(dense, ord=ord, **kept)


@at_home
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """``"fro"``, 1, inf, -1 and -inf from the stored entries; 2, -2 and ``"nuc"`` need the (dense) singular values.

    Parameters
    ----------
    x : array, shape (n, m)
    keepdims : bool
        Keep the reduced axes at length 1.
    ord : float, "fro" or "nuc"

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.linalg.matrix_norm(A, ord=1)
    np.float64(4.0)
    """
    xp = storage(x)
    if not is_sparse(x):
        return xp.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    if ord in ("fro", None):
        return vector_norm(x, keepdims=keepdims)
    if ord in (1, -1, float("inf"), -float("inf")):
        sums = statistical.sum(over_stored(x, xp.abs), axis=0 if abs(ord) == 1 else 1)
        if ord > 0:
            norm = xp.max(sums) if sums.shape[0] else xp.sum(sums)  # no column or row: the norm is 0
        else:
            norm = xp.min(sums)
        return xp.reshape(norm, (1, 1)) if keepdims else norm
    if ord not in (2, -2, "nuc"):
        raise ValueError(f"unknown order {ord!r} of a matrix norm; known: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf")
    dense = densified(x, f"matrix_norm of order {ord!r}", "it needs all singular values")
    return xp.linalg.matrix_norm(dense, keepdims=keepdims, ord=ord)


@at_home
def matrix_power(x: Array, n: int, /) -> Array:
    """``x @ x @ … @ x``; a negative power needs the inverse, which is dense.

    Parameters
    ----------
    x : array, shape (n, n)
    n : int

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.linalg.matrix_power(A, 2)
    <CDS 3×3 float64, nnz=9>
    """
    if not is_sparse(x):
        return storage(x).linalg.matrix_power(x, n)
    if x.shape[0] != x.shape[1]:
        raise ValueError(f"matrix_power needs a square matrix, got shape {x.shape}")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"matrix_power needs an integer power, got {n!r}") from None
    if n < 0:
        return storage(x).linalg.matrix_power(densified(x, "matrix_power with a negative power", "the inverse is"), n)
    if n == 0:
        return _identity(x)
    power = None
    while True:  # binary powers: log2(n) products
        if n & 1:
            power = x if power is None else power @ x
        n >>= 1
        if not n:
            return power
        x = x @ x


@structural
def _identity(x: Any) -> Any:
    xp, n = x._library, x.shape[0]
    made = CSR._made(xp.ones(n, dtype=x.dtype), xp.arange(n), xp.arange(n + 1), x.shape)
    return made.asformat("cds") if x.format == "cds" else made


@at_home
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross products of three-element vectors: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x1, x2 : arrays
    axis : int
        Of length 3.

    Returns
    -------
    array
        Dense, of the library that holds the values.

    Raises
    ------
    DensifyError
        If one is sparse, outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.linalg.cross(sf.arange(3), sf.ones(3))
    array([-1.,  2., -1.])
    """
    xp = storage(x1, x2)
    return xp.linalg.cross(
        densified(x1, "cross", "products mix the elements"),
        densified(x2, "cross", "products mix the elements"),
        axis=axis,
    )


@at_home
def solve(x1: Array, x2: Array, /) -> Array:
    """The dense solution of ``x1 @ x = x2`` by SciPy's sparse LU factorisation.

    Parameters
    ----------
    x1 : array, shape (n, n)
    x2 : array, shape (n,) or (n, k)

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> import numpy as np
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.linalg.solve(A, np.ones(3))
    array([1.5, 2. , 1.5])
    """
    if not is_sparse(x1):
        return storage(x1).linalg.solve(x1, densified(x2, "solve with a sparse right side", "the solution is"))
    if is_sparse(x2):
        x2 = densified(x2, "solve with a sparse right side", "the solution is")
    if x2.ndim not in (1, 2):
        raise ValueError(f"solve: the right side must have one or two dimensions, got shape {tuple(x2.shape)}")
    return _solved(x1, x2)


@structural
def _solved(A: Any, b: Any) -> Any:
    from scipy.sparse.linalg import splu

    if A.shape[0] != A.shape[1] or A.shape[0] != b.shape[0]:
        raise ValueError(f"solve: shapes {A.shape} and {tuple(b.shape)} do not fit a square system")
    dtype = np.result_type(_arrays.value_dtype(A.dtype), _arrays.value_dtype(b.dtype))
    if 0 in (A.shape[0], b.size):
        return np.zeros(b.shape, dtype=dtype)
    return splu(A.astype(dtype).tocsc()).solve(np.ascontiguousarray(b, dtype=dtype))
