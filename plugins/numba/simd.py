"""Explicit SIMD in Numba: a vector value type and the few operations our kernels are made of.

LLVM's loop vectoriser gives up on many streams, and its SLP pass is off in Numba. With vector values in the source
the kernels need neither, one source serves real and complex types, and any number of diagonals or columns runs in
compiled loops. Widths are in elements; LLVM splits what a CPU lacks.
"""

from .simd_arithmetic import (
    vadd,
    vconj,
    vget,
    vgreater,
    vmuladd,
    vrepeat,
    vscale,
    vselect,
    vspread,
    vstride,
    vsum,
    vzero,
)
from .simd_memory import (
    fence,
    get,
    prefetch,
    put,
    shifted,
    vgather,
    vload,
    vload_first,
    vscatter,
    vstore,
    vstream,
    vupdate,
)

#: What kernels may use.
OPERATIONS = (
    "fence",
    "get",
    "prefetch",
    "put",
    "shifted",
    "vadd",
    "vconj",
    "vgather",
    "vget",
    "vgreater",
    "vload",
    "vload_first",
    "vmuladd",
    "vrepeat",
    "vscale",
    "vscatter",
    "vselect",
    "vspread",
    "vstore",
    "vstream",
    "vstride",
    "vsum",
    "vupdate",
    "vzero",
)

__all__ = [
    "OPERATIONS",
    "fence",
    "get",
    "prefetch",
    "put",
    "shifted",
    "vadd",
    "vconj",
    "vgather",
    "vget",
    "vgreater",
    "vload",
    "vload_first",
    "vmuladd",
    "vrepeat",
    "vscale",
    "vscatter",
    "vselect",
    "vspread",
    "vstore",
    "vstream",
    "vstride",
    "vsum",
    "vupdate",
    "vzero",
]
