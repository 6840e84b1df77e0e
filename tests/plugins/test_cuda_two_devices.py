"""Two GPUs in one program (``pytest -m gpu -k two_devices``); skipped where there is one."""

import numpy as np
import pytest

import spformats as sf
from spformats.linalg import matmul_plan

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu

FORMATS = [
    ("csr", {}), ("ell", {}), ("jad", {}), ("pjad", {}), ("bsr", {"blocksize": (2, 2)}), ("cds", {}), ("hm", {}),
    ("cdm", {}),
]  # fmt: skip
IDS = [f for f, _ in FORMATS]


@pytest.fixture(autouse=True)
def _devices():
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        count = 0
    if count < 2:
        pytest.skip("needs two GPUs")
    with cupy.cuda.Device(0):
        yield


def on(device, array):
    with cupy.cuda.Device(device):
        return cupy.asarray(array)


def matrix(format, layout):
    return sf.asarray(sf.gallery.poisson2d(20).to_scipy_sparse(), format=format, **layout)


@pytest.mark.parametrize(("format", "layout"), FORMATS, ids=IDS)
def test_products_on_the_second_device_while_the_first_is_current(format, layout):
    A = matrix(format, layout)
    x, X = np.random.default_rng(0).standard_normal(400), np.random.default_rng(1).standard_normal((400, 3))
    G = A.to_device("cuda:1")
    for y, expected in ((G @ on(1, x), A @ x), (G.T @ on(1, x), A.T @ x), (G @ on(1, X), A @ X)):
        assert y.device.id == 1
        np.testing.assert_allclose(y.get(), expected, rtol=0, atol=1e-13)
    out = on(1, x.copy())
    sf.spmv(G, on(1, x), out, 2.0, -1.0)
    np.testing.assert_allclose(out.get(), 2 * (A @ x) - x, rtol=0, atol=1e-12)
    assert cupy.cuda.runtime.getDevice() == 0


@pytest.mark.parametrize(("format", "layout"), FORMATS, ids=IDS)
def test_one_structure_on_both_devices(format, layout):
    """Kernels and plans made for one device must not be used on the other."""
    A, x = matrix(format, layout), np.random.default_rng(2).standard_normal(400)
    for device in (0, 1, 0):
        G = A.to_device(f"cuda:{device}")
        for current in (0, 1):
            with cupy.cuda.Device(current):
                y = G @ on(device, x)
                assert y.device.id == device
                np.testing.assert_allclose(y.get(), A @ x, rtol=0, atol=1e-13)


def test_operands_on_two_devices_are_refused():
    A = matrix("cds", {}).to_device("cuda:0")
    other = on(1, np.ones(400))
    with pytest.raises(TypeError, match="cuda:1"):
        A @ other
    with pytest.raises(TypeError, match="device"):
        A @ A.to_device("cuda:1")
    with pytest.raises(TypeError, match="device"):
        matmul_plan(A, A)(A, A, out=(A.to_device("cuda:1") @ A.to_device("cuda:1")))


@pytest.mark.parametrize(("format", "layout"), FORMATS, ids=IDS)
def test_arrays_move_between_the_devices(format, layout):
    A = matrix(format, layout)
    there = A.to_device("cuda:0").to_device("cuda:1")
    back = there.to_device("cuda:0")
    assert (there.data.device.id, back.data.device.id) == (1, 0)
    assert str(there.device) != str(back.device)
    np.testing.assert_array_equal(back.data.get(), A.data)
    np.testing.assert_array_equal(back.to_device("cpu").todense(), A.todense())


@pytest.mark.parametrize("format", ["csr", "pjad", "cds"])
def test_streams_of_the_second_device(format):
    A, x = matrix(format, {}), np.random.default_rng(3).standard_normal(400)
    G = A.to_device("cuda:1")
    with cupy.cuda.Device(1):
        z = cupy.asarray(x)
        expected = (G @ z).get()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            y = G @ z
        stream.synchronize()
        np.testing.assert_array_equal(y.get(), expected)


@pytest.mark.parametrize("format", ["cds", "hm", "cdm"])
def test_diagonal_products_on_the_second_device(format):
    A = matrix(format, {})
    G = A.to_device("cuda:1")
    plan = matmul_plan(G, G)
    for _ in range(2):  # the second one takes the way that is remembered
        for C in (G @ G, plan(G, G), plan(A.to_device("cuda:0"), A.to_device("cuda:0"))):
            np.testing.assert_allclose(C.to_device("cpu").todense(), (A @ A).todense(), rtol=0, atol=1e-12)
        assert (G @ G).data.device.id == 1
    C = G @ G
    plan(G, G, out=C, alpha=2.0, beta=1.0)
    np.testing.assert_allclose(C.to_device("cpu").todense(), 3 * (A @ A).todense(), rtol=0, atol=1e-12)


def test_conversions_stay_on_their_device():
    C = matrix("csr", {}).to_device("cuda:1")
    for format, layout in FORMATS:
        assert C.asformat(format, **layout).data.device.id == 1


FUNCTIONS = {
    **{n: getattr(sf, n) for n in "abs sqrt square real exp max min prod mean std argmax count_nonzero any".split()},
    **{n: getattr(sf, n) for n in "nonzero sort unique_values flip tril zeros_like matrix_transpose".split()},
    **{f"{n} of two": lambda A, n=n: getattr(sf, n)(A, A) for n in "add multiply maximum greater divide equal".split()},
    **{f"{n} of rows": lambda A, n=n: getattr(sf, n)(A, axis=1) for n in "sum mean max argmax cumulative_sum".split()},
    **{n: lambda A, n=n: getattr(A, n)() for n in "todense diagonal copy conj".split()},
    "-A": lambda A: -A,
    "2 * A": lambda A: 2 * A,
    "A * x": lambda A: A * on(1, np.ones(400)),
    "A + dense": lambda A: A + A.todense(),
    "sums of columns": lambda A: A.sum(axis=0),
    "row": lambda A: A[3],
    "slice": lambda A: A[1:50, 2:],
    "rows": lambda A: A[[1, 2]],
    "astype": lambda A: A.astype(np.float32),
    "concat": lambda A: sf.concat([A, A]),
    "where": lambda A: sf.where(A > 0, A, A),
    "concat of a generator": lambda A: sf.concat(A for _ in range(2)),
    "matrix_norm": sf.linalg.matrix_norm,
    "trace": lambda A: A.trace(),
    "conjugate of a transpose": lambda A: (A + 1j * A).T.H,
    "product with integers": lambda A: A @ on(1, np.arange(400)),
    "product with no columns": lambda A: A @ on(1, np.ones((400, 0))),
    "from a dense array": lambda A: sf.asarray(on(1, np.eye(3))),
}


def devices_of(result):
    """The devices of everything in a result."""
    if isinstance(result, sf.SparseArray):
        return {getattr(result, name).device.id for name in result.components if hasattr(getattr(result, name), "get")}
    if isinstance(result, tuple | list):
        return set().union(*map(devices_of, result))
    return {result.device.id}


@pytest.mark.parametrize(("format", "layout"), FORMATS, ids=IDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_run_on_the_device_of_their_operand(name, format, layout):
    A = matrix(format, layout).to_device("cuda:1")
    with sf.config(densify=True):
        assert devices_of(FUNCTIONS[name](A)) == {1}
    assert cupy.cuda.runtime.getDevice() == 0


def test_functions_refuse_operands_on_two_devices():
    A = matrix("csr", {}).to_device("cuda:1")
    B = A.to_device("cuda:0")
    for function in (sf.add, sf.multiply, sf.maximum, lambda A, B: sf.concat([A, B]), lambda A, B: A + B.todense()):
        with pytest.raises(TypeError, match="cuda:1 and another on cuda:0"):
            function(A, B)
