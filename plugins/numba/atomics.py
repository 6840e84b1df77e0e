"""Atomic words, addresses and calls through pointers: what the thread pool's compiled half is made of."""

from __future__ import annotations

import os

from llvmlite import ir
from numba.core import cgutils, types

from .jit import intrinsic

WORD = ir.IntType(64)


def _word(context, builder, array_type, array, index):
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


@intrinsic
def load_word(typingctx, words, index):
    """``words[index]``, before any later access."""

    def codegen(context, builder, signature, args):
        pointer = _word(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(words, types.intp), codegen


@intrinsic
def store_word(typingctx, words, index, value):
    """``words[index] = value``, after every earlier access."""

    def codegen(context, builder, signature, args):
        pointer = _word(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), codegen


@intrinsic
def add_to_word(typingctx, words, index, value):
    """``words[index] += value`` in one step; returns what was there."""

    def codegen(context, builder, signature, args):
        pointer = _word(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", pointer, args[2], "acq_rel")

    return types.int64(words, types.intp, types.int64), codegen


@intrinsic
def swap_word(typingctx, words, index, old, new):
    """Set ``words[index]`` to ``new`` if it is ``old``; returns whether it was."""

    def codegen(context, builder, signature, args):
        pointer = _word(context, builder, signature.args[0], args[0], args[1])
        result = builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(result, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), codegen


@intrinsic
def read_word(typingctx, address, index):
    """The 64-bit word ``index`` words after an address."""

    def codegen(context, builder, signature, args):
        return builder.load(builder.gep(builder.inttoptr(args[0], WORD.as_pointer()), [args[1]]))

    return types.int64(types.int64, types.intp), codegen


@intrinsic
def address_of(typingctx, array):
    """Where an array's elements begin."""

    def codegen(context, builder, signature, args):
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, WORD)

    return types.int64(array), codegen


@intrinsic
def view(typingctx, address, size, like):
    """The 1-D array of ``size`` elements at an address, of the type of the number ``like``."""
    array = types.Array(like, 1, "C")

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(array)(context, builder)
        itemsize = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(array.dtype)))
        made.data = builder.inttoptr(args[0], context.get_data_type(array.dtype).as_pointer())
        made.shape = cgutils.pack_array(builder, [args[1]])
        made.strides = cgutils.pack_array(builder, [itemsize])
        made.itemsize, made.nitems = itemsize, args[1]
        made.meminfo = ir.Constant(made.meminfo.type, None)
        made.parent = ir.Constant(made.parent.type, None)
        return made._getvalue()

    return array(types.int64, types.int64, like), codegen


@intrinsic
def number_at(typingctx, address, index, like):
    """The number stored at word ``index`` after an address, of the type of ``like``."""

    def codegen(context, builder, signature, args):
        pointer = builder.gep(builder.inttoptr(args[0], WORD.as_pointer()), [args[1]])
        typed = builder.bitcast(pointer, context.get_data_type(like).as_pointer())
        return context.unpack_value(builder, like, typed)

    return like(types.int64, types.intp, like), codegen


@intrinsic
def set_number(typingctx, words, index, value):
    """Store a number from word ``index`` on."""

    def codegen(context, builder, signature, args):
        pointer = _word(context, builder, signature.args[0], args[0], args[1])
        typed = builder.bitcast(pointer, context.get_data_type(signature.args[2]).as_pointer())
        context.pack_value(builder, signature.args[2], args[2], typed)
        return context.get_dummy_value()

    return types.void(words, types.intp, value), codegen


@intrinsic
def call(typingctx, function, arguments, lo, hi):
    """Call ``void function(arguments, lo, hi)`` by its address."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [WORD] * 3)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), codegen


@intrinsic
def pause(typingctx):
    """Tell the CPU that this is a loop that waits."""

    def codegen(context, builder, signature, args):
        if context.codegen()._tm.triple.startswith(("x86", "i686")):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def give_way(typingctx):
    """Let another thread that waits for this CPU run first."""

    def codegen(context, builder, signature, args):
        name = "SwitchToThread" if os.name == "nt" else "sched_yield"
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), codegen
