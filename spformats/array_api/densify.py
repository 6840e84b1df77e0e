"""The one place where a sparse array becomes dense, and where that is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spformats.dispatch import current_config
from spformats.formats._guard import readable


class DensifyError(ValueError):
    """A function's result would be dense, which it may be only inside ``with spformats.config(densify=True)``."""


def itemsize(dtype: Any) -> int:
    """Bytes of one value, whatever library the dtype belongs to."""
    if isinstance(dtype, np.dtype | type):
        return np.dtype(dtype).itemsize
    return np.dtype(str(dtype).rpartition(".")[2]).itemsize  # "torch.float32", "array_api_strict.bool"


def permit(what: str, why: str, shape: tuple[int, ...], dtype: Any, instead: str = "") -> None:
    """Raise `DensifyError` that names the bytes of a dense result, unless the configuration allows it.

    ``instead`` tells of another way to what the caller may have wanted.
    """
    if current_config().densify:
        return
    nbytes = math.prod(shape) * itemsize(dtype)
    raise DensifyError(
        f"{what} is dense: {why}. The dense result of shape {tuple(shape)} takes {nbytes} bytes ({readable(nbytes)}); "
        "it is made inside `with spformats.config(densify=True):`" + (f"; {instead}" if instead else "")
    )


def densified(x: Any, what: str, why: str) -> Any:
    """A sparse array as a dense one where that is allowed; a dense array as it is."""
    if not hasattr(type(x), "components"):
        return x
    permit(what, why, x.shape, x.dtype)
    return x.todense()
