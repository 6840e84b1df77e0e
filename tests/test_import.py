"""`import spformats` is light: Numba, CuPy and PyLops wait until they are needed."""

import json

from documents import run

PROGRAM = """
import json, sys, time
import scipy.sparse
start = time.process_time()
import spformats
seconds = time.process_time() - start
heavy = ("numba", "cupy", "pylops", "torch", "matplotlib", "mpi4py", "spformats_plugins")
print(json.dumps([seconds, sorted(set(heavy) & set(sys.modules))]))
"""


def test_import_takes_at_most_a_quarter_second_above_scipy():
    # CPU time, best of three: other processes on the machine must not decide
    seconds = min(json.loads(run(["-c", PROGRAM]))[0] for _ in range(3))
    assert seconds <= 0.25, f"import spformats took {seconds:.3f} s above import scipy.sparse"


def test_import_loads_no_heavy_library_and_no_plugin():
    assert json.loads(run(["-c", PROGRAM]))[1] == []


def test_warnings_are_not_raised_by_import():
    assert run(["-W", "error", "-c", "import spformats, spformats.gallery, spformats.advisor, spformats.linalg"]) == ""
