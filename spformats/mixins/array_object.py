"""The array API's side of the object: device, transposes, dense copies, and refusals of what would densify in
silence."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.formats.device import at_home
from spformats.mixins.scipy_protocol import asked_by_scipy


class ArrayObject:
    """Attributes and methods the array API standard asks of an array object."""

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def size(self: Any) -> int:
        """Number of entries of the dense array, rows × columns."""
        return self.shape[0] * self.shape[1]

    @property
    def T(self: Any) -> Any:
        """The transpose; a view that shares this array's memory."""
        return self._transpose_of("T")

    @property
    def mT(self: Any) -> Any:
        """The transpose; a view that shares this array's memory."""
        return self._transpose_of("T")

    @property
    def H(self: Any) -> Any:
        """The adjoint (conjugate transpose); a view that shares this array's memory."""
        return self._transpose_of("C")

    @property
    def device(self: Any) -> Any:
        """Where the values live: ``"cpu"``, or a device of their array library."""
        import array_api_compat

        return array_api_compat.device(self._holder.data)

    def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
        """The same array on another device.

        Parameters
        ----------
        device : str or device
            ``"cpu"`` (NumPy arrays), ``"cuda"`` or ``"cuda:1"`` (CuPy arrays), or what ``A.device`` gives.
        stream : optional
            CuPy stream the copy is ordered on.
        """
        from spformats.interop import devices

        return devices.to_device(self, device, stream)

    def to_namespace(self: Any, xp: Any) -> Any:
        """The same array over the arrays of another library on the CPU: ``numpy``, ``torch``, ``array_api_strict``, the
        module or its name."""
        from spformats.interop import devices

        return devices.to_namespace(self, xp)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        import spformats

        if api_version not in (None, "2024.12", "2025.12"):
            raise ValueError(f"array API version {api_version!r} is not supported; 2024.12 and 2025.12 are")
        return spformats

    @at_home
    def todense(self: Any) -> Any:
        """The dense array, in the array library of the values."""
        if self._namespace not in ("numpy", "cupy"):
            return self._library.asarray(self.to_namespace(np).todense())
        csr = self.to_csr() if self._source is None else self._source[0].to_csr()._transpose_of(self._source[1])
        xp = csr._library
        from spformats.formats._arrays import rows_of

        out = xp.zeros(self.shape, dtype=self.dtype)
        out[rows_of(csr.indptr), csr.indices] = csr.data
        return out

    def diagonal(self: Any, k: int = 0) -> Any:
        """The k-th diagonal as a dense vector (zeros where nothing is stored)."""
        from spformats.linalg import reductions

        return reductions.diagonal(self, k)

    @at_home
    def trace(self: Any, offset: int = 0) -> Any:
        """Sum of a diagonal."""
        return self.diagonal(offset).sum()

    def sum(self: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Sum of all entries (a scalar) or along an axis (a dense vector)."""
        from spformats.array_api import statistical

        total = statistical.sum(self, axis=axis, dtype=dtype)
        if out is not None:
            out[...] = total
            return out
        return total

    def to_pylops(self: Any, dims: Any = None, dimsd: Any = None) -> Any:
        """A ``pylops.LinearOperator`` over this array.

        Parameters
        ----------
        dims, dimsd : int or tuple of int, optional
            N-D shapes of the model and data spaces; by default 1-D.
        """
        try:
            from spformats_plugins.pylops import SparseOperator
        except ImportError as error:
            raise ImportError("to_pylops needs PyLops: pip install pylops") from error
        return SparseOperator(self, dims, dimsd)

    def __array__(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        if asked_by_scipy():  # hstack and its kind put their blocks into an object array
            holder = np.empty((), dtype=object)
            holder[()] = self
            return holder
        raise TypeError(
            f"a sparse array of shape {self.shape} is not turned into a dense one in silence: use A.todense(), or "
            "A.to_scipy_sparse()"
        )

    def __len__(self: Any) -> int:
        raise TypeError("sparse array length is ambiguous; use A.shape[0] or A.nnz")

    def __iter__(self: Any) -> Any:
        raise TypeError("sparse arrays are not iterated over; use A.to_scipy_sparse() or a product with a unit vector")

    def __hash__(self) -> int:
        return id(self)
