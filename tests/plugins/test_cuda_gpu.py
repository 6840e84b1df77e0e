"""On a real GPU (``pytest -m gpu``): the conformance suite, cupyx's solvers, conversions, streams, very long arrays."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats.testing import PAIRS, check_kernel

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu

LAYOUTS = [
    ("csr", {}), ("ell", {}), ("jad", {}), ("pjad", {}), ("pjad", {"bsize": 2}), ("bsr", {"blocksize": (2, 2)}),
    ("bsr", {"blocksize": (3, 2)}), ("cds", {}), ("cds", {"symmetric": True}), ("hm", {}), ("cdm", {}),
]  # fmt: skip
IDS = ["-".join([f, *(f"{k}{v}" for k, v in o.items())]).replace(" ", "") for f, o in LAYOUTS]


#: Names of the edge matrices that the conformance suite uses, for slow tools such as compute-sanitizer; all by default.
MATRICES = os.environ["SPFORMATS_MATRICES"].split(",") if os.environ.get("SPFORMATS_MATRICES") else None


@pytest.fixture(scope="module", autouse=True)
def _device():
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        count = 0
    if not count:
        pytest.skip("needs a GPU")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: f"{p[0].char}{p[1].char}")
@pytest.mark.parametrize(("format", "layout"), LAYOUTS, ids=IDS)
@pytest.mark.parametrize("op", ["spmv", "spmm"])
def test_conformance(op, format, layout, pair):
    assert check_kernel(op, format, "cupy", name="cuda", pairs=[pair], matrices=MATRICES, **layout)


@pytest.mark.parametrize("variant", ["row_major", "thread_private", "team", "vector_unrolled"])
def test_kernels_of_paper_003(variant):
    assert check_kernel("spmv", "bsr", "cupy", name=variant, pairs=PAIRS[:4], matrices=MATRICES, blocksize=(3, 2))


@pytest.mark.parametrize(
    ("format", "layout"),
    [(f, {}) for f in ("csr", "ell", "jad", "pjad")] + [("bsr", {"blocksize": b}) for b in ((2, 2), (3, 2))],
)
def test_atomic_variants(format, layout):
    assert check_kernel("spmv", format, "cupy", name="atomic", pairs=PAIRS[:4], matrices=MATRICES, **layout)


def test_kernel_of_papers_001_and_002():
    for layout in ({"bsize": 2}, {"bsize": 2, "sigma": 4}):
        assert check_kernel("spmv", "pjad", "cupy", name="paper", pairs=PAIRS[:4], matrices=MATRICES, **layout)


def ragged(rng, n=97, m=83):
    """Empty rows, short rows and one full row."""
    S = sp.random_array((n, m), density=0.06, rng=rng, format="lil")
    S[n // 2] = rng.standard_normal((1, m))
    S[7:11] = 0
    return S.tocsr()


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"])
def test_every_kernel_once(format, monkeypatch):
    """Few products that reach every kernel: what ``compute-sanitizer`` watches."""
    from spformats_plugins.cuda import diagonals, lanes, row_blocks, rows

    monkeypatch.setattr(rows, "PIECE", 64)
    monkeypatch.setattr(row_blocks, "CUT", 1.0)
    monkeypatch.setattr(row_blocks, "LAUNCHES", 0)
    monkeypatch.setattr(lanes, "LONGEST", 32)
    rng = np.random.default_rng(4)
    S = ragged(rng) if format in ("csr", "ell", "jad", "pjad", "bsr", "cds") else ragged(rng, 90, 90)
    if format in ("cds", "hm", "cdm"):
        S = sp.csr_array(sp.triu(sp.tril(S, 9), -7))
    layouts = {"bsr": [{"blocksize": b, "pad": True} for b in ((2, 2), (5, 5), (3, 2))], "pjad": [{}, {"bsize": 4}]}
    for layout in layouts.get(format, [{}]):
        A = sf.asarray(S, format=format, force=True, **layout)
        G = A.to_device("cuda")
        for specialised in (0, 1 << 40) if format == "cds" else (0,):
            monkeypatch.setattr(diagonals, "SPECIALISED", specialised)
            G._plans.clear()
            for trans in "NT":
                for shape in ((), (3,), (4,)):
                    x = rng.standard_normal((S.shape[0 if trans == "T" else 1], *shape))
                    y = sf.spmv(G, cupy.asarray(x), trans=trans).get()
                    np.testing.assert_allclose(y, (S.T if trans == "T" else S) @ x, rtol=1e-12, atol=1e-12)
            if format in ("csr", "ell", "jad", "pjad", "bsr"):
                with sf.config(kernel="atomic"):
                    for trans in "NT" if format == "csr" else "T":
                        x = rng.standard_normal(S.shape[0 if trans == "T" else 1])
                        y = sf.spmv(G, cupy.asarray(x), trans=trans).get()
                        np.testing.assert_allclose(y, (S.T if trans == "T" else S) @ x, rtol=1e-12, atol=1e-12)
        for name in ("row_major", "thread_private", "team", "vector_unrolled") if format == "bsr" else ():
            with sf.config(kernel=name):
                np.testing.assert_allclose(sf.spmv(G, cupy.asarray(np.ones(83))).get(), S @ np.ones(83), rtol=1e-12)


FORMATS = [
    ("csr", {}),
    ("ell", {}),
    ("jad", {}),
    ("pjad", {}),
    ("bsr", {"blocksize": (2, 2)}),
    ("cds", {}),
    ("hm", {}),
    ("cdm", {}),
]


@pytest.mark.parametrize(("format", "layout"), FORMATS, ids=[f for f, _ in FORMATS])
def test_conversion_on_the_gpu_equals_the_host(format, layout):
    S = sf.gallery.poisson2d(12).to_scipy_sparse().tocsr()
    host = sf.asarray(S, format=format, **layout)
    source = sf.asarray(S, format="csr", device="cuda")
    if format == "pjad":
        layout = {"bsize": host.bsize, "sigma": host.sigma}
    made = source.asformat(format, **layout)
    for name in type(host).components:
        there = getattr(made, name)
        there = there.get() if hasattr(there, "get") else there
        np.testing.assert_array_equal(there, getattr(host, name), err_msg=name)
    back = made.to_device("cpu").to_scipy_sparse()
    assert abs(back - S).max() == 0


def test_cupyx_matrices_in_and_out():
    import cupyx.scipy.sparse as gs

    S = sp.random_array((50, 40), density=0.2, rng=np.random.default_rng(0), format="coo").astype(np.float64)
    values = cupy.asarray(np.r_[S.data, S.data])
    rows, cols = (cupy.asarray(np.r_[c, c].astype(np.int32)) for c in S.coords)
    doubled = gs.coo_matrix((values, (rows, cols)), shape=S.shape)
    for given in (doubled, doubled.tocsr(), doubled.tocsc()):
        A = sf.asarray(given)
        assert A.format == "csr" and A._namespace == "cupy"
        np.testing.assert_allclose(A.todense().get(), 2 * S.toarray())
        np.testing.assert_allclose(A.to_cupyx_sparse().toarray().get(), 2 * S.toarray())
    D = sp.diags_array([np.arange(1.0, 6), np.arange(1.0, 5)], offsets=[0, 2], shape=(6, 5))
    A = sf.asarray(gs.dia_matrix(sp.dia_matrix(D)))
    assert A.format == "cds"
    np.testing.assert_array_equal(A.todense().get(), D.toarray())


def problem(format, layout):
    A = sf.asarray(sf.gallery.poisson2d(20).to_scipy_sparse(), format=format, device="cuda", **layout)
    return A, cupy.asarray(np.random.default_rng(1).standard_normal(A.shape[0]))


@pytest.mark.parametrize("solver", ["cg", "cgs", "bicgstab", "gmres", "minres", "lsmr"])
@pytest.mark.parametrize(("format", "layout"), FORMATS, ids=[f for f, _ in FORMATS])
def test_unmodified_cupyx_solvers(solver, format, layout):
    import cupyx.scipy.sparse.linalg as gsl

    if not hasattr(gsl, solver):
        pytest.skip(f"this CuPy has no {solver}")
    A, b = problem(format, layout)
    x = getattr(gsl, solver)(A, b)[0]
    assert float(cupy.linalg.norm(A @ x - b)) <= 1e-3 * float(cupy.linalg.norm(b))


@pytest.mark.parametrize("format", ["csr", "cds", "pjad"])
def test_unmodified_cupyx_eigensolvers_and_least_squares(format):
    import cupyx.scipy.sparse.linalg as gsl

    A, b = problem(format, {})
    dense = np.linalg.eigvalsh(A.todense().get())
    np.testing.assert_allclose(np.sort(gsl.eigsh(A, k=3)[0].get()), dense[-3:], rtol=1e-6)
    np.testing.assert_allclose(np.sort(gsl.svds(A, k=2)[1].get()), dense[-2:], rtol=1e-6)
    x = gsl.lsqr(A, b)[0]
    assert float(cupy.linalg.norm(A @ x - b)) <= 1e-3 * float(cupy.linalg.norm(b))
    X = cupy.asarray(np.random.default_rng(2).standard_normal((A.shape[0], 4)))
    values = gsl.lobpcg(A, X, tol=1e-6, maxiter=400)[0]
    np.testing.assert_allclose(np.sort(values.get()), dense[-4:], rtol=1e-4)
    L = gsl.aslinearoperator(A)
    np.testing.assert_allclose((L * 2 + L).matvec(b).get(), (3 * (A @ b)).get(), rtol=1e-12)
    y = gsl.spsolve(A.to_cupyx_sparse(), b)
    assert float(cupy.linalg.norm(A @ y - b)) <= 1e-8 * float(cupy.linalg.norm(b))


def test_integer_vectors():
    A, _ = problem("cds", {})
    ones = cupy.ones(A.shape[1], dtype=np.int64)
    np.testing.assert_array_equal((A @ ones).get(), (A @ ones.astype(np.float64)).get())


def test_scipy_solvers_say_what_to_do():
    import scipy.sparse.linalg as ssl

    A, b = problem("cds", {})
    with pytest.raises(TypeError, match="to_device"):
        ssl.cg(A, b.get())


def test_products_go_to_the_current_stream():
    A, b = problem("csr", {})
    expected = (A @ b).get()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        y = A @ b
        event = stream.record()
    event.synchronize()
    np.testing.assert_array_equal(y.get(), expected)
    with stream:  # captured work runs only where the launch went to the capturing stream
        out = cupy.zeros_like(b)
        stream.synchronize()
        stream.begin_capture()
        sf.spmv(A, b, out)
        graph = stream.end_capture()
        assert float(out.sum()) == 0
        graph.launch(stream)
    stream.synchronize()
    np.testing.assert_array_equal(out.get(), expected)


def test_results_are_the_same_in_every_run():
    rng = np.random.default_rng(3)
    S = sp.random_array((400, 5000), density=0.05, rng=rng).tolil()
    S[7] = rng.standard_normal((1, 5000))
    for format in ("csr", "ell", "jad", "pjad"):
        A = sf.asarray(S.tocsr(), format=format, force=True, device="cuda")
        x, z = (cupy.asarray(rng.standard_normal(k)) for k in (5000, 400))
        first = (A @ x).get(), (A.T @ z).get()
        for _ in range(3):
            np.testing.assert_array_equal((A @ x).get(), first[0])
            np.testing.assert_array_equal((A.T @ z).get(), first[1])


def test_tuner(tmp_path, monkeypatch):
    from spformats_plugins.cuda import tuner

    monkeypatch.setenv("SPFORMATS_CACHE_DIR", str(tmp_path))
    tuner.choices.cache_clear()
    S = sp.kron(sp.eye_array(3000), np.ones((3, 3))).tobsr((3, 3))
    A = sf.asarray(S).to_device("cuda")
    assert "default" in tuner.explain(A)
    best = tuner.tune(A, repeats=3)
    assert "timed on this device" in tuner.explain(A)
    assert tuner.chosen(tuner._blocks(A))[0] == best
    x = cupy.ones(9000)
    np.testing.assert_array_equal((A @ x).get(), np.full(9000, 3.0))
    tuner.choices.cache_clear()
    assert tuner.chosen(tuner._blocks(A))[0] == best
    tuner.choices.cache_clear()


def free_bytes():
    return cupy.cuda.runtime.memGetInfo()[0]


@pytest.mark.slow
def test_more_than_2_to_the_31_values():
    """Positions in the data need 64 bits; the values tell where in the array they came from."""
    cupy.get_default_memory_pool().free_all_blocks()
    if free_bytes() < 40 << 30:
        pytest.skip("needs 40 GiB of free GPU memory")
    n, nd = 1 << 28, 9
    data = cupy.empty((nd, n), dtype=np.float32)
    for k in range(nd):
        data[k] = (cupy.arange(n, dtype=np.int32) % 8 + k).astype(np.float32)
    A = sf.CDS._build({"data": data, "offsets": np.arange(nd)}, (n, n), symmetric=False)
    y = A @ cupy.ones(n, dtype=np.float32)
    inside = cupy.arange(n - nd, dtype=np.int32) % 8 * nd + nd * (nd - 1) // 2
    assert bool((y[: n - nd] == inside).all())
    del A, data, y, inside
    cupy.get_default_memory_pool().free_all_blocks()
    rows, width = 1 << 22, 520
    indices = (cupy.arange(width, dtype=np.int32)[None, :] + cupy.arange(rows, dtype=np.int32)[:, None] % 3000).ravel()
    values = (cupy.arange(rows, dtype=np.int32) % 8).astype(np.float32)
    values = cupy.broadcast_to(values[:, None], (rows, width)).ravel()
    C = sf.CSR._made(values, indices, cupy.arange(rows + 1, dtype=np.int64) * width, (rows, 4000))
    y = C @ cupy.ones(4000, dtype=np.float32)
    assert bool((y == (cupy.arange(rows) % 8 * width)).all())
    del C, indices, y
    blocks = values[: rows * 512].reshape(rows * 512 // 64, 8, 8)
    extra = cupy.concatenate([blocks, blocks[:1024]])
    number = extra.shape[0]
    assert extra.size > 1 << 31
    ptr = cupy.concatenate([cupy.arange(number // 64, dtype=np.int64) * 64, cupy.asarray([number])])
    B = sf.BSR._build(
        {"data": extra, "indices": cupy.arange(number, dtype=np.int32) % 64, "indptr": ptr},
        ((ptr.size - 1) * 8, 512),
        blocksize=(8, 8),
    )
    y = B @ cupy.ones(512, dtype=np.float32)
    expected = extra.reshape(-1, 64, 8, 8)[: number // 64].sum(axis=(1, 3)).ravel()[: y.size]
    assert bool((y[: expected.size - 8] == expected[:-8]).all())
