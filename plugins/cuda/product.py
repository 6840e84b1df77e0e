"""What every product does around its launch: the result array, alpha and beta, awkward memory, the right device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spformats.formats._arrays import xp_of
from spformats_plugins.cuda import runtime

#: ``launch(x, y, alpha, beta, mode)`` on contiguous, aligned arrays; alpha and beta are scalars of the result type,
#: bit 0 of mode says that alpha is not 1, bit 1 that beta is not 0.
Launch = Callable[[Any, Any, Any, Any, int], None]


class Product:
    """A prepared product: ``product(A, x, y, alpha, beta) -> y``.

    It holds arrays of the matrix, never the matrix itself, which holds it.

    Parameters
    ----------
    rows : int
        Rows of the result.
    dtype : dtype
        Type of the result.
    launch : callable
        See `Launch`.
    home : array
        An array of the matrix; kernels run on its device.
    """

    __slots__ = ("dtype", "home", "launch", "one", "rows", "scalar", "zero")

    def __init__(self, rows: int, dtype: Any, launch: Launch, home: Any):
        self.rows = rows
        self.dtype = np.dtype(dtype)
        self.scalar = self.dtype.type
        self.one, self.zero = self.scalar(1), self.scalar(0)
        self.launch = launch
        self.home = home

    def __call__(self, A: Any, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        if not runtime.is_current(self.home):
            with runtime.on_device(self.home):
                return self._run(x, y, alpha, beta)
        return self._run(x, y, alpha, beta)

    def _run(self, x: Any, y: Any, alpha: Any, beta: Any) -> Any:
        x = runtime.ready(x)
        real = not (isinstance(alpha, complex) or isinstance(beta, complex))
        if not (real or self.dtype.kind == "c"):
            return self._scaled(self._run(x, None, 1, 0), y, alpha, beta)
        if y is None:
            y, beta = xp_of(x).empty((self.rows, *x.shape[1:]), dtype=self.dtype), 0
        elif y.dtype != self.dtype or not y.flags.c_contiguous or runtime.address(y) & 15:
            return self._scaled(self._run(x, None, 1, 0), y, alpha, beta)
        if y.size:
            mode = bool(alpha != 1) | bool(beta != 0) << 1
            if mode:
                self.launch(x, y, self.scalar(alpha), self.scalar(beta), mode)
            else:
                self.launch(x, y, self.one, self.zero, 0)
        return y

    def _scaled(self, product: Any, y: Any, alpha: Any, beta: Any) -> Any:
        """alpha * product + beta * y by array operations: strided y, or scalars wider than the product."""
        if alpha != 1:
            product = alpha * product
        if y is None:
            return product
        if beta != 0:
            product = product + beta * y
        y[...] = product
        return y


def columns_layout(x_dtype: Any, k: int, nbytes: int = 16, limit: int = 32) -> tuple[int, int, int]:
    """``(columns, lanes, tiles)``: columns per thread, threads per row, tiles of columns, for an operand of k columns.

    `nbytes` is how much of a row of X a thread reads, where k allows it.
    """
    width = max(1, nbytes // np.dtype(x_dtype).itemsize)
    while width > 1 and k % width:
        width //= 2
    if width * np.dtype(x_dtype).itemsize < 16:
        width = 1  # rows of X do not begin at multiples of 16 bytes
    groups = max(1, -(-k // width))
    lanes = min(limit, 1 << (groups - 1).bit_length())
    return width, lanes, -(-groups // lanes)
