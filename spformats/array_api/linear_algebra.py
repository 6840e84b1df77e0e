"""Products of the standard: ``matmul``, ``tensordot``, ``vecdot``, and the transpose."""

from __future__ import annotations

from typing import Any

from spformats.array_api import elementwise_binary, statistical
from spformats.array_api.elementwise_unary import over_stored
from spformats.array_api.joining import axis_of
from spformats.array_api.namespaces import Array, is_sparse, sparse, storage
from spformats.formats.device import at_home


@at_home
def matmul(x1: Array, x2: Array, /) -> Array:
    """``x1 @ x2``: two sparse arrays give a sparse one, a dense operand gives a dense result.

    Parameters
    ----------
    x1, x2 : arrays, shapes (n, m) and (m, p), or vectors

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.matmul(A, A)
    <CDS 3×3 float64, nnz=9>
    """
    x1, x2 = sparse(x1), sparse(x2)
    if not (is_sparse(x1) or is_sparse(x2)):
        return storage(x1).matmul(x1, x2)
    return _product(x1, x2)


def _product(x1: Any, x2: Any) -> Any:
    # not every library's arrays leave ``x1 @ x2`` to an operand they do not know
    return x1 @ x2 if is_sparse(x1) else x2.__rmatmul__(x1)


@at_home
def matrix_transpose(x: Array, /) -> Array:
    """The transpose; of a sparse array a view.

    Parameters
    ----------
    x : array, shape (n, m)

    Returns
    -------
    array, shape (m, n)

    Examples
    --------
    >>> import spformats as sf
    >>> sf.matrix_transpose(sf.eye(2, 3, format='csr'))
    <CSR 3×2 float64, nnz=2, transpose view>
    """
    return x.mT if is_sparse(x) else storage(x).matrix_transpose(x)


@at_home
def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """Contract axes of two arrays; results of more than two dimensions are refused.

    Parameters
    ----------
    x1, x2 : arrays
    axes : int or two sequences of int
        How many axes, or which.

    Returns
    -------
    array

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.tensordot(A, A, axes=1)
    <CDS 3×3 float64, nnz=9>
    """
    x1, x2 = sparse(x1), sparse(x2)
    if not (is_sparse(x1) or is_sparse(x2)):
        return storage(x1).tensordot(x1, x2, axes=axes)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot over {axes} axes: the arrays have {x1.ndim} and {x2.ndim} dimensions")
        pairs = [(x1.ndim - axes + i, i) for i in range(axes)]
    else:
        pairs = [(axis_of(a, x1.ndim), axis_of(b, x2.ndim)) for a, b in zip(*axes, strict=True)]
    for a, b in pairs:
        if x1.shape[a] != x2.shape[b]:
            raise ValueError(
                f"tensordot: axis {a} of shape {x1.shape} and axis {b} of shape {x2.shape} differ in length"
            )
    rank = x1.ndim + x2.ndim - 2 * len(pairs)
    if rank > 2:
        raise ValueError(f"tensordot over {len(pairs)} axes has {rank} dimensions, and a sparse array has at most two")
    if len(pairs) == 2:
        turned = x2 if sorted(pairs) == [(0, 0), (1, 1)] else x2.T
        return statistical.sum(elementwise_binary.apply("multiply", x1, turned), dtype=_product_dtype(x1, x2))
    ((a, b),) = pairs
    left = x1.T if x1.ndim == 2 and a == 0 else x1
    right = x2.T if x2.ndim == 2 and b == 1 else x2
    return _product(left, right)


def _product_dtype(x1: Any, x2: Any) -> Any:
    return storage(x1, x2).result_type(x1.dtype, x2.dtype)


@at_home
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """``sum(conj(x1) * x2)`` along an axis, a dense vector.

    Parameters
    ----------
    x1, x2 : arrays
        Their shapes broadcast.
    axis : int

    Returns
    -------
    array
        Dense, of the library that holds the values.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.vecdot(A, A)
    array([5., 6., 5.])
    """
    x1, x2 = sparse(x1), sparse(x2)
    if not (is_sparse(x1) or is_sparse(x2)):
        return storage(x1).vecdot(x1, x2, axis=axis)
    lengths = [x.shape[axis_of(axis, x.ndim)] for x in (x1, x2)]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"vecdot along axis {axis}: shapes {tuple(x1.shape)} and {tuple(x2.shape)} differ in length there"
        )
    xp = storage(*(x for x in (x1, x2) if is_sparse(x)))
    left = x1
    if xp.isdtype(x1.dtype, "complex floating"):
        left = over_stored(x1, xp.conj) if is_sparse(x1) else xp.conj(x1)
    product = elementwise_binary.apply("multiply", left, x2)
    return statistical.sum(product, axis=axis, dtype=_product_dtype(x1, x2))
