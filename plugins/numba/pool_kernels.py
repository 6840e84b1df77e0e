"""The compiled half of the thread pool: ranges are handed out by one atomic ticket, without the GIL.

A job is a function by its address, the address of its arguments and a list of ranges. The ticket holds the job's
number in its upper half and the next range in its lower: who moves the ticket on by one owns a range, and owning one
proves that the job is still the one whose fields were read, because its caller cannot leave before the range is done.
"""

from __future__ import annotations

from .atomics import (
    add_to_word,
    address_of,
    call,
    give_way,
    load_word,
    pause,
    read_word,
    set_number,
    store_word,
    swap_word,
)
from .jit import kernel
from .simd import get, put

# Places in the pool's state; what is written often has a cache line of its own.
TICKET, FINISHED, STOP, FUNCTION, ARGUMENTS, RANGES, COUNT, HELPERS = 0, 8, 16, 24, 25, 26, 27, 28
STATE_WORDS = 40
LOWER = (1 << 32) - 1
PATIENCE = 20_000  # rounds a caller waits before it returns to Python, where signals are seen
#: Rounds after which a thread that waits lets others run: where the system put a helper on the caller's own CPU, the
#: product would stand still until the helper sleeps.
WAY = 256


@kernel
def _work(state, worker):
    """Run one range if there is one for this worker (the caller is worker -1); returns whether there was."""
    ticket = load_word(state, TICKET)
    at = ticket & LOWER
    if at >= get(state, COUNT) or worker >= get(state, HELPERS):
        return False
    function, arguments, ranges = get(state, FUNCTION), get(state, ARGUMENTS), get(state, RANGES)
    if swap_word(state, TICKET, ticket, ticket + 1):
        call(function, arguments, read_word(ranges, 2 * at), read_word(ranges, 2 * at + 1))
        add_to_word(state, FINISHED, 1)
    return True


@kernel
def serve(state, worker, patience):
    """Work until there was nothing to do for ``patience`` rounds; returns whether to stop for good."""
    idle = 0
    while idle < patience:
        if load_word(state, STOP) != 0:
            return True
        if _work(state, worker):
            idle = 0
        else:
            pause()
            idle += 1
            if idle % WAY == 0:
                give_way()
    return False


@kernel
def drive(state, function, arguments, ranges, helpers):
    """Publish a job and take part in it; returns whether all of it is done."""
    old = load_word(state, TICKET)
    # Close the finished job first: a late helper must not pair its ticket with fields of the new one.
    swap_word(state, TICKET, old, old | LOWER)
    put(state, FUNCTION, function)
    put(state, ARGUMENTS, address_of(arguments))
    put(state, RANGES, address_of(ranges))
    put(state, COUNT, ranges.size // 2)
    put(state, HELPERS, helpers)
    store_word(state, FINISHED, 0)
    store_word(state, TICKET, ((old >> 32) + 1) << 32)
    while _work(state, -1):
        pass
    return wait(state)


@kernel
def drive_product(state, function, arguments, at, between, x, y, alpha, beta, ranges, helpers):
    """`drive`, once the operands are written from word ``at`` on; ``between`` words lie between y and alpha."""
    put(arguments, at, address_of(x))
    put(arguments, at + 1, x.size)
    put(arguments, at + 2, address_of(y))
    put(arguments, at + 3, y.size)
    set_number(arguments, at + 4 + between, alpha)
    set_number(arguments, at + 6 + between, beta)
    return drive(state, function, arguments, ranges, helpers)


@kernel
def wait(state):
    """Wait for the helpers' last ranges; returns whether they are done."""
    for waited in range(1, PATIENCE):
        if load_word(state, FINISHED) >= get(state, COUNT):
            return True
        pause()
        if waited % WAY == 0:
            give_way()
    return False
