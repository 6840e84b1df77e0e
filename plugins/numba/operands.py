"""Bring operands into the one form the kernels are compiled for: C-contiguous, aligned, typed as writable."""

from __future__ import annotations

import numpy as np


class _Alias:
    """Hands NumPy the memory of a read-only array as writable; keeps the array alive as the base."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def readable(array: np.ndarray) -> np.ndarray:
    """Return ``array`` itself, an alias or a C-contiguous copy that a kernel can read.

    Kernels only read what passes through here. Numba types read-only arrays apart (a second compile) and finds the
    compiled version of them more slowly, so a read-only array is passed as an alias that claims to be writable.
    """
    if array.flags.carray:
        return array
    if not (array.flags.c_contiguous and array.flags.aligned):
        return np.array(array, order="C")
    return np.asarray(_Alias(array))
