"""Threads: many callers at once, nested calls, after fork, errors, and kernels that cannot be cached."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.numba import launch, pool, pool_kernels
from spformats_plugins.numba.jit import kernel
from spformats_plugins.numba.launch import Spread


def problem(n=300_000):
    matrix = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
    return sf.asarray(matrix, format="csr"), np.arange(n, dtype=float), matrix


@kernel
def count(seen, lo, hi):
    for i in range(lo, hi):
        seen[i] += 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_ranges_run_once_each(threads):
    seen = np.zeros(1000, np.int64)
    with sf.config(threads=threads):
        run = Spread(count, (), [(i, i + 10) for i in range(0, 1000, 10)])
        for _ in range(50):
            run(seen)
    assert (seen == 50).all()


def test_a_busy_pool_leaves_the_caller_to_work_alone():
    seen = np.zeros(10, np.int64)
    with sf.config(threads=2), pool._pool.busy:
        Spread(count, (), [(0, 5), (5, 10)])(seen)
    assert (seen == 1).all()


class Interrupted(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_an_interrupted_product_ends_before_its_exception():
    """A helper that went on would write into y after the exception, and be counted in the next product."""
    A, x, matrix = problem(1_000_000)
    want = matrix @ x

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with sf.config(threads=7):
            y = A @ x
            for delay in np.linspace(1e-4, 3e-3, 60):
                try:
                    signal.setitimer(signal.ITIMER_REAL, delay)
                    sf.spmv(A, x, y)
                    sf.spmv(A, x, y)
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except Interrupted:
                    y[:] = -1.0
                    time.sleep(5e-3)
                    assert (y == -1.0).all()
                assert np.array_equal(A @ x, want)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_many_python_threads_multiply_at_once():
    A, x, matrix = problem()
    want = matrix @ x
    wrong = []

    def multiply():
        for _ in range(10):
            with sf.config(threads=3):
                if not np.array_equal(A @ x, want):
                    wrong.append(1)

    callers = [threading.Thread(target=multiply) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert not any(caller.is_alive() for caller in callers)
    assert not wrong


def _in_child(queue):
    A, x, matrix = problem()
    with sf.config(threads=2):
        queue.put(bool(np.array_equal(A @ x, matrix @ x)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_products_after_fork():
    A, x, _ = problem()
    with sf.config(threads=2):
        A @ x  # the parent's pool has threads now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0


def test_thread_count_follows_config_then_environment(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "5")
    assert pool.thread_count() == 5
    with sf.config(threads=3):
        assert pool.thread_count() == 3
    monkeypatch.delenv("NUMBA_NUM_THREADS")
    if hasattr(os, "sched_getaffinity"):
        assert pool.thread_count() == len(os.sched_getaffinity(0))


SCRIPT = """
import warnings, numpy as np, scipy.sparse as sp
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import spformats as sf
    A = sf.asarray(sp.csr_array(np.eye(4)), format="csr")
    assert (A @ np.ones(4)).tolist() == [1, 1, 1, 1]
print([str(w.message) for w in caught])
"""


def run_script(script, **environment):
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_place_for_the_cache_kernels_still_run():
    # Numba asks each locator; with none left it raises "cannot cache function", as on a read-only, home-less system.
    hide = "import numba.core.caching as c; c.CompileResultCacheImpl._locator_classes = []\n"
    out = run_script(hide + SCRIPT)
    assert out.count("NUMBA_CACHE_DIR") == 1


@pytest.mark.slow
def test_two_processes_fill_one_cache(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment) for _ in range(2)]
    assert [process.wait(300) for process in both] == [0, 0]
    assert run_script(SCRIPT, NUMBA_CACHE_DIR=str(tmp_path)).strip() == "[]"


@pytest.mark.slow
def test_warmup_reports_each_kernel(monkeypatch):
    from spformats_plugins.numba import warmup

    monkeypatch.setitem(warmup.__globals__, "TYPES", (np.float64,))
    calls = []
    warmup(lambda done, total, name: calls.append((done, total, name)))
    assert [done for done, _, _ in calls] == list(range(1, len(calls) + 1))
    assert {total for _, total, _ in calls} == {len(calls)}
    assert any("bsr 3×3" in name for _, _, name in calls)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("count", [0, 1, 5, 9, 40])
@pytest.mark.parametrize("heavy", [0, 1, 2, 3])
def test_order_of_ranges(threads, count, heavy):
    """Every range stays; heavy ones lie at the heads of the threads' parts, the others in their order."""
    heavy = min(heavy, count // 4)
    work = np.ones(count, np.int64)
    work[count - heavy :] = 1000
    weights = np.concatenate([[0], np.cumsum(work)])
    ranges = [(i, i + 1) for i in range(count)]
    with sf.config(threads=threads):
        ordered, turned = launch.heavy_first(ranges, weights), launch.by_turns(ranges)
    assert sorted(ordered) == sorted(turned) == ranges
    parts = min(threads, max(count, 1))
    cuts = [part * count // parts for part in range(parts + 1)]
    heads = set(cuts[:-1])
    assert sum(ordered[i][0] >= count - heavy for i in heads if i < count) == min(heavy, parts)
    light = [cut for cut in ordered if cut[0] < count - heavy]
    assert light == sorted(light)
    for part in range(parts):  # the i-th ranges of all parts are neighbours
        assert all(at // parts == i for i, (at, _) in enumerate(turned[cuts[part] : cuts[part + 1]][: count // parts]))


def test_part_used_for_the_first_time_is_closed():
    """A helper that sees the end of a part before its ticket must not take a range."""
    state = pool._Pool().state
    state[pool_kernels.PARTS], state[pool_kernels.HELPERS] = 4, 3
    state[pool_kernels.TICKETS + 1 :: pool_kernels.STEP] = 10
    before = state.copy()
    assert not pool_kernels.serve(state, 1, 100) and (state == before).all()


@pytest.mark.parametrize("threads", [[2, 5, 3, 1, 7], [300]])
def test_jobs_of_other_numbers_of_threads(threads):
    """Fewer parts than the job before, more than any before, more than there are tickets."""
    seen = np.zeros(999, np.int64)
    total = 0
    for _ in range(30):
        for number in threads:
            with sf.config(threads=number):
                Spread(count, (), [(i, i + 1) for i in range(999)])(seen)
            total += 1
            assert (seen == total).all()


@pytest.mark.parametrize("threads", [2, 3, 64])
@pytest.mark.parametrize("nbytes", [1 << 17, 1 << 18, 1 << 20, 1 << 26])
def test_ranges(threads, nbytes):
    """No range is too small to pay, one with far more work than others comes first, and all rows are in one of them."""
    n = 10_000
    weights = np.arange(n + 1)
    weights[n // 2 :] += 30_000
    with sf.config(threads=threads):
        ranges = launch.split(n, nbytes, weights, serial=1 << 17)
    assert ranges == sorted(ranges)
    ranges = launch.heavy_first(ranges, weights)
    assert sorted(i for lo, hi in ranges for i in range(lo, hi)) == list(range(n))
    assert 2 <= len(ranges) <= max(2, nbytes // launch.LEAST_BYTES)
    assert (n // 2 - 1) in range(*ranges[0])
    with sf.config(threads=threads):
        assert launch.split(n, (1 << 17) - 1, weights, serial=1 << 17) == [(0, n)]
