"""The registry: which kernel runs, why, and how it is forced."""

import contextvars
import functools
import importlib.metadata
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import spformats as sf
from spformats import dispatch
from spformats.dispatch import registry as known

FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]


@pytest.fixture
def registry(monkeypatch):
    """A registry that forgets what the test registers."""
    dispatch.load_plugins()
    monkeypatch.setattr(known, "_kernels", {k: list(v) for k, v in known._kernels.items()})
    yield
    known._generation += 1  # prepared products of the test's kernels are not used again


def laplacian(format="csr"):
    return sf.gallery.laplace1d(6).asformat(format)


def register(name, priority, answer, **options):
    @dispatch.register(
        "spmv", options.pop("format", "csr"), options.pop("namespace", "numpy"), name=name, priority=priority, **options
    )
    def kernel(A, x, y, alpha, beta, trans):
        return np.full(A.shape[0], float(answer))

    return kernel


# ---------------------------------------------------------------------- choice
def test_the_highest_priority_wins(registry):
    A, x = laplacian(), np.ones(6)
    usual = A @ x
    register("first", 50, 1)
    assert (A @ x).tolist() == [1.0] * 6  # although A had a prepared product already
    register("second", 60, 2)
    assert (A @ x).tolist() == [2.0] * 6
    register("never by itself", -1, 3)
    assert (A @ x).tolist() == [2.0] * 6
    with sf.config(kernel="never by itself"):
        assert (A @ x).tolist() == [3.0] * 6
    with sf.config(kernel="reference"):
        np.testing.assert_array_equal(A @ x, usual)
    assert (A @ x).tolist() == [2.0] * 6


def test_registering_the_same_name_again_replaces(registry):
    A = laplacian()
    register("mine", 50, 1)
    register("mine", 50, 2)
    assert (A @ np.ones(6)).tolist() == [2.0] * 6
    assert [k.name for k in dispatch.kernels("spmv", "csr")].count("mine") == 1


def test_supports_narrows(registry):
    A = laplacian()
    register("single only", 50, 1, supports=lambda A, dtype, trans: dtype == np.float32 or f"for float32, not {dtype}")
    register("plain no", 40, 2, supports=lambda A, dtype, trans: False)
    assert (A @ np.ones(6, np.float32)).tolist() == [1.0] * 6
    assert (A @ np.ones(6)).tolist() != [1.0] * 6
    text = str(dispatch.explain("spmv", A, np.ones(6)))
    assert "single only" in text and "for float32, not float64" in text and "supports() said no" in text
    with sf.config(kernel="single only"), pytest.raises(LookupError, match="for float32, not float64"):
        A @ np.ones(6)


def test_format_and_namespace(registry):
    register("others", 99, 1, format=("ell", "jad"), namespace="cupy")
    register("all formats", 99, 2, format="*", namespace="*")
    for format in FORMATS:
        assert (laplacian(format) @ np.ones(6)).tolist() == [2.0] * 6
    assert any(k.name == "others" for k in dispatch.kernels("spmv", "ell"))
    assert not any(k.name == "others" for k in dispatch.kernels("spmv", "csr"))
    assert any(k.name == "all formats" for k in dispatch.kernels("spmv", "csr"))


def test_prepared_once_for_each_matrix_dtype_and_trans(registry):
    prepared, runs = [], []

    @dispatch.register("spmv", "csr", "numpy", name="counted", priority=99, prepare=True)
    def prepare(A, dtype, trans):
        prepared.append((dtype, trans))

        def run(A, x, y, alpha, beta):
            runs.append(trans)
            return np.zeros(6)

        return run

    A = laplacian()
    for _ in range(3):
        A @ np.ones(6)
        A.T @ np.ones(6)
        A @ np.ones(6, np.float32)
    assert prepared == [(np.dtype(float), "N"), (np.dtype(float), "T"), (np.dtype(np.float32), "N")]
    assert len(runs) == 9
    A.copy() @ np.ones(6)
    assert len(prepared) == 4  # plans belong to one object


def test_lazy_transposes_run_the_kernel_of_their_source(registry):
    seen = []

    @dispatch.register("spmv", "csr", "numpy", name="watch", priority=99)
    def kernel(A, x, y, alpha, beta, trans):
        seen.append((A is base, trans))
        return np.zeros(6, A.dtype)

    base = laplacian() * (1 + 1j)
    x = np.ones(6)
    for view in (base, base.T, base.H, base.T.T, base.H.H):
        view @ x
    assert seen == [(True, "N"), (True, "T"), (True, "C"), (True, "N"), (True, "N")]
    seen.clear()
    sf.spmv(base.T, x, trans="T")
    sf.spmv(base.H, x, trans="C")
    sf.spmv(base.T, x, trans="C")  # the conjugate: another matrix
    assert seen == [(True, "N"), (True, "N"), (False, "N")]


def test_no_kernel_is_an_error_that_says_so(registry):
    A = laplacian()
    with pytest.raises(LookupError, match=r"no kernel for 'cube' on format 'csr'|no kernel for cube on format 'csr'"):
        dispatch.call("cube", A)
    with (
        sf.config(kernel="nonsense"),
        pytest.raises(LookupError, match=r"'nonsense' for spmv.*registered: .*reference"),
    ):
        A @ np.ones(6)


# ---------------------------------------------------------------------- config
def test_config_nests_and_restores():
    assert dispatch.current_config() == dispatch.Config()
    outer = sf.config(kernel="reference", threads=3)
    with outer:
        assert dispatch.current_config().kernel == "reference"
        with sf.config(threads=1):
            assert dispatch.current_config()[:2] == ("reference", 1)
            with outer:
                assert dispatch.current_config().threads == 3
        assert dispatch.current_config().threads == 3
    assert dispatch.current_config() == dispatch.Config()
    with pytest.raises(KeyError), sf.config(threads=2):
        raise KeyError
    assert dispatch.current_config() == dispatch.Config()


def test_config_belongs_to_its_thread():
    seen = []
    with sf.config(threads=5):
        thread = threading.Thread(target=lambda: seen.append(dispatch.current_config().threads))
        thread.start()
        thread.join()
        seen.append(contextvars.copy_context().run(lambda: dispatch.current_config().threads))
    assert seen[-1] == 5 and seen[0] in (None, 5)  # Python 3.14 threads may inherit


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"thread": 1}, TypeError, "unknown setting 'thread'; known: kernel, threads"),
        ({"threads": 0}, ValueError, "threads.*0"),
        ({"threads": -2}, ValueError, "-2"),
        ({"threads": 1.5}, ValueError, "1.5"),
        ({"threads": True}, ValueError, "True"),
        ({"kernel": 3}, TypeError, "kernel.*3"),
    ],
)
def test_config_refuses(settings, error, message):
    with pytest.raises(error, match=message):
        sf.config(**settings)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("threads", [1, 2, 9])
def test_threads(format, threads):
    A = sf.gallery.poisson2d(12).asformat(format)
    x = np.cos(np.arange(144.0))
    expected = A @ x
    with sf.config(threads=threads):
        np.testing.assert_allclose(A @ x, expected, atol=1e-12)
        np.testing.assert_allclose(A.T @ x, expected, atol=1e-12)


# ---------------------------------------------------------------------- explain
@pytest.mark.parametrize("format", FORMATS)
def test_explain_says_what_runs(format):
    A, x = laplacian(format), np.ones(6)
    explanation = dispatch.explain("spmv", A, x)
    text = str(explanation)
    assert explanation.kernel.name == "numba" and f"spmv on {format} (6, 6) float64" in text
    assert "runs 'numba'" in text and "spformats_plugins.numba" in text and "-> numba" in text
    assert "reference (priority 0, spformats_plugins.reference" in text and "priority 0 is below 10" in text
    with sf.config(kernel="reference"):
        forced = dispatch.explain("spmv", A, x)
    assert forced.kernel.name == "reference" and "forces another" in str(forced)
    with sf.config(kernel="nonsense"):
        assert dispatch.explain("spmv", A, x).kernel is None
    assert dispatch.explain("spmm", A, np.ones((6, 2))).kernel.name == "numba"
    assert dispatch.explain("spmv", A).kernel.name == "numba"


def test_explain_of_a_lazy_transpose():
    A = laplacian("ell") * 1j
    for view, trans in ((A.T, "T"), (A.H, "C")):
        text = str(dispatch.explain("spmv", view, np.ones(6)))
        assert f"trans={trans!r}" in text and "lazy" in text


# ---------------------------------------------------------------------- plugins
class Entry:
    group = dispatch.GROUP

    def __init__(self, name, value, error=None):
        self.name, self.value, self.error = name, value, error

    def load(self):
        if self.error:
            raise self.error


def test_a_plugin_that_fails_is_named_once_and_skipped(monkeypatch):
    entries = [
        Entry("broken", "broken_package.kernels", ImportError("no module named missing")),
        Entry("fine", "fine_package"),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries if group == dispatch.GROUP else [])
    monkeypatch.setattr(known, "_import_plugins", functools.cache(known._import_plugins.__wrapped__))
    with pytest.warns(
        RuntimeWarning, match=r"'broken' \(broken_package.kernels\).*skipped.*no module named missing"
    ) as caught:
        assert dispatch.load_plugins() == ("fine",)
        assert dispatch.load_plugins() == ("fine",)
    assert len(caught) == 1


def test_a_plugin_that_fails_is_raised_once_where_warnings_are_errors(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Entry("broken", "broken", ImportError("x"))])
    monkeypatch.setattr(known, "_import_plugins", functools.cache(known._import_plugins.__wrapped__))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="'broken'"):
            dispatch.load_plugins()
        assert dispatch.load_plugins() == ()


def test_plugins_load_on_first_need_and_once():
    code = """
import sys
import spformats as sf, numpy as np
A = sf.gallery.laplace1d(4)
B = A.T * 2 + A
assert not any(m.startswith("spformats_plugins") for m in sys.modules), [m for m in sys.modules if "plugins" in m]
A @ np.ones(4)
assert "spformats_plugins.numba" in sys.modules
assert "cupy" not in sys.modules and "pylops" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert dispatch.load_plugins() is dispatch.load_plugins()


def test_installed_plugins_load_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded, failures = known._import_plugins.__wrapped__()
    assert {"reference", "numba"} <= set(loaded)
    assert not failures


def test_explain_knows_scipys_iterative_functions_and_refuses_what_the_product_refuses():
    A = sf.gallery.laplace1d(6)
    for name in dispatch.explanation.MULTIPLIES:
        assert 'explain("spmv", A)' in str(dispatch.explain(name, A))
    assert "_slots" not in str(dispatch.explain("spmv", A))
    assert dispatch.explain("spmv", A, np.ones((6, 1))).kernel is not None
    with sf.config(kernel="nope"):
        assert "no kernel is named 'nope'; there are: " in str(dispatch.explain("spmv", A))
    with pytest.raises(ValueError, match="trans must be 'N', 'T' or 'C', got 'H'"):
        dispatch.explain("spmv", A, trans="H")
    with pytest.raises(ValueError, match="x must have shape"):
        dispatch.explain("spmv", A, np.ones(5))
    with pytest.raises(ValueError, match="spmv multiplies by a vector"):
        dispatch.explain("spmv", A, np.ones((6, 2)))
    with pytest.raises(TypeError, match="object"):
        dispatch.explain("spmv", A, object())
    with pytest.raises(ValueError, match="do not match"):
        dispatch.explain("spgemm", A, sf.eye(5))
    with pytest.raises(TypeError, match="two sparse arrays"):
        dispatch.explain("spgemm", A, np.ones((6, 6)))
