"""The vector type behind `simd`, and how its values are built in LLVM.

Complex vectors are interleaved lanes, (re, im, re, im, ...); a width counts elements.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import models, register_model

FLAGS = ("contract", "nsz", "arcp")
BARE = ("nsz", "arcp")  # for a product that is not fused with a sum


class Vector(types.Type):
    """``width`` values of a Numba scalar type in one register group."""

    def __init__(self, scalar, width):
        self.scalar = scalar
        self.width = width
        super().__init__(name=f"Vector({scalar}, {width})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, llvm_vector(fe_type.scalar, fe_type.width))


def real_type(scalar):
    return scalar.underlying_float if isinstance(scalar, types.Complex) else scalar


def lane_type(scalar):
    real = real_type(scalar)
    if real is types.float32:
        return ir.FloatType()
    if real is types.float64:
        return ir.DoubleType()
    return ir.IntType(1 if real is types.boolean else real.bitwidth)


def is_complex(scalar):
    return isinstance(scalar, types.Complex)


def lane_count(scalar, width):
    return 2 * width if is_complex(scalar) else width


def llvm_vector(scalar, width):
    return ir.VectorType(lane_type(scalar), lane_count(scalar, width))


def alignment(scalar):
    """Bytes an element is aligned to."""
    return real_type(scalar).bitwidth // 8


def shuffle(builder, a, b, order):
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), [ir.Constant(ir.IntType(32), i) for i in order])
    return builder.shuffle_vector(a, b, mask)


def element_pointer(context, builder, array_type, array, index):
    """Pointer to ``array.flat[index]`` of a C-contiguous array, without wrap-around."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


def insert_element(context, builder, array_type, array, index, lanes, lane):
    """Put ``array[index]`` into element ``lane`` of a vector."""
    if index.type.width < 64:
        index = builder.zext(index, ir.IntType(64))
    pointer = element_pointer(context, builder, array_type, array, index)
    if not is_complex(array_type.dtype):
        return builder.insert_element(lanes, builder.load(pointer), ir.IntType(32)(lane))
    parts = builder.bitcast(pointer, lane_type(array_type.dtype).as_pointer())
    for k in range(2):
        part = builder.load(builder.gep(parts, [ir.IntType(64)(k)]))
        lanes = builder.insert_element(lanes, part, ir.IntType(32)(2 * lane + k))
    return lanes


def splat(builder, lane, count):
    one = builder.insert_element(ir.Constant(ir.VectorType(lane.type, count), ir.Undefined), lane, ir.IntType(32)(0))
    return shuffle(builder, one, one, [0] * count)


def broadcast(context, builder, scalar_type, value, width):
    """A scalar as (vector lanes); complex scalars are repeated as (re, im, re, im, ...)."""
    if not is_complex(scalar_type):
        return splat(builder, value, width)
    number = context.make_complex(builder, scalar_type, value)
    pair_type = ir.VectorType(number.real.type, 2)
    pair = builder.insert_element(ir.Constant(pair_type, ir.Undefined), number.real, ir.IntType(32)(0))
    pair = builder.insert_element(pair, number.imag, ir.IntType(32)(1))
    return shuffle(builder, pair, pair, [0, 1] * width)


def precision(builder, lanes, lane_type):
    target = ir.VectorType(lane_type, lanes.type.count)
    if lanes.type.element == lane_type:
        return lanes
    if isinstance(lane_type, ir.DoubleType):
        return builder.fpext(lanes, target)
    return builder.fptrunc(lanes, target)


def operand(context, builder, operand_type, value, width):
    """(lanes, is_complex) of a vector or scalar operand."""
    if isinstance(operand_type, Vector):
        return value, is_complex(operand_type.scalar)
    return broadcast(context, builder, operand_type, value, width), is_complex(operand_type)


def muladd(builder, acc, a, a_complex, b, b_complex, complex_result, width):
    """acc + a*b on lanes of equal precision; acc may be None."""

    def add(x, y):
        return y if x is None else builder.fadd(x, y, flags=FLAGS)

    if not complex_result:
        return add(acc, builder.fmul(a, b, flags=FLAGS))
    if a_complex and b_complex:
        even = [2 * (i // 2) for i in range(2 * width)]
        real = shuffle(builder, a, a, even)
        imag = shuffle(builder, a, a, [i + 1 for i in even])
        swapped = shuffle(builder, b, b, [i ^ 1 for i in range(2 * width)])
        # Of two bare products LLVM would fuse either with the sum, here one and there the other: bits would differ.
        acc = builder.fmul(real, b, flags=BARE) if acc is None else add(acc, builder.fmul(real, b, flags=FLAGS))
        cross = builder.fmul(imag, swapped, flags=FLAGS)
        minus, plus = builder.fsub(acc, cross, flags=FLAGS), builder.fadd(acc, cross, flags=FLAGS)
        return shuffle(builder, minus, plus, [i + (i % 2) * 2 * width for i in range(2 * width)])
    twice = [i // 2 for i in range(2 * width)]
    if not a_complex:
        a = shuffle(builder, a, a, twice)
    if not b_complex:
        b = shuffle(builder, b, b, twice)
    if not (a_complex or b_complex):  # real operands into a complex sum: the imaginary lanes get 0
        zero = ir.Constant(b.type, [ir.Constant(b.type.element, float(i % 2 == 0)) for i in range(2 * width)])
        b = builder.fmul(b, zero, flags=FLAGS)
    return add(acc, builder.fmul(a, b, flags=FLAGS))
