"""`at_home`: which device a function runs on, with stand-ins for CuPy's arrays and devices."""

import importlib
import sys
import types

import pytest

import spformats as sf
from spformats.array_api import NAMES
from spformats.formats.device import at_home


class Device:
    current: list[int] = []

    def __init__(self, number):
        self.id = number

    def __enter__(self):
        Device.current.append(self.id)

    def __exit__(self, *error):
        Device.current.pop()


class Array:
    shape = (3,)

    def __init__(self, number):
        self.device = Device(number)


Array.__module__ = "cupy"


class Sparse:
    components = ("data",)
    shape = (3, 3)

    def __init__(self, number):
        self.data = Array(number)
        self._holder = self


@at_home
def where_it_runs(*args, **kwargs):
    return Device.current[-1] if Device.current else None


@pytest.fixture(autouse=True)
def _cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))


def test_runs_where_the_sparse_operand_lies():
    assert where_it_runs(Sparse(1)) == 1
    assert where_it_runs(Sparse(1), Array(1), 3) == 1
    assert where_it_runs(Array(1), x=Sparse(1)) == 1
    assert where_it_runs([Sparse(2), Sparse(2)]) == 2
    assert Device.current == []


def test_functions_of_dense_arrays_are_left_alone():
    assert where_it_runs(Array(1)) is None
    assert where_it_runs(sf.eye(3), 2.0) is None


@pytest.mark.parametrize("other", [Sparse(0), Array(0), [Array(0)]])
def test_operands_on_two_devices_are_refused(other):
    with pytest.raises(TypeError, match=r"cuda:1 and another on cuda:0; move one"):
        where_it_runs(Sparse(1), other)


def test_every_function_of_arrays_runs_at_home():
    aside = ("constants", "data_types", "creation", "inspection", "densify", "elementwise_binary")
    names = {name for name, module in NAMES.items() if module.rsplit(".", 1)[1] not in aside} - {
        "broadcast_shapes",
        "concat",
    }
    functions = [getattr(sf, name) for name in sorted(names | {"astype"})]
    extension = importlib.import_module("spformats.array_api.linalg")
    functions += [getattr(extension, name) for name in extension.__all__]
    assert not [f.__name__ for f in functions if not hasattr(f, "__wrapped__")]
