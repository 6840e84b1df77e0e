"""Shared fixtures. Being here also puts this folder on the path, so that tests in subfolders can import `layouts`."""

import importlib

import numpy as np
import pytest

from spformats.interop import devices


class Backend:
    """One array library, so that one test body runs on all: ``backend.asarray(ndarray)``, ``backend.matrix(A)``."""

    def __init__(self, name):
        self.name = name
        self.library = importlib.import_module(name)

    def asarray(self, array):
        """A NumPy array as an array of this library (a copy)."""
        return self.library.asarray(np.array(array))

    def matrix(self, A):
        """A sparse array over this library's arrays."""
        return A.to_device("cuda") if self.name == "cupy" else A.to_namespace(self.library)

    def to_numpy(self, array):
        """An array of this library as a NumPy array."""
        return devices.to_numpy(array)


def has_gpu():
    """Whether CuPy is installed and finds a device."""
    try:
        cupy = importlib.import_module("cupy")
        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # no CuPy, no driver or no device: whatever it says, there is nothing to test on
        return False


@pytest.fixture(params=["numpy", "array_api_strict", "torch", pytest.param("cupy", marks=pytest.mark.gpu)])
def backend(request):
    """Every array library that is installed; CuPy where there is a GPU (mark ``gpu``)."""
    if request.param == "cupy" and not has_gpu():
        pytest.skip("needs CuPy and a GPU")
    pytest.importorskip(request.param)
    return Backend(request.param)
