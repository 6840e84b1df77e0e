"""What SciPy asks of a sparse matrix and of a LinearOperator; every format answers both.

A `SparseArray` is a `scipy.sparse.linalg.LinearOperator`, so the iterative solvers call `matvec` and reach our kernels,
and it passes `scipy.sparse.issparse`, so factorisations ask for `tocsc` and get a copy of SciPy's own kind.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.sparse import sparray
from scipy.sparse.linalg import LinearOperator

from spformats.formats.device import at_home

try:
    from scipy._lib._sparse import SparseABC
except ImportError:  # SciPy moved it: sparse arrays themselves then serve as the abstract base
    SparseABC = None


def asked_by_scipy() -> str:
    """The module of ``scipy.sparse`` whose code called the method that asks this; empty where others called.

    Its constructors and stackers (``csr_array(A)``, ``hstack([A, B])``) call the same `asformat` and ``__array__`` as
    everybody, but write into the arrays they find: what they ask for must be of SciPy's own kind, and a copy.
    """
    module = sys._getframe(2).f_globals.get("__name__", "")
    return module if module.startswith("scipy.sparse") else ""


def _by_csr(name: str) -> Any:
    """A private method of SciPy's sparse arrays, run on this array's `SciPyProtocol.tocsr`."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.tocsr(), name)(*args, **kwargs)

    return method


class SciPyProtocol(LinearOperator, sparray):
    """SciPy's side of `SparseArray`.

    ``sparray`` is SciPy's mark of sparse arrays, which its functions answer with arrays, not with matrices.
    """

    __array_ufunc__ = None
    _scipy_only = ("csc", "coo", "dia", "dok", "lil")

    # ------------------------------------------------------------------ LinearOperator
    def matvec(self: Any, x: Any) -> Any:
        """``A @ x`` for x of shape (m,) or (m, 1)."""
        if type(x) is np.ndarray and x.ndim == 1:
            return self @ x
        return self @ _vector(x, self.shape[1], self.shape)

    def rmatvec(self: Any, x: Any) -> Any:
        """``A.H @ x`` for x of shape (n,) or (n, 1)."""
        return self._times(_vector(x, self.shape[0], self.shape[::-1]), "C")

    def matmat(self: Any, X: Any) -> Any:
        """``A @ X``."""
        return self @ X

    def rmatmat(self: Any, X: Any) -> Any:
        """``A.H @ X``."""
        return self._times(X, "C")

    _matvec, _rmatvec, _matmat, _rmatmat = matvec, rmatvec, matmat, rmatmat

    def _adjoint(self: Any) -> Any:
        return self._transpose_of("C")

    def _transpose(self: Any) -> Any:
        return self._transpose_of("T")

    def __call__(self: Any, x: Any) -> Any:
        return self @ x

    def _as_operator(self: Any) -> LinearOperator:
        """A plain LinearOperator over this array, for sums and products with other operators."""
        return LinearOperator(
            shape=self.shape,
            dtype=self.dtype,
            matvec=self.matvec,
            rmatvec=self.rmatvec,
            matmat=self.matmat,
            rmatmat=self.rmatmat,
        )

    # ------------------------------------------------------------------ scipy.sparse
    @property
    def _shape(self: Any) -> tuple[int, int]:
        return self.shape

    _shape_as_2d = _shape

    def getformat(self: Any) -> str:
        """The name of the format."""
        return self.format

    def get_shape(self: Any) -> tuple[int, int]:
        """The shape."""
        return self.shape

    def getnnz(self: Any, axis: int | None = None) -> Any:
        """`nnz`, of the whole array or along an axis."""
        if axis is None:
            return self.nnz
        return self.count_nonzero(axis) if "bool" in str(self.dtype) else self.tocsr()._getnnz(axis=axis)

    _getnnz = getnnz

    @at_home
    def count_nonzero(self: Any, axis: int | None = None) -> Any:
        """Number of entries that are not zero, of the whole array or along an axis."""
        if axis is not None:
            return self.tocsr().count_nonzero(axis=axis)
        return int(self._library.count_nonzero(self._holder.to_csr().data))

    def to_scipy_sparse(self: Any) -> Any:
        """A SciPy sparse array with the same values: ``bsr_array`` from BSR, ``dia_array`` from CDS, else
        ``csr_array``.

        Always a copy, on the host only: a matrix on a GPU has `to_cupyx_sparse`.
        """
        from spformats.interop import scipy_sparse

        return scipy_sparse.to_scipy(self)

    def to_cupyx_sparse(self: Any) -> Any:
        """A ``cupyx.scipy.sparse`` matrix on the GPU with the same values."""
        from spformats.interop import cupyx

        return cupyx.to_cupyx(self)

    def tocsr(self: Any, copy: bool = True) -> Any:
        """``scipy.sparse.csr_array``, a copy."""
        from spformats.interop import scipy_sparse

        return scipy_sparse.to_scipy_csr(self)

    def tocsc(self: Any, copy: bool = True) -> Any:
        """``scipy.sparse.csc_array``, a copy."""
        if self._source is not None:  # the CSR arrays of what this is a transpose of
            base, taken = self._source
            csc = base.tocsr().T
            return csc.conj(copy=False) if taken == "C" else csc
        return self.tocsr().tocsc()

    def tocoo(self: Any, copy: bool = True) -> Any:
        """``scipy.sparse.coo_array``, a copy."""
        if self._source is not None:
            return self.tocsc().tocoo(copy=False)
        return self.tocsr().tocoo()

    def tobsr(self: Any, blocksize: Any = None, copy: bool = True) -> Any:
        """``scipy.sparse.bsr_array``, a copy; BSR keeps its block size unless another is asked for."""
        own = self.to_scipy_sparse()
        return own if own.format == "bsr" and blocksize in (None, own.blocksize) else own.tobsr(blocksize=blocksize)

    def todia(self: Any, copy: bool = True) -> Any:
        """``scipy.sparse.dia_array``, a copy."""
        return self.to_scipy_sparse().todia()

    def todok(self: Any, copy: bool = True) -> Any:
        """``scipy.sparse.dok_array``, a copy."""
        return self.tocsr().todok()

    def tolil(self: Any, copy: bool = True) -> Any:
        """``scipy.sparse.lil_array``, a copy."""
        return self.tocsr().tolil()

    def toarray(self: Any, order: Any = None, out: Any = None) -> Any:
        """The dense array (SciPy's name for `todense`)."""
        dense = self.todense()
        if out is not None:
            out[...] = dense
            return out
        return self._library.asarray(dense, order=order) if order is not None else dense

    def transpose(self: Any, axes: Any = None, copy: bool = False) -> Any:
        """``A.T``; ``axes`` may be None or (1, 0)."""
        if axes not in (None, (1, 0), (-1, -2), (1, -2), (-1, 0)):
            raise ValueError(f"axes of a transpose must be (1, 0), got {axes!r}")
        return self.T.copy() if copy else self.T

    # CSR and BSR arrays always are what these make of them
    has_sorted_indices = has_canonical_format = True

    def sum_duplicates(self: Any) -> None:
        """Nothing to do: there are never duplicates."""

    def sort_indices(self: Any) -> None:
        """Nothing to do: indices are always sorted."""

    def _asfptype(self: Any) -> Any:
        return self

    # what SciPy's arrays call on the other operand where they are the left one: dia + A, csr * A, csr / A
    _add_sparse, _matmul_sparse, _mul_scalar, _divide, _broadcast_to = map(
        _by_csr, ("_add_sparse", "_matmul_sparse", "_mul_scalar", "_divide", "_broadcast_to")
    )


if SparseABC is not None:
    SparseABC.register(SciPyProtocol)


def _vector(x: Any, length: int, shape: tuple[int, int]) -> Any:
    """x as an array of shape (length,) or (length, 1)."""
    if isinstance(x, np.matrix) or not hasattr(x, "shape"):
        x = np.asarray(x)
    if tuple(x.shape) not in ((length,), (length, 1)):
        raise ValueError(
            f"dimension mismatch: an operator of shape {shape} takes a vector of length {length}, got shape "
            f"{tuple(x.shape)}"
        )
    return x
