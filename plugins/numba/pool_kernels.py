"""The compiled half of the thread pool: ranges are handed out by atomic tickets, without the GIL.

A job is a function by its address, the address of its arguments and a list of ranges, which is cut into one part for
each thread: so a thread works on the same part in product after product and finds it in its own cache. It takes ranges
of other parts once there are none in its own.

A part's ticket holds a number of the job in its upper half and the next range in its lower: who moves the ticket on by
one owns a range, and owning one proves that the job is still the one whose fields were read, because its caller cannot
leave before the range is done.
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
FINISHED, STOP, FUNCTION, ARGUMENTS, RANGES, COUNT, HELPERS, PARTS = 0, 8, 16, 17, 18, 19, 20, 21
#: From here on a part's ticket, and one past its last range, every ``STEP`` words. `LOWER` closes a ticket.
TICKETS, STEP = 32, 8
#: Most parts of a job; with more threads some begin in the same.
MOST_PARTS = 256
STATE_WORDS = TICKETS + STEP * MOST_PARTS
LOWER = (1 << 32) - 1
PATIENCE = 20_000  # rounds a caller waits before it returns to Python, where signals are seen
#: Rounds after which a thread that waits lets others run: where the system put a helper on the caller's own CPU, the
#: product would stand still until the helper sleeps.
WAY = 256
#: Rounds after which a thread that waits looks for parts that others have not got done, in case it was late.
LOOK = 32


@kernel
def _work(state, worker, anywhere):
    """Run one range if there is one for this worker (the caller is worker -1); returns whether there was.

    Other parts than its own are looked at if ``anywhere``.
    """
    part = worker + 1
    parts = get(state, PARTS)
    for _ in range(parts if anywhere else min(parts, 1)):
        if part >= parts:
            part %= parts
        place = TICKETS + STEP * part
        ticket = load_word(state, place)
        at = ticket & LOWER
        if at < load_word(state, place + 1) and worker < get(state, HELPERS):
            function, arguments, ranges = get(state, FUNCTION), get(state, ARGUMENTS), get(state, RANGES)
            if swap_word(state, place, ticket, ticket + 1):
                call(function, arguments, read_word(ranges, 2 * at), read_word(ranges, 2 * at + 1))
                add_to_word(state, FINISHED, 1)
            return True
        part += 1
    return False


@kernel
def serve(state, worker, patience):
    """Work until there was nothing to do for ``patience`` rounds; returns whether to stop for good."""
    idle = 0
    while idle < patience:
        if load_word(state, STOP) != 0:
            return True
        # Who found nothing anywhere finds nothing before the next job, and that opens its own part.
        if _work(state, worker, idle % LOOK == 0):
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
    # Close the finished job first: a late helper must not pair its tickets with fields of the new one.
    for part in range(get(state, PARTS)):
        old = load_word(state, TICKETS + STEP * part)
        swap_word(state, TICKETS + STEP * part, old, old | LOWER)
    count, parts = ranges.size // 2, min(helpers + 1, MOST_PARTS)
    put(state, FUNCTION, function)
    put(state, ARGUMENTS, address_of(arguments))
    put(state, RANGES, address_of(ranges))
    put(state, COUNT, count)
    put(state, HELPERS, helpers)
    put(state, PARTS, parts)
    store_word(state, FINISHED, 0)
    for part in range(parts):
        place = TICKETS + STEP * part
        store_word(state, place + 1, (part + 1) * count // parts)
        store_word(state, place, (((load_word(state, place) >> 32) + 1) << 32) + part * count // parts)
    while _work(state, -1, True):
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
