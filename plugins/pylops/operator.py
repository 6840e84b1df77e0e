"""`SparseOperator`, a PyLops operator whose products run our kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pylops


class SparseOperator(pylops.LinearOperator):
    """A sparse array as a PyLops operator; ``A.to_pylops()`` makes one.

    Parameters
    ----------
    A : SparseArray, shape (n, m)
    dims : int or sequence of int, optional
        Shape of the model; its product is m. ``(m,)`` when not given.
    dimsd : int or sequence of int, optional
        Shape of the data; its product is n. ``(n,)`` when not given.

    Attributes
    ----------
    A : SparseArray
        The array given; ``dtype`` is its, ``explicit`` is False.

    Raises
    ------
    ValueError
        If ``dims`` or ``dimsd`` do not fit the shape of A.

    References
    ----------
    M. Ravasi, I. Vasconcelos, *PyLops: A linear-operator Python library for scalable algebra and optimization*,
    SoftwareX 11 (2020).

    Examples
    --------
    >>> import numpy as np
    >>> import spformats as sf
    >>> Op = sf.gallery.poisson2d(4, 3).to_pylops(dims=(3, 4), dimsd=(3, 4))
    >>> (Op @ np.ones((3, 4))).shape
    (3, 4)
    """

    def __init__(
        self, A: Any, dims: int | Sequence[int] | None = None, dimsd: int | Sequence[int] | None = None
    ) -> None:
        self.A = A
        rows, cols = A.shape
        super().__init__(
            dtype=A.dtype, dims=_shape("dims", dims, cols), dimsd=_shape("dimsd", dimsd, rows), explicit=False
        )

    def _matvec(self, x: Any) -> Any:
        return self.A @ x

    def _rmatvec(self, x: Any) -> Any:
        return self.A.H @ x

    def _matmat(self, X: Any) -> Any:
        return self.A @ _dense(X)

    def _rmatmat(self, X: Any) -> Any:
        return self.A.H @ _dense(X)


def _shape(name: str, dims: int | Sequence[int] | None, size: int) -> tuple[int, ...]:
    if dims is None:
        return (size,)
    shape = (int(dims),) if not isinstance(dims, Sequence) else tuple(int(length) for length in dims)
    if math.prod(shape) != size:
        raise ValueError(f"{name} = {dims} has {math.prod(shape)} points, but that side of the matrix has {size}")
    return shape


def _dense(X: Any) -> Any:
    """``todense`` of an operator with over 1000 columns multiplies by a sparse identity, but keeps the dense result."""
    return X.toarray() if hasattr(X, "toarray") else X
