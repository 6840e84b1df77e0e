"""Pytest plugin that restricts data-apis/array-api-tests to two-dimensional shapes.

The suite draws shapes of any number of dimensions and does not read the capability "max dimensions" (2 here). This
plugin replaces its strategies for shapes, before its test modules are imported: wherever a test takes arrays of any
shape it gets matrices, which spformats holds in a sparse format; a test that asks for vectors gets vectors. Functions
with a dense result run inside ``spformats.config(densify=True)``, for the suite knows no other way to say that it wants
one.
"""

from __future__ import annotations

from hypothesis import strategies as st

import spformats as sf

sf.config(densify=True).__enter__()

import array_api_tests  # noqa: E402 (the suite reads its settings when imported)

_any_shapes = array_api_tests.xps.array_shapes
_any_broadcastable = array_api_tests.xps.broadcastable_shapes
_any_mutual = array_api_tests.xps.mutually_broadcastable_shapes


def _array_shapes(*, min_dims=1, max_dims=None, min_side=1, max_side=None):
    """Two dimensions unless fewer are asked for by ``max_dims``."""
    most = 2 if max_dims is None else min(max_dims, 2)
    least = 2 if most == 2 and min_dims < 2 and max_dims != min_dims else min(min_dims, most)
    return _any_shapes(min_dims=least, max_dims=most, min_side=min_side, max_side=max_side)


def _broadcastable_shapes(shape, *, min_dims=0, max_dims=None, min_side=1, max_side=None):
    return _any_broadcastable(shape, min_dims=min(len(shape), 2), max_dims=2, min_side=min_side, max_side=max_side)


def _mutually_broadcastable_shapes(num_shapes, *, base_shape=(), min_dims=0, max_dims=None, min_side=1, max_side=None):
    one = max_dims == 1
    return _any_mutual(
        num_shapes,
        base_shape=base_shape,
        min_dims=1 if one else 2,
        max_dims=1 if one else 2,
        min_side=min_side,
        max_side=max_side,
    )


class _TwoDimensional:
    """The suite's strategies with other shapes."""

    array_shapes = staticmethod(_array_shapes)
    broadcastable_shapes = staticmethod(_broadcastable_shapes)
    mutually_broadcastable_shapes = staticmethod(_mutually_broadcastable_shapes)

    def __init__(self, strategies):
        self._strategies = strategies

    def __getattr__(self, name):
        return getattr(self._strategies, name)


array_api_tests.xps = _TwoDimensional(array_api_tests.xps)

import array_api_tests.hypothesis_helpers as hh  # noqa: E402

# "stacks of matrices" are single matrices: the stack's shape is ()
_single = st.just(())
_stacks_of_matrices, _stacks_of_invertible, _finite = hh.matrix_shapes, hh.invertible_matrices, hh.finite_matrices


def _matrix_shapes(stack_shapes=_single):
    return _stacks_of_matrices(_single)


hh.matrix_shapes = _matrix_shapes
hh.square_matrix_shapes = _matrix_shapes().filter(lambda shape: shape[0] == shape[1])
hh.rtol_shared_matrix_shapes = st.shared(_matrix_shapes())
_rtol = {"allow_nan": False, "allow_infinity": False, "min_value": 0, "max_value": 42}
hh.rtols = st.floats(**_rtol) | hh.arrays(dtype=hh.real_floating_dtypes, shape=_single, elements=_rtol)
hh.finite_matrices = lambda shape=None, **kw: _finite(_matrix_shapes() if shape is None else shape, **kw)
hh.invertible_matrices = lambda dtypes=hh.floating_dtypes, stack_shapes=_single: _stacks_of_invertible(dtypes, _single)


@st.composite
def _positive_definite_matrices(draw, dtypes=hh.floating_dtypes):
    n = draw(st.integers(0, 8))
    return sf.eye(n, dtype=draw(dtypes))


hh.positive_definite_matrices = _positive_definite_matrices

_any_reshape = hh.reshape_shapes
hh.reshape_shapes = lambda arr_shape, ndims=None: _any_reshape(arr_shape, st.integers(1, 2))
