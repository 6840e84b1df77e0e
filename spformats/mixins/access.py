"""Indexing, and a 1×1 array as a Python number."""

from __future__ import annotations

import operator
from typing import Any


class Access:
    """``A[…]``, ``bool(A)``, ``float(A)`` and their kind, and the refusal of ``A[…] = x``."""

    __slots__ = ()

    def __getitem__(self: Any, key: Any) -> Any:
        """Slices give a sparse array, an integer a dense row or column, two integers an element.

        Integer arrays select rows or columns (a sparse array) or, two of them, elements (a dense array). Boolean arrays
        are refused.
        """
        from spformats.array_api.indexing import getitem

        return getitem(self, key)

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        raise TypeError(f"{type(self).__name__} arrays are immutable: build a new one, from A.tocoo() for one")

    def _only(self: Any, what: str) -> Any:
        if self.shape != (1, 1):
            raise TypeError(f"only an array of shape (1, 1) is turned into {what}, this one has shape {self.shape}")
        return self[0, 0]

    def __bool__(self: Any) -> bool:
        if self.shape != (1, 1):
            raise ValueError(
                f"the truth value of an array of shape {self.shape} is ambiguous; use spformats.any or spformats.all"
            )
        return bool(self[0, 0])

    def __int__(self) -> int:
        return int(self._only("an int"))

    def __float__(self) -> float:
        return float(self._only("a float"))

    def __complex__(self) -> complex:
        return complex(self._only("a complex number"))

    def __index__(self) -> int:
        return operator.index(self._only("an index"))

    def __dlpack__(self: Any, **kwargs: Any) -> Any:
        raise BufferError(
            "a sparse array is not one strided block of memory, which is all that DLPack describes; exchange its parts "
            f"({', '.join(self.components)}), or A.todense()"
        )

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        return self._holder.data.__dlpack_device__()
