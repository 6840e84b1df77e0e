"""The functions of the array API standard for two-dimensional sparse arrays; see docs/array_api.md for the rules.

Their names are attributes of `spformats`; `NAMES` says which module each lives in.
"""

from __future__ import annotations

_MODULES = {
    "constants": "e inf nan newaxis pi __array_api_version__",
    "data_types": (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 "
        "astype can_cast finfo iinfo isdtype result_type"
    ),
    "creation": "arange empty from_dlpack full linspace meshgrid ones zeros",
    "creation_like": "empty_like full_like ones_like tril triu zeros_like",
    "elementwise_unary": (
        "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf "
        "isnan log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt "
        "square tan tanh trunc"
    ),
    "elementwise_binary": (
        "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
        "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum "
        "minimum multiply nextafter not_equal pow remainder subtract"
    ),
    "clipping": "clip",
    "statistical": "max min prod sum",
    "variance": "mean std var",
    "cumulative": "cumulative_prod cumulative_sum",
    "linear_algebra": "matmul matrix_transpose tensordot vecdot",
    "manipulation": "expand_dims flip moveaxis permute_dims reshape roll squeeze",
    "joining": "broadcast_arrays broadcast_shapes broadcast_to concat repeat stack tile unstack",
    "indexing": "take take_along_axis",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sorting": "argsort sort",
    "sets": "isin unique_all unique_counts unique_inverse unique_values",
    "utility": "all any diff",
    "inspection": "__array_namespace_info__",
    "densify": "DensifyError",
}

#: Every name of the namespace and the module that holds it.
NAMES = {name: f"spformats.array_api.{module}" for module, names in _MODULES.items() for name in names.split()}
