"""Explicit SIMD in Numba: a vector value type and the few operations our kernels are made of.

LLVM's loop vectoriser gives up on many streams, and its SLP pass is off in Numba. With vector values in the source
the kernels need neither, one source serves real and complex types (complex vectors are interleaved lanes), and any
number of diagonals or columns runs in compiled loops. Widths are in elements; LLVM splits what a CPU lacks.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import models, register_model

from .jit import intrinsic

LINE = 64  # bytes of a cache line
#: What kernels may use.
OPERATIONS = (
    "get", "prefetch", "put", "vadd", "vconj", "vgather", "vget", "vgreater", "vload", "vload_first", "vmuladd",
    "vrepeat", "vscale", "vscatter", "vselect", "vstore", "vstride", "vsum", "vupdate", "vzero",
)
FLAGS = ("contract", "nsz", "arcp")


class Vector(types.Type):
    """``width`` values of a Numba scalar type in one register group."""

    def __init__(self, scalar, width):
        self.scalar = scalar
        self.width = width
        super().__init__(name=f"Vector({scalar}, {width})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _llvm_vector(fe_type.scalar, fe_type.width))


def _real(scalar):
    return scalar.underlying_float if isinstance(scalar, types.Complex) else scalar


def _lane_type(scalar):
    real = _real(scalar)
    if real is types.float32:
        return ir.FloatType()
    if real is types.float64:
        return ir.DoubleType()
    return ir.IntType(1 if real is types.boolean else real.bitwidth)


def _is_complex(scalar):
    return isinstance(scalar, types.Complex)


def _lanes(scalar, width):
    return 2 * width if _is_complex(scalar) else width


def _llvm_vector(scalar, width):
    return ir.VectorType(_lane_type(scalar), _lanes(scalar, width))


def _alignment(scalar):
    """Bytes an element is aligned to."""
    return _real(scalar).bitwidth // 8


def _shuffle(builder, a, b, order):
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), [ir.Constant(ir.IntType(32), i) for i in order])
    return builder.shuffle_vector(a, b, mask)


def _undef(vector):
    return ir.Constant(vector.type, ir.Undefined)


def _element_pointer(context, builder, array_type, array, index):
    """Pointer to ``array.flat[index]`` of a C-contiguous array, without wrap-around."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


def _insert_element(context, builder, array_type, array, index, lanes, lane):
    """Put ``array[index]`` into element ``lane`` of a vector."""
    if index.type.width < 64:
        index = builder.zext(index, ir.IntType(64))
    pointer = _element_pointer(context, builder, array_type, array, index)
    if not _is_complex(array_type.dtype):
        return builder.insert_element(lanes, builder.load(pointer), ir.IntType(32)(lane))
    parts = builder.bitcast(pointer, _lane_type(array_type.dtype).as_pointer())
    for k in range(2):
        part = builder.load(builder.gep(parts, [ir.IntType(64)(k)]))
        lanes = builder.insert_element(lanes, part, ir.IntType(32)(2 * lane + k))
    return lanes


def _splat(builder, lane, count):
    one = builder.insert_element(ir.Constant(ir.VectorType(lane.type, count), ir.Undefined), lane, ir.IntType(32)(0))
    return _shuffle(builder, one, one, [0] * count)


def _broadcast(context, builder, scalar_type, value, width):
    """A scalar as (vector lanes); complex scalars are repeated as (re, im, re, im, ...)."""
    if not _is_complex(scalar_type):
        return _splat(builder, value, width)
    number = context.make_complex(builder, scalar_type, value)
    pair_type = ir.VectorType(number.real.type, 2)
    pair = builder.insert_element(ir.Constant(pair_type, ir.Undefined), number.real, ir.IntType(32)(0))
    pair = builder.insert_element(pair, number.imag, ir.IntType(32)(1))
    return _shuffle(builder, pair, pair, [0, 1] * width)


def _precision(builder, lanes, lane_type):
    target = ir.VectorType(lane_type, lanes.type.count)
    if lanes.type.element == lane_type:
        return lanes
    if isinstance(lane_type, ir.DoubleType):
        return builder.fpext(lanes, target)
    return builder.fptrunc(lanes, target)


def _operand(context, builder, operand_type, value, width):
    """(lanes, is_complex) of a vector or scalar operand."""
    if isinstance(operand_type, Vector):
        return value, _is_complex(operand_type.scalar)
    return _broadcast(context, builder, operand_type, value, width), _is_complex(operand_type)


def _muladd(builder, acc, a, a_complex, b, b_complex, complex_result, width):
    """acc + a*b on lanes of equal precision; acc may be None."""

    def add(x, y):
        return y if x is None else builder.fadd(x, y, flags=FLAGS)

    if not complex_result:
        return add(acc, builder.fmul(a, b, flags=FLAGS))
    if a_complex and b_complex:
        even = [2 * (i // 2) for i in range(2 * width)]
        real = _shuffle(builder, a, a, even)
        imag = _shuffle(builder, a, a, [i + 1 for i in even])
        swapped = _shuffle(builder, b, b, [i ^ 1 for i in range(2 * width)])
        acc = add(acc, builder.fmul(real, b, flags=FLAGS))
        cross = builder.fmul(imag, swapped, flags=FLAGS)
        minus, plus = builder.fsub(acc, cross, flags=FLAGS), builder.fadd(acc, cross, flags=FLAGS)
        return _shuffle(builder, minus, plus, [i + (i % 2) * 2 * width for i in range(2 * width)])
    twice = [i // 2 for i in range(2 * width)]
    if not a_complex:
        a = _shuffle(builder, a, a, twice)
    if not b_complex:
        b = _shuffle(builder, b, b, twice)
    if not (a_complex or b_complex):  # real operands into a complex sum: the imaginary lanes get 0
        zero = ir.Constant(b.type, [ir.Constant(b.type.element, float(i % 2 == 0)) for i in range(2 * width)])
        b = builder.fmul(b, zero, flags=FLAGS)
    return add(acc, builder.fmul(a, b, flags=FLAGS))


@intrinsic
def get(typingctx, array, index):
    """``array.flat[index]`` of a C-contiguous array, without the test for negative indices."""

    def codegen(context, builder, signature, args):
        pointer = _element_pointer(context, builder, signature.args[0], args[0], args[1])
        return context.unpack_value(builder, signature.return_type, pointer)

    return array.dtype(array, types.intp), codegen


@intrinsic
def put(typingctx, array, index, value):
    """``array.flat[index] = value``, cast to the array's type."""

    def codegen(context, builder, signature, args):
        pointer = _element_pointer(context, builder, signature.args[0], args[0], args[1])
        context.pack_value(builder, signature.args[2], args[2], pointer)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), codegen


@intrinsic(prefer_literal=True)
def vzero(typingctx, like, width):
    """Zeros of ``like``'s element type."""
    vector = Vector(like.dtype, width.literal_value)

    def codegen(context, builder, signature, args):
        return ir.Constant(_llvm_vector(vector.scalar, vector.width), None)

    return vector(like, width), codegen


@intrinsic(prefer_literal=True)
def vload(typingctx, array, index, width):
    """``array.flat[index : index + width]`` of a C-contiguous array."""
    vector = Vector(array.dtype, width.literal_value)

    def codegen(context, builder, signature, args):
        value_type = _llvm_vector(vector.scalar, vector.width)
        pointer = _element_pointer(context, builder, signature.args[0], args[0], args[1])
        load = builder.load(builder.bitcast(pointer, value_type.as_pointer()))
        load.align = _alignment(vector.scalar)
        return load

    return vector(array, types.intp, width), codegen


@intrinsic(prefer_literal=True)
def vload_first(typingctx, array, index, count, width):
    """The first ``count`` elements at ``array.flat[index]`` in a vector of ``width``; none after them is touched."""
    vector = Vector(array.dtype, width.literal_value)
    wanted = count.literal_value

    def codegen(context, builder, signature, args):
        value_type = _llvm_vector(vector.scalar, vector.width)
        pointer = _element_pointer(context, builder, signature.args[0], args[0], args[1])
        pointer = builder.bitcast(pointer, value_type.as_pointer())
        align = _alignment(vector.scalar)
        if wanted == vector.width:
            return builder.load(pointer, align=align)
        flags = [ir.Constant(ir.IntType(1), lane < _lanes(vector.scalar, wanted)) for lane in range(value_type.count)]
        mask = ir.Constant(ir.VectorType(ir.IntType(1), value_type.count), flags)
        kind = {32: "f32", 64: "f64"}[_real(vector.scalar).bitwidth]
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(value_type, [value_type.as_pointer(), ir.IntType(32), mask.type, value_type]),
            f"llvm.masked.load.v{value_type.count}{kind}.p0",
        )
        return builder.call(function, [pointer, ir.IntType(32)(align), mask, ir.Constant(value_type, None)])

    return vector(array, types.intp, count, width), codegen


@intrinsic(prefer_literal=True)
def vrepeat(typingctx, v, period, start, width):
    """Element i is ``v[(start + i) % period]``."""
    vector = Vector(v.scalar, width.literal_value)
    order = [(start.literal_value + i) % period.literal_value for i in range(vector.width)]

    def codegen(context, builder, signature, args):
        lanes = [2 * i + k for i in order for k in range(2)] if _is_complex(v.scalar) else order
        return _shuffle(builder, args[0], args[0], lanes)

    return vector(v, period, start, width), codegen


@intrinsic(prefer_literal=True)
def vstride(typingctx, a, b, start, step, count, width):
    """Elements ``start, start + step, ...`` (``count`` of them) of a and b end to end, the rest 0.

    ``b`` may be None; elements beyond a (and b) count as 0.
    """
    vector = Vector(a.scalar, width.literal_value)
    size = a.width if isinstance(b, types.NoneType) else 2 * a.width
    order = [start.literal_value + i * step.literal_value for i in range(count.literal_value)]
    order += [size] * (vector.width - len(order))
    if size > a.width and max(order[: count.literal_value]) >= size:
        raise TypeError("two vectors leave no room for zeros")

    def codegen(context, builder, signature, args):
        factor = _lanes(a.scalar, 1)
        second = ir.Constant(args[0].type, None) if size == a.width else args[1]
        places = [min(i, size) if size == a.width else min(i, size - 1) for i in order]
        return _shuffle(builder, args[0], second, [factor * i + k for i in places for k in range(factor)])

    return vector(a, b, start, step, count, width), codegen


@intrinsic(prefer_literal=True)
def vget(typingctx, v, index):
    """One element, as a scalar."""
    at = index.literal_value

    def codegen(context, builder, signature, args):
        if not _is_complex(v.scalar):
            return builder.extract_element(args[0], ir.IntType(32)(at))
        number = context.make_complex(builder, v.scalar)
        number.real = builder.extract_element(args[0], ir.IntType(32)(2 * at))
        number.imag = builder.extract_element(args[0], ir.IntType(32)(2 * at + 1))
        return number._getvalue()

    return v.scalar(v, index), codegen


@intrinsic(prefer_literal=True)
def vgather(typingctx, array, indices, position, width):
    """``array[indices[position : position + width]]``."""
    vector = Vector(array.dtype, width.literal_value)

    def codegen(context, builder, signature, args):
        array_type, index_type = signature.args[:2]
        lanes = ir.Constant(_llvm_vector(vector.scalar, vector.width), ir.Undefined)
        for lane in range(vector.width):
            at = builder.add(args[2], ir.IntType(64)(lane))
            index = builder.load(_element_pointer(context, builder, index_type, args[1], at))
            lanes = _insert_element(context, builder, array_type, args[0], index, lanes, lane)
        return lanes

    return vector(array, indices, types.intp, width), codegen


@intrinsic
def vgreater(typingctx, v, limit):
    """Mask of the elements of an integer vector that exceed ``limit``."""
    mask = Vector(types.boolean, v.width)

    def codegen(context, builder, signature, args):
        element = args[0].type.element
        bound = args[1] if element.width == 64 else builder.trunc(args[1], element)
        return builder.icmp_signed(">", args[0], _splat(builder, bound, v.width))

    return mask(v, types.intp), codegen


@intrinsic
def vselect(typingctx, mask, v):
    """``v`` where the mask holds, 0 elsewhere.

    Not for a vector fresh from `vload`: LLVM makes that a masked load, which the prefetchers of Zen 5 ignore (half the
    bandwidth from memory).
    """

    def codegen(context, builder, signature, args):
        chosen = args[0]
        if _is_complex(v.scalar):
            chosen = _shuffle(builder, chosen, chosen, [i // 2 for i in range(2 * v.width)])
        return builder.select(chosen, args[1], ir.Constant(args[1].type, None))

    return v(mask, v), codegen


@intrinsic
def vstore(typingctx, array, index, value):
    """``array.flat[index : index + width] = value``."""

    def codegen(context, builder, signature, args):
        pointer = _element_pointer(context, builder, signature.args[0], args[0], args[1])
        store = builder.store(args[2], builder.bitcast(pointer, args[2].type.as_pointer()))
        scalar = signature.args[2].scalar
        store.align = _alignment(scalar)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def vmuladd(typingctx, acc, a, b):
    """``acc + a*b`` in the type of ``acc``; ``a`` and ``b`` are vectors or scalars, real or complex, any precision."""

    def codegen(context, builder, signature, args):
        width, scalar = acc.width, acc.scalar
        lane = _lane_type(scalar)
        x, x_complex = _operand(context, builder, signature.args[1], args[1], width)
        y, y_complex = _operand(context, builder, signature.args[2], args[2], width)
        x, y = _precision(builder, x, lane), _precision(builder, y, lane)
        return _muladd(builder, args[0], x, x_complex, y, y_complex, _is_complex(scalar), width)

    return acc(acc, a, b), codegen


@intrinsic
def vscale(typingctx, alpha, v):
    """``alpha * v`` in the type of ``v``."""

    def codegen(context, builder, signature, args):
        lane = _lane_type(v.scalar)
        a, a_complex = _operand(context, builder, signature.args[0], args[0], v.width)
        a = _precision(builder, a, lane)
        pair = _is_complex(v.scalar)
        return _muladd(builder, None, a, a_complex, args[1], pair, pair, v.width)

    return v(alpha, v), codegen


@intrinsic
def vadd(typingctx, a, b):
    """``a + b`` of two equal vector types."""

    def codegen(context, builder, signature, args):
        return builder.fadd(args[0], args[1], flags=FLAGS)

    return a(a, b), codegen


@intrinsic
def vconj(typingctx, v):
    """The complex conjugate."""

    def codegen(context, builder, signature, args):
        if not _is_complex(v.scalar):
            return args[0]
        negated = builder.fneg(args[0])
        return _shuffle(builder, args[0], negated, [i + (i % 2) * 2 * v.width for i in range(2 * v.width)])

    return v(v), codegen


@intrinsic
def vsum(typingctx, v):
    """The sum of the elements, halves first (a fixed order)."""

    def codegen(context, builder, signature, args):
        lanes = args[0]
        stop = 2 if _is_complex(v.scalar) else 1
        while lanes.type.count > stop:
            half = lanes.type.count // 2
            low = _shuffle(builder, lanes, lanes, list(range(half)))
            high = _shuffle(builder, lanes, lanes, list(range(half, 2 * half)))
            lanes = builder.fadd(low, high, flags=FLAGS)
        first = builder.extract_element(lanes, ir.IntType(32)(0))
        if stop == 1:
            return first
        number = context.make_complex(builder, v.scalar)
        number.real = first
        number.imag = builder.extract_element(lanes, ir.IntType(32)(1))
        return number._getvalue()

    return v.scalar(v), codegen


@intrinsic
def vupdate(typingctx, array, index, value, alpha, beta, fresh):
    """``array.flat[index : index + width] = alpha*value + beta*(old)``; the old elements are not read if ``fresh``."""

    def codegen(context, builder, signature, args):
        array_type, _, vector, alpha_type, beta_type, _ = signature.args
        width, pair = vector.width, _is_complex(vector.scalar)
        lane = _lane_type(vector.scalar)
        pointer = _element_pointer(context, builder, array_type, args[0], args[1])
        pointer = builder.bitcast(pointer, args[2].type.as_pointer())
        align = _alignment(vector.scalar)

        def times(scalar_type, scalar, lanes, acc):
            factor, factor_pair = _operand(context, builder, scalar_type, scalar, width)
            return _muladd(builder, acc, _precision(builder, factor, lane), factor_pair, lanes, pair, pair, width)

        result = times(alpha_type, args[3], args[2], None)
        with builder.if_else(args[5]) as (new, old):
            with new:
                builder.store(result, pointer, align=align)
            with old:
                before = builder.load(pointer, align=align)
                builder.store(times(beta_type, args[4], before, result), pointer, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, value, alpha, beta, types.boolean), codegen


@intrinsic
def vscatter(typingctx, array, places, position, value):
    """``array[places[position + i]] = value[i]`` for all elements."""

    def codegen(context, builder, signature, args):
        array_type, place_type, _, vector = signature.args
        for lane in range(vector.width):
            at = builder.add(args[2], ir.IntType(64)(lane))
            place = builder.load(_element_pointer(context, builder, place_type, args[1], at))
            if place.type.width < 64:
                place = builder.zext(place, ir.IntType(64))
            pointer = _element_pointer(context, builder, array_type, args[0], place)
            if _is_complex(vector.scalar):
                parts = builder.bitcast(pointer, _lane_type(vector.scalar).as_pointer())
                for k in range(2):
                    part = builder.extract_element(args[3], ir.IntType(32)(2 * lane + k))
                    builder.store(part, builder.gep(parts, [ir.IntType(64)(k)]))
            else:
                builder.store(builder.extract_element(args[3], ir.IntType(32)(lane)), pointer)
        return context.get_dummy_value()

    return types.void(array, places, types.intp, value), codegen


@intrinsic(prefer_literal=True)
def prefetch(typingctx, array, index, count):
    """Ask for the cache lines of ``array.flat[index : index + count]``, which may lie outside the array."""
    size = array.dtype.bitwidth // 8 * count.literal_value

    def codegen(context, builder, signature, args):
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
        byte, word = ir.IntType(8), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte.as_pointer(), word, word, word]),
            "llvm.prefetch.p0",
        )
        first = builder.bitcast(builder.gep(data, [args[1]]), byte.as_pointer())
        for at in range(0, size, LINE):
            builder.call(function, [builder.gep(first, [ir.IntType(64)(at)]), word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, count), codegen
