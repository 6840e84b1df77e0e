"""Which kernel runs a product: a registry of kernels by operation, format and array namespace."""

from spformats.dispatch.explanation import Explanation, explain
from spformats.dispatch.registry import (
    GROUP,
    Kernel,
    generation,
    kernels,
    load_plugins,
    namespace_of,
    register,
    select,
)
from spformats.dispatch.running import call, fitting_key, plan_key, prepared, run
from spformats.dispatch.settings import Config, config, current_config

__all__ = [
    "GROUP",
    "Config",
    "Explanation",
    "Kernel",
    "call",
    "config",
    "current_config",
    "explain",
    "fitting_key",
    "generation",
    "kernels",
    "load_plugins",
    "namespace_of",
    "plan_key",
    "prepared",
    "register",
    "run",
    "select",
]
