"""Comparisons, bitwise and integer operators: the array API's functions of the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _operator(name: str, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if not _operand(other):
            return NotImplemented
        from spformats.array_api.elementwise_binary import apply

        return apply(name, other, self) if reflected else apply(name, self, other)

    return method


def _operand(x: Any) -> bool:
    return isinstance(x, int | float | complex | list) or (hasattr(x, "dtype") and hasattr(x, "shape"))


class Comparison:
    """Operators beside ``+ - * / @``; a dense result is refused as `spformats.config` says."""

    __slots__ = ()

    __eq__ = _operator("equal")  # type: ignore[assignment]
    __ne__ = _operator("not_equal")  # type: ignore[assignment]
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")

    __and__, __rand__ = _operator("bitwise_and"), _operator("bitwise_and", reflected=True)
    __or__, __ror__ = _operator("bitwise_or"), _operator("bitwise_or", reflected=True)
    __xor__, __rxor__ = _operator("bitwise_xor"), _operator("bitwise_xor", reflected=True)
    __lshift__, __rlshift__ = _operator("bitwise_left_shift"), _operator("bitwise_left_shift", reflected=True)
    __rshift__, __rrshift__ = _operator("bitwise_right_shift"), _operator("bitwise_right_shift", reflected=True)
    __floordiv__, __rfloordiv__ = _operator("floor_divide"), _operator("floor_divide", reflected=True)
    __mod__, __rmod__ = _operator("remainder"), _operator("remainder", reflected=True)

    def __invert__(self: Any) -> Any:
        from spformats.array_api import elementwise_unary

        return elementwise_unary.bitwise_invert(self)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        # by identity: `==` compares elements
        return id(self)
