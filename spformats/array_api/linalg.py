"""The standard's ``linalg`` extension, for single matrices.

What the structure allows is done sparsely (norms, traces, powers, `solve` by SciPy's LU). Factorisations that fill the
matrix are dense by nature: they run where `spformats.config` allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spformats.array_api import statistical
from spformats.array_api.densify import densified
from spformats.array_api.elementwise_unary import named, over_stored
from spformats.array_api.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.formats import CSR, _arrays

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


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """A diagonal as a dense vector."""
    return x.diagonal(offset) if is_sparse(x) else storage(x).linalg.diagonal(x, offset=offset)


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sum of a diagonal."""
    if not is_sparse(x):
        return storage(x).linalg.trace(x, offset=offset, dtype=dtype)
    return statistical.sum(x.diagonal(offset), dtype=dtype)


def outer(x1: Array, x2: Array, /) -> Array:
    """Every product of elements of two vectors, as CSR over their nonzeros."""
    if is_sparse(x1) or is_sparse(x2):
        raise ValueError("outer takes two vectors, and a sparse array has two dimensions; see spformats.kron and A @ B")
    xp = storage(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer takes two vectors, got shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    from spformats.interop.dense import from_dense

    return from_dense(xp.linalg.outer(x1, x2), keep_dtype=True)


def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Norm of all elements as one vector, or of rows or columns."""
    if not is_sparse(x):
        return storage(x).linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    xp = storage(x)
    magnitude = over_stored(x, xp.abs)
    kept: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if statistical.reduced_axes(axis) == ():
        return magnitude
    if ord == float("inf"):
        return statistical.max(magnitude, **kept)
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


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """``"fro"``, 1, inf, -1 and -inf from the stored entries; 2, -2 and ``"nuc"`` need the (dense) singular values."""
    xp = storage(x)
    if not is_sparse(x):
        return xp.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    if ord in ("fro", None):
        return vector_norm(x, keepdims=keepdims)
    if ord in (1, -1, float("inf"), -float("inf")):
        sums = statistical.sum(over_stored(x, xp.abs), axis=0 if abs(ord) == 1 else 1)
        norm = xp.max(sums) if ord > 0 else xp.min(sums)
        return xp.reshape(norm, (1, 1)) if keepdims else norm
    dense = densified(x, f"matrix_norm of order {ord!r}", "it needs all singular values")
    return xp.linalg.matrix_norm(dense, keepdims=keepdims, ord=ord)


def matrix_power(x: Array, n: int, /) -> Array:
    """``x @ x @ … @ x``; a negative power needs the inverse, which is dense."""
    if not is_sparse(x):
        return storage(x).linalg.matrix_power(x, n)
    if x.shape[0] != x.shape[1]:
        raise ValueError(f"matrix_power needs a square matrix, got shape {x.shape}")
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
    xp, n = x._xp, x.shape[0]
    made = CSR._made(xp.ones(n, dtype=x.dtype), xp.arange(n), xp.arange(n + 1), x.shape)
    return made.asformat("cds") if x.format == "cds" else made


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross products of three-element vectors: dense, where `spformats.config` allows it."""
    xp = storage(x1, x2)
    return xp.linalg.cross(
        densified(x1, "cross", "products mix the elements"),
        densified(x2, "cross", "products mix the elements"),
        axis=axis,
    )


def solve(x1: Array, x2: Array, /) -> Array:
    """The dense solution of ``x1 @ x = x2`` by SciPy's sparse LU factorisation."""
    if not is_sparse(x1):
        return storage(x1).linalg.solve(x1, densified(x2, "solve with a sparse right side", "the solution is"))
    if is_sparse(x2):
        x2 = densified(x2, "solve with a sparse right side", "the solution is")
    if x2.ndim not in (1, 2):
        raise ValueError(f"solve: the right side must have one or two dimensions, got shape {tuple(x2.shape)}")
    return _solved(x1, x2)


@structural
def _solved(A: Any, b: Any) -> Any:
    import numpy as np
    from scipy.sparse.linalg import splu

    if A.shape[0] != A.shape[1] or A.shape[0] != b.shape[0]:
        raise ValueError(f"solve: shapes {A.shape} and {tuple(b.shape)} do not fit a square system")
    dtype = np.result_type(_arrays.value_dtype(A.dtype), _arrays.value_dtype(b.dtype))
    if 0 in (A.shape[0], b.size):
        return np.zeros(b.shape, dtype=dtype)
    return splu(A.astype(dtype).tocsc()).solve(np.ascontiguousarray(b, dtype=dtype))


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Rank by singular values: dense, where `spformats.config` allows it."""
    return storage(x).linalg.matrix_rank(densified(x, "matrix_rank", "it needs all singular values"), rtol=rtol)


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Pseudo-inverse: dense, where `spformats.config` allows it."""
    return storage(x).linalg.pinv(densified(x, "pinv", "a pseudo-inverse is full"), rtol=rtol)


def qr(x: Array, /, *, mode: str = "reduced") -> Any:
    """QR factors: dense, where `spformats.config` allows it."""
    return storage(x).linalg.qr(densified(x, "qr", "the factors are full"), mode=mode)


def svd(x: Array, /, *, full_matrices: bool = True) -> Any:
    """Singular value decomposition: dense, where `spformats.config` allows it; see `scipy.sparse.linalg.svds`."""
    return storage(x).linalg.svd(densified(x, "svd", "the factors are full"), full_matrices=full_matrices)


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Cholesky factor: dense, where `spformats.config` allows it."""
    return storage(x).linalg.cholesky(densified(x, "cholesky", "the factor fills up"), upper=upper)


def _dense_only(name: str, why: str, doc: str) -> Callable[..., Any]:
    def function(x: Array, /) -> Any:
        linalg = storage(x).linalg
        # the standard of 2025.12 has names that a storage library may not have yet
        f = getattr(linalg, name, None)
        if f is None:
            raise NotImplementedError(f"{linalg.__name__} has no {name}")
        return f(densified(x, name, why))

    return named(function, name, f"{doc}: dense, where `spformats.config` allows it.")


det = _dense_only("det", "it is worked out by a dense factorisation", "Determinant")
slogdet = _dense_only("slogdet", "it is worked out by a dense factorisation", "Sign and logarithm of the determinant")
inv = _dense_only("inv", "an inverse is full", "Inverse")
eig = _dense_only("eig", "eigenvectors are full", "Eigenvalues and eigenvectors")
eigh = _dense_only("eigh", "eigenvectors are full", "Eigenvalues and eigenvectors of a symmetric matrix")
eigvals = _dense_only("eigvals", "it is worked out by a dense factorisation", "Eigenvalues")
eigvalsh = _dense_only("eigvalsh", "it is worked out by a dense factorisation", "Eigenvalues of a symmetric matrix")
svdvals = _dense_only("svdvals", "it is worked out by a dense factorisation", "Singular values")
