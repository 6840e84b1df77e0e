"""Loads and stores of `simd`: no bounds, no negative indices, C-contiguous arrays only."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types

from .jit import intrinsic
from .simd_type import (
    Vector,
    alignment,
    element_pointer,
    insert_element,
    is_complex,
    lane_count,
    lane_type,
    llvm_vector,
    muladd,
    operand,
    precision,
    real_type,
    shuffle,
)

LINE = 64  # bytes of a cache line


@intrinsic
def get(typingctx, array, index):
    """``array.flat[index]`` of a C-contiguous array, without the test for negative indices."""

    def codegen(context, builder, signature, args):
        pointer = element_pointer(context, builder, signature.args[0], args[0], args[1])
        return context.unpack_value(builder, signature.return_type, pointer)

    return array.dtype(array, types.intp), codegen


@intrinsic
def shifted(typingctx, array, start):
    """The array from element ``start`` on; it must not outlive ``array``."""

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(array)(context, builder, args[0])
        made.data = builder.gep(made.data, [args[1]])
        made.meminfo = ir.Constant(made.meminfo.type, None)
        made.parent = ir.Constant(made.parent.type, None)
        return made._getvalue()

    return array(array, types.intp), codegen


@intrinsic
def put(typingctx, array, index, value):
    """``array.flat[index] = value``, cast to the array's type."""

    def codegen(context, builder, signature, args):
        pointer = element_pointer(context, builder, signature.args[0], args[0], args[1])
        context.pack_value(builder, signature.args[2], args[2], pointer)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), codegen


@intrinsic(prefer_literal=True)
def vload(typingctx, array, index, width):
    """``array.flat[index : index + width]`` of a C-contiguous array."""
    vector = Vector(array.dtype, width.literal_value)

    def codegen(context, builder, signature, args):
        value_type = llvm_vector(vector.scalar, vector.width)
        pointer = element_pointer(context, builder, signature.args[0], args[0], args[1])
        load = builder.load(builder.bitcast(pointer, value_type.as_pointer()))
        load.align = alignment(vector.scalar)
        return load

    return vector(array, types.intp, width), codegen


@intrinsic(prefer_literal=True)
def vload_first(typingctx, array, index, count, width):
    """The first ``count`` elements at ``array.flat[index]`` in a vector of ``width``; none after them is touched."""
    vector = Vector(array.dtype, width.literal_value)
    wanted = count.literal_value

    def codegen(context, builder, signature, args):
        value_type = llvm_vector(vector.scalar, vector.width)
        pointer = element_pointer(context, builder, signature.args[0], args[0], args[1])
        pointer = builder.bitcast(pointer, value_type.as_pointer())
        align = alignment(vector.scalar)
        if wanted == vector.width:
            return builder.load(pointer, align=align)
        active = lane_count(vector.scalar, wanted)
        flags = [ir.Constant(ir.IntType(1), lane < active) for lane in range(value_type.count)]
        mask = ir.Constant(ir.VectorType(ir.IntType(1), value_type.count), flags)
        kind = {32: "f32", 64: "f64"}[real_type(vector.scalar).bitwidth]
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(value_type, [value_type.as_pointer(), ir.IntType(32), mask.type, value_type]),
            f"llvm.masked.load.v{value_type.count}{kind}.p0",
        )
        return builder.call(function, [pointer, ir.IntType(32)(align), mask, ir.Constant(value_type, None)])

    return vector(array, types.intp, count, width), codegen


@intrinsic(prefer_literal=True)
def vgather(typingctx, array, indices, position, width):
    """``array[indices[position : position + width]]``."""
    vector = Vector(array.dtype, width.literal_value)

    def codegen(context, builder, signature, args):
        array_type, index_type = signature.args[:2]
        lanes = ir.Constant(llvm_vector(vector.scalar, vector.width), ir.Undefined)
        for lane in range(vector.width):
            at = builder.add(args[2], ir.IntType(64)(lane))
            index = builder.load(element_pointer(context, builder, index_type, args[1], at))
            lanes = insert_element(context, builder, array_type, args[0], index, lanes, lane)
        return lanes

    return vector(array, indices, types.intp, width), codegen


@intrinsic
def vstore(typingctx, array, index, value):
    """``array.flat[index : index + width] = value``."""

    def codegen(context, builder, signature, args):
        pointer = element_pointer(context, builder, signature.args[0], args[0], args[1])
        store = builder.store(args[2], builder.bitcast(pointer, args[2].type.as_pointer()))
        scalar = signature.args[2].scalar
        store.align = alignment(scalar)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic(prefer_literal=True)
def vstream(typingctx, array, index, value, piece):
    """Like `vstore` past the caches, for results that would not stay there, ``piece`` bytes at a time.

    ``array.flat[index]`` must be aligned to so many bytes, or to those of a shorter vector. Other threads see the
    values after `fence` only.
    """
    nbytes = value.width * array.dtype.bitwidth // 8
    each = min(piece.literal_value, nbytes)

    def codegen(context, builder, signature, args):
        pointer = element_pointer(context, builder, signature.args[0], args[0], args[1])
        lanes = args[2].type.count * each // nbytes
        pieces = builder.bitcast(pointer, ir.VectorType(args[2].type.element, lanes).as_pointer())
        past_the_caches = builder.module.add_metadata([ir.IntType(32)(1)])
        for at in range(nbytes // each):
            part = shuffle(builder, args[2], args[2], range(at * lanes, (at + 1) * lanes))
            store = builder.store(part, builder.gep(pieces, [ir.IntType(64)(at)]), align=each)
            store.set_metadata("nontemporal", past_the_caches)
        return context.get_dummy_value()

    return types.void(array, types.intp, value, piece), codegen


@intrinsic
def fence(typingctx):
    """Values written before are seen by other threads before those written after."""

    def codegen(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def vscatter(typingctx, array, places, position, value):
    """``array[places[position + i]] = value[i]`` for all elements."""

    def codegen(context, builder, signature, args):
        array_type, place_type, _, vector = signature.args
        for lane in range(vector.width):
            at = builder.add(args[2], ir.IntType(64)(lane))
            place = builder.load(element_pointer(context, builder, place_type, args[1], at))
            if place.type.width < 64:
                place = builder.zext(place, ir.IntType(64))
            pointer = element_pointer(context, builder, array_type, args[0], place)
            if is_complex(vector.scalar):
                parts = builder.bitcast(pointer, lane_type(vector.scalar).as_pointer())
                for k in range(2):
                    part = builder.extract_element(args[3], ir.IntType(32)(2 * lane + k))
                    builder.store(part, builder.gep(parts, [ir.IntType(64)(k)]))
            else:
                builder.store(builder.extract_element(args[3], ir.IntType(32)(lane)), pointer)
        return context.get_dummy_value()

    return types.void(array, places, types.intp, value), codegen


@intrinsic
def vupdate(typingctx, array, index, value, alpha, beta, fresh):
    """``array.flat[index : index + width] = alpha*value + beta*(old)``; the old elements are not read if ``fresh``."""

    def codegen(context, builder, signature, args):
        array_type, _, vector, alpha_type, beta_type, _ = signature.args
        width, pair = vector.width, is_complex(vector.scalar)
        lane = lane_type(vector.scalar)
        pointer = element_pointer(context, builder, array_type, args[0], args[1])
        pointer = builder.bitcast(pointer, args[2].type.as_pointer())
        align = alignment(vector.scalar)

        def times(scalar_type, scalar, lanes, acc):
            factor, factor_pair = operand(context, builder, scalar_type, scalar, width)
            return muladd(builder, acc, precision(builder, factor, lane), factor_pair, lanes, pair, pair, width)

        result = times(alpha_type, args[3], args[2], None)
        with builder.if_else(args[5]) as (new, old):
            with new:
                builder.store(result, pointer, align=align)
            with old:
                before = builder.load(pointer, align=align)
                builder.store(times(beta_type, args[4], before, result), pointer, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, value, alpha, beta, types.boolean), codegen


@intrinsic(prefer_literal=True)
def prefetch(typingctx, array, index, count):
    """Ask for the cache lines of ``array.flat[index : index + count]``, which may lie outside the array.

    Into every cache, also for values that are read once: the hint that says so halves the speed of PJAD on Intel.
    """
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
