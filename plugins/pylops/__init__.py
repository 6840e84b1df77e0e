"""PyLops: our arrays as its linear operators. Imports PyLops only when the operator is asked for."""

from typing import Any

__all__ = ["SparseOperator"]


def __getattr__(name: str) -> Any:
    if name != "SparseOperator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from spformats_plugins.pylops.operator import SparseOperator
    except ModuleNotFoundError as error:
        if error.name != "pylops":
            raise
        raise ModuleNotFoundError("PyLops is not installed; pip install pylops", name="pylops") from error
    return SparseOperator
