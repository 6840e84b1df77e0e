"""Run the ranges of one product on our own threads.

Numba's threading layers abort the process when two Python threads enter parallel kernels at once (workqueue) or after
``fork``. Our kernels are serial functions that release the GIL, so plain Python threads are all it takes. Ranges are
handed out by compiled code (`pool_kernels`): a helper that is awake starts within a microsecond, nobody needs the GIL.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from spformats import dispatch

from . import pool_kernels
from .pool_kernels import LOWER, STATE_WORDS, STEP, STOP, TICKETS, drive, serve, wait
from .trampoline import OperandTrampoline, Trampoline

#: Products the caller runs alone after a helper with a range was kept from the CPU, and the most after repeated ones.
REST, LONGEST_REST = 8, 64

#: How long a helper waits for the next product before it sleeps; waking one takes tens of microseconds.
SPIN_SECONDS = 200e-6
#: A product that took no longer is not worth waking a helper for that will sleep again afterwards.
SHORT_SECONDS = 50e-6


def thread_count() -> int:
    """Threads a product may use: ``sf.config(threads=n)``, else NUMBA_NUM_THREADS, else the CPUs we are allowed on."""
    asked = dispatch.current_config().threads
    return asked if asked is not None else _default_threads()


def _default_threads() -> int:
    env = os.environ.get("NUMBA_NUM_THREADS", "")
    if env.isdigit() and int(env) > 0:
        return int(env)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Pool:
    """Daemon threads that wait for jobs; only one product uses them at a time."""

    def __init__(self) -> None:
        self.busy = threading.Lock()
        self.state = np.zeros(STATE_WORDS, np.int64)
        self.state[TICKETS::STEP] = LOWER
        self.wake: list[threading.Lock] = []
        self.asleep: list[bool] = []
        self.servers: list[threading.Thread] = []
        self.patience = 0
        self.rest = 0
        self.next_rest = REST
        self.ended = 0.0

    def _serve(self, worker: int, patience: int) -> None:
        while not serve(self.state, worker, patience):
            self.asleep[worker] = True
            self.wake[worker].acquire()

    def _hire(self, helpers: int) -> None:
        if self.patience == 0:
            serve(self.state, 1 << 20, 1)  # compiles
            start = time.perf_counter()
            serve(self.state, 1 << 20, 1000)
            self.patience = max(100, int(1000 * SPIN_SECONDS / max(time.perf_counter() - start, 1e-7)))
        while len(self.wake) < helpers:
            lock = threading.Lock()
            lock.acquire()
            self.wake.append(lock)
            self.asleep.append(False)
            worker = len(self.wake) - 1
            thread = threading.Thread(
                target=self._serve, args=(worker, self.patience), name=f"spformats-{worker}", daemon=True
            )
            self.servers.append(thread)
            thread.start()

    def drive(self, compiled: Callable[..., bool], call: Trampoline, job: tuple, ranges: Any, threads: int) -> bool:
        """``compiled(state, *job, ranges, helpers)``, which is `drive` or `drive_product`; ``call`` is timed."""
        if not self.busy.acquire(blocking=False):
            return False
        done = False
        try:
            helpers = min(threads, ranges.size // 2) - 1
            if self.rest:  # other programs need the cores: a helper would hold the product up for a time slice
                self.rest -= 1
                helpers = 0
            start = time.perf_counter()
            # A short product wakes helpers only where products come so fast that they will stay awake.
            if call.seconds > SHORT_SECONDS or start - self.ended < SPIN_SECONDS:
                self._call_in(helpers)
                start = time.perf_counter()
            elif any(self.asleep[:helpers]) or len(self.wake) < helpers:
                helpers = 0
            done = compiled(self.state, *job, ranges, helpers)
            if not done:
                self._await(start)
                done = True
            self.ended = time.perf_counter()
            call.seconds = self.ended - start
        finally:
            if not done:  # a signal may have raised anywhere above, and helpers may still be writing into y
                while not wait(self.state):
                    pass
            self.busy.release()
        return True

    def _call_in(self, helpers: int) -> None:
        if len(self.wake) < helpers:
            self._hire(helpers)
        for i in range(helpers):
            if self.asleep[i]:
                self.asleep[i] = False
                self.wake[i].release()

    def _await(self, start: float) -> None:
        """Wait for helpers that are late, and do without them for a while where it was the CPU they lacked."""
        mine = time.perf_counter() - start
        while not wait(self.state):
            time.sleep(0)
        if time.perf_counter() - start > 2 * mine + 1e-3:
            self.rest, self.next_rest = self.next_rest, min(2 * self.next_rest, LONGEST_REST)
        else:
            self.next_rest = REST

    def stop(self) -> None:
        """Bring the servers out of compiled code, which is unmapped when the interpreter ends."""
        self.state[STOP] = 1
        for i, lock in enumerate(self.wake):
            if self.asleep[i]:
                self.asleep[i] = False
                lock.release()
        for thread in self.servers:
            thread.join(1)


_pool = _Pool()


def _reset_after_fork() -> None:
    # Threads do not survive fork, and the parent's locks may be held for ever in the child.
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


@atexit.register
def _stop() -> None:
    _pool.stop()


def drive_ranges(call: Trampoline, words: np.ndarray, ranges: np.ndarray, threads: int) -> bool:
    """Run a kernel over the (lo, hi) pairs in ``ranges``, on at most ``threads`` threads.

    Parameters
    ----------
    call : Trampoline
        The kernel.
    words : int64 array
        Its arguments.
    ranges : int64 array
        ``lo, hi, lo, hi, …``. Which thread runs a range is not fixed; the ranges are, so a kernel whose result depends
        on its range only gives the same bits on every run.

    Returns
    -------
    bool
        False if the pool is busy with another product, and nothing ran: the cores are taken, do not oversubscribe.
    """
    return _pool.drive(drive, call, (call.address, words), ranges, threads)


def drive_product(
    call: OperandTrampoline, x: np.ndarray, y: np.ndarray, alpha: Any, beta: Any, ranges: np.ndarray, threads: int
) -> bool:
    """`drive_ranges` for a product with these operands."""
    job = call.address, call.words, call.place, call.between, x, y, alpha, beta
    return _pool.drive(pool_kernels.drive_product, call, job, ranges, threads)
