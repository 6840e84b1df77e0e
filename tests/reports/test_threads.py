"""Faults reported against other libraries: threads, processes, caches (B36, B38, B39)."""

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from layouts import LAYOUTS, TRANSPOSED, build, example

import spformats as sf

PROGRAM = """
import numpy as np, scipy.sparse as sp, spformats as sf
n = 50000
S = sp.csr_array(sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]))
x = np.ones(n)
want = S @ x
arrays = [sf.asarray(S, format=f, **l) for f, l in (
    ("csr", {}), ("ell", {}), ("jad", {}), ("pjad", {}), ("pjad", {"bsize": 4}), ("bsr", {"blocksize": (2, 2)}),
    ("cds", {}), ("hm", {}), ("cdm", {}))]
"""


def python(code, **environment):
    env = {k: v for k, v in os.environ.items() if environment.get(k, "") is not None}
    env.update({k: v for k, v in environment.items() if v is not None})
    program = textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)


# ---------------------------------------------------------------------- B36: many Python threads at once
@pytest.mark.parametrize("layer", ["workqueue", "omp", "default"])
def test_B36_concurrent_products_in_a_process_of_their_own(layer):
    run = python(
        PROGRAM
        + """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    for y in pool.map(lambda k: arrays[k % len(arrays)] @ x, range(200)):
        assert np.array_equal(y, want)
    X = np.ones((n, 3))
    for Y in pool.map(lambda k: arrays[k % len(arrays)].T @ X, range(60)):
        assert np.array_equal(Y, np.stack([want] * 3, axis=1))
print("alive")
""",
        NUMBA_THREADING_LAYER=layer,
    )
    assert run.returncode == 0 and run.stdout.strip() == "alive", run.stderr


@pytest.mark.parametrize("layout", [*LAYOUTS, *TRANSPOSED])
def test_B36_first_products_race_for_the_plan(layout):
    """Eight threads ask a fresh array for its first product, of several kinds, at the same moment."""
    S = example(64, 64, dtype=np.complex128)
    x, X = np.arange(64.0), np.ones((64, 3), np.complex64)
    D = S.toarray()
    for _ in range(5):
        A = build(S, layout)
        jobs = [lambda: A @ x, lambda: A.T @ x, lambda: A.H @ x, lambda: A @ X] * 4
        expected = [D @ x, D.T @ x, D.conj().T @ x, D @ X] * 4
        with ThreadPoolExecutor(8) as pool:
            for y, want in zip(pool.map(lambda job: job(), jobs), expected, strict=True):
                np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-4)


def test_B36_after_fork():
    """A process that has multiplied on many threads forks; the child multiplies too, also on many threads."""
    run = python(
        PROGRAM
        + """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of every fork of a process with threads
for A in arrays:
    assert np.array_equal(A @ x, want)
child = os.fork()
if child == 0:
    from concurrent.futures import ThreadPoolExecutor
    ok = all(np.array_equal(A @ x, want) and np.array_equal(A.T @ x, want) for A in arrays)
    with ThreadPoolExecutor(4) as pool:
        ok = ok and all(np.array_equal(y, want) for y in pool.map(lambda A: A @ x, arrays * 4))
    os._exit(0 if ok else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert all(np.array_equal(A @ x, want) for A in arrays)
print("alive")
"""
    )
    assert run.returncode == 0 and run.stdout.strip() == "alive", run.stderr


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_B36_in_worker_processes(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import multiprocessing, sys, warnings
            import numpy as np, spformats as sf

            def work(A):
                return float((A @ np.ones(A.shape[1])).sum())

            if __name__ == "__main__":
                warnings.simplefilter("ignore", DeprecationWarning)
                A = sf.gallery.poisson2d(20)
                arrays = [A.asformat(f) for f in ("csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm")]
                here = [work(A) for A in arrays]
                with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                    assert np.allclose(pool.map(work, arrays + [A.T for A in arrays]), here * 2)
                print("alive")
            """
        )
    )
    run = subprocess.run([sys.executable, str(script), method], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0 and run.stdout.strip() == "alive", run.stderr


# ---------------------------------------------------------------------- B38: every contribution counts
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("format", ["csr", "jad", "pjad", "bsr"])
def test_B38_transposed_products_lose_nothing(format, threads):
    n = 20000
    rows, cols = np.r_[np.arange(n), np.arange(n)], np.r_[np.zeros(n, int), np.arange(n)]
    S = sp.csr_array((np.ones(2 * n), (rows, cols)), shape=(n, n))
    A = sf.asarray(S, format=format, **({"blocksize": (1, 1)} if format == "bsr" else {}))
    x = np.ones(n)
    want = np.r_[n + 1.0, np.ones(n - 1)]
    with sf.config(threads=threads):
        for _ in range(30):
            np.testing.assert_array_equal(A.T @ x, want)
        np.testing.assert_array_equal(A.T @ np.ones((n, 2)), np.stack([want, want], axis=1))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_B38_bit_for_bit_the_same_at_a_fixed_number_of_threads(layout, threads):
    S = example(600, 600, density=0.05, seed=8)
    A, x = build(S, layout), np.random.default_rng(0).standard_normal(600)
    with sf.config(threads=threads):
        first = A @ x, A.T @ x
        for _ in range(10):
            again = build(S, layout)
            np.testing.assert_array_equal(again @ x, first[0])
            np.testing.assert_array_equal(again.T @ x, first[1])


# ---------------------------------------------------------------------- B39: nowhere to keep compiled kernels
def test_B39_without_a_home_and_without_a_cache():
    code = "import numpy as np, scipy.sparse as sp, spformats as sf; S = sp.eye_array(4, format='csr')\n"
    code += "for f in ('csr', 'ell', 'jad', 'pjad', 'bsr', 'cds', 'hm', 'cdm'):\n"
    code += "    print((sf.asarray(S, format=f) @ np.ones(4)).sum())"
    run = python(code, HOME="/nonexistent", NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("4.0") == 8


def test_B39_a_cache_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")  # a file where the folder should be
    code = "import numpy as np, spformats as sf; print((sf.gallery.laplace1d(4, format='csr') @ np.ones(4)).sum())"
    for where in (str(blocked / "cache"), "/proc/nowhere"):
        run = python(code, NUMBA_CACHE_DIR=where, HOME="/nonexistent")
        assert run.returncode == 0 and run.stdout.strip() == "2.0", run.stderr


def test_B39_no_place_for_a_cache_at_all():
    """Every place Numba tries refuses, as in a read-only container."""
    code = """
import numba.core.caching as caching
def refuse(self):
    raise OSError("read-only file system")
for locator in caching._CacheLocator.__subclasses__() + [caching._CacheLocator]:
    locator.ensure_cache_path = refuse
import numpy as np, spformats as sf
A = sf.gallery.laplace1d(6)
for f in ("csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"):
    assert (A.asformat(f) @ np.ones(6)).sum() == 2.0
    assert sf.dispatch.explain("spmv", A.asformat(f), np.ones(6)).kernel.name != "reference"
print("alive")
"""
    run = python(code)
    assert run.returncode == 0 and run.stdout.strip() == "alive", run.stderr


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can run a process as somebody else"
)
def test_B39_as_a_user_who_may_write_nowhere():
    code = "import numpy as np, spformats as sf; print((sf.gallery.laplace1d(4, format='csr') @ np.ones(4)).sum())"
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/", "env": env}
    try:
        readable = (
            subprocess.run(
                [sys.executable, "-c", "import numba, scipy, spformats"], capture_output=True, **nobody
            ).returncode
            == 0
        )
    except PermissionError:
        readable = False
    if not readable:
        pytest.skip("nobody may not read this environment")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, **nobody)
    assert run.returncode == 0 and run.stdout.strip() == "2.0", run.stderr


def test_B39_two_processes_fill_one_cache(tmp_path):
    code = "import numpy as np, spformats as sf; print((sf.gallery.laplace1d(4, format='csr') @ np.ones(4)).sum())"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [run.communicate(timeout=300)[0].strip() for run in runs] == ["2.0", "2.0"]
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.strip() == "2.0"
