"""Work on the device where arrays lie, for libraries (CuPy) that make new arrays on a current device."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def home_of(array: Any) -> Any:
    """Context in which new arrays are made on the array's device, for libraries whose devices are contexts."""
    device = getattr(array, "device", None)
    return device if hasattr(device, "__enter__") else contextlib.nullcontext()


def is_away(array: Any) -> bool:
    """Whether this is an array of CuPy's on a device that is not the current one."""
    if type(array).__module__ != "cupy":
        return False
    return bool(array.device.id != sys.modules["cupy"].cuda.runtime.getDevice())


def at_home(function: Callable[P, T]) -> Callable[P, T]:
    """Run a function on the device of its sparse operands, whichever is current.

    Operands on two devices are refused with a TypeError: CuPy would read them across or fail, as the machine allows.
    """

    @functools.wraps(function)
    def there(*args: P.args, **kwargs: P.kwargs) -> T:
        if "cupy" not in sys.modules:  # nobody has arrays with such devices
            return function(*args, **kwargs)
        home = _common_home((*args, *kwargs.values()))
        if home is None:
            return function(*args, **kwargs)
        with home:
            return function(*args, **kwargs)

    return there


def _common_home(values: tuple[Any, ...]) -> Any:
    """The one device of the operands, where one of them is sparse and on a device of CuPy's."""
    operands = list(_arrays_in(values))
    homes = [array.device for array, _ in operands]
    if not any(is_sparse for _, is_sparse in operands):
        return None
    for other in homes[1:]:
        if other.id != homes[0].id:
            raise TypeError(f"one operand is on cuda:{homes[0].id} and another on cuda:{other.id}; move one of them")
    return homes[0]


def _arrays_in(values: Any) -> Iterator[tuple[Any, bool]]:
    """The arrays of CuPy's among some arguments, and whether each is the inside of a sparse array."""
    for value in values:
        if isinstance(value, (list, tuple)):
            if value and hasattr(value[0], "shape"):  # arrays to be joined, not a long list of numbers
                yield from _arrays_in(value)
            continue
        is_sparse = hasattr(type(value), "components")
        array = value._holder.data if is_sparse else value
        if type(array).__module__.partition(".")[0] == "cupy" and hasattr(array, "device"):
            yield array, is_sparse
