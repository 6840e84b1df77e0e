"""Arithmetic, masks and shuffles of `simd`."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types

from .jit import intrinsic
from .simd_type import (
    FLAGS,
    Vector,
    is_complex,
    lane_count,
    lane_type,
    llvm_vector,
    muladd,
    operand,
    precision,
    shuffle,
    splat,
)


@intrinsic(prefer_literal=True)
def vzero(typingctx, like, width):
    """Zeros of ``like``'s element type."""
    vector = Vector(like.dtype, width.literal_value)

    def codegen(context, builder, signature, args):
        return ir.Constant(llvm_vector(vector.scalar, vector.width), None)

    return vector(like, width), codegen


@intrinsic(prefer_literal=True)
def vrepeat(typingctx, v, period, start, width):
    """Element i is ``v[(start + i) % period]``."""
    vector = Vector(v.scalar, width.literal_value)
    order = [(start.literal_value + i) % period.literal_value for i in range(vector.width)]

    def codegen(context, builder, signature, args):
        lanes = [2 * i + k for i in order for k in range(2)] if is_complex(v.scalar) else order
        return shuffle(builder, args[0], args[0], lanes)

    return vector(v, period, start, width), codegen


@intrinsic(prefer_literal=True)
def vspread(typingctx, v, times, start, width):
    """Element i is ``v[(start + i) // times]``."""
    vector = Vector(v.scalar, width.literal_value)
    order = [(start.literal_value + i) // times.literal_value for i in range(vector.width)]

    def codegen(context, builder, signature, args):
        lanes = [2 * i + k for i in order for k in range(2)] if is_complex(v.scalar) else order
        return shuffle(builder, args[0], args[0], lanes)

    return vector(v, times, start, width), codegen


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
        factor = lane_count(a.scalar, 1)
        second = ir.Constant(args[0].type, None) if size == a.width else args[1]
        places = [min(i, size) if size == a.width else min(i, size - 1) for i in order]
        return shuffle(builder, args[0], second, [factor * i + k for i in places for k in range(factor)])

    return vector(a, b, start, step, count, width), codegen


@intrinsic(prefer_literal=True)
def vget(typingctx, v, index):
    """One element, as a scalar."""
    at = index.literal_value

    def codegen(context, builder, signature, args):
        if not is_complex(v.scalar):
            return builder.extract_element(args[0], ir.IntType(32)(at))
        number = context.make_complex(builder, v.scalar)
        number.real = builder.extract_element(args[0], ir.IntType(32)(2 * at))
        number.imag = builder.extract_element(args[0], ir.IntType(32)(2 * at + 1))
        return number._getvalue()

    return v.scalar(v, index), codegen


@intrinsic
def vgreater(typingctx, v, limit):
    """Mask of the elements of an integer vector that exceed ``limit``."""
    mask = Vector(types.boolean, v.width)

    def codegen(context, builder, signature, args):
        element = args[0].type.element
        bound = args[1] if element.width == 64 else builder.trunc(args[1], element)
        return builder.icmp_signed(">", args[0], splat(builder, bound, v.width))

    return mask(v, types.intp), codegen


@intrinsic
def vselect(typingctx, mask, v):
    """``v`` where the mask holds, 0 elsewhere.

    Not for a vector fresh from `vload`: LLVM makes that a masked load, which the prefetchers of Zen 5 ignore (half the
    bandwidth from memory).
    """

    def codegen(context, builder, signature, args):
        chosen = args[0]
        if is_complex(v.scalar):
            chosen = shuffle(builder, chosen, chosen, [i // 2 for i in range(2 * v.width)])
        return builder.select(chosen, args[1], ir.Constant(args[1].type, None))

    return v(mask, v), codegen


@intrinsic
def vmuladd(typingctx, acc, a, b):
    """``acc + a*b`` in the type of ``acc``; ``a`` and ``b`` are vectors or scalars, real or complex, any precision."""

    def codegen(context, builder, signature, args):
        width, scalar = acc.width, acc.scalar
        lane = lane_type(scalar)
        x, x_complex = operand(context, builder, signature.args[1], args[1], width)
        y, y_complex = operand(context, builder, signature.args[2], args[2], width)
        x, y = precision(builder, x, lane), precision(builder, y, lane)
        return muladd(builder, args[0], x, x_complex, y, y_complex, is_complex(scalar), width)

    return acc(acc, a, b), codegen


@intrinsic
def vscale(typingctx, alpha, v):
    """``alpha * v`` in the type of ``v``."""

    def codegen(context, builder, signature, args):
        lane = lane_type(v.scalar)
        a, a_complex = operand(context, builder, signature.args[0], args[0], v.width)
        a = precision(builder, a, lane)
        pair = is_complex(v.scalar)
        return muladd(builder, None, a, a_complex, args[1], pair, pair, v.width)

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
        if not is_complex(v.scalar):
            return args[0]
        negated = builder.fneg(args[0])
        return shuffle(builder, args[0], negated, [i + (i % 2) * 2 * v.width for i in range(2 * v.width)])

    return v(v), codegen


@intrinsic
def vsum(typingctx, v):
    """The sum of the elements, halves first (a fixed order)."""

    def codegen(context, builder, signature, args):
        lanes = args[0]
        stop = 2 if is_complex(v.scalar) else 1
        while lanes.type.count > stop:
            half = lanes.type.count // 2
            low = shuffle(builder, lanes, lanes, list(range(half)))
            high = shuffle(builder, lanes, lanes, list(range(half, 2 * half)))
            lanes = builder.fadd(low, high, flags=FLAGS)
        first = builder.extract_element(lanes, ir.IntType(32)(0))
        if stop == 1:
            return first
        number = context.make_complex(builder, v.scalar)
        number.real = first
        number.imag = builder.extract_element(lanes, ir.IntType(32)(1))
        return number._getvalue()

    return v.scalar(v), codegen
