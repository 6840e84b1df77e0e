"""Faults reported against other libraries: what matrices are made of (B14, B16, B17)."""

import numpy as np
import pytest
import scipy.sparse as sp
from every_format import FORMATS, columns
from layouts import LAYOUTS, build, example

import spformats as sf

KINDS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


@pytest.fixture(params=FORMATS)
def format(request):
    return request.param


# ---------------------------------------------------------------------- B14: duplicates, order
def with_duplicates(kind):
    if kind == "coo":
        return sp.coo_array(
            (np.ones(7), (np.array([1, 0, 1, 3, 1, 2, 3]), np.array([1, 0, 1, 0, 2, 3, 0]))), shape=(4, 4)
        )
    if kind in ("csr", "csc"):
        parts = (np.array([1.0, 2, 3, 4, 5, 6]), np.array([1, 1, 0, 3, 1, 3]), np.array([0, 3, 4, 4, 6]))
        return getattr(sp, f"{kind}_array")(parts, shape=(4, 4))
    data = np.arange(1.0, 17).reshape(4, 2, 2)
    return sp.bsr_array((data, np.array([1, 0, 1, 1]), np.array([0, 3, 4])), shape=(4, 4))


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "bsr"])
def test_B14_duplicates_add_up_and_order_is_irrelevant(kind, format):
    S = with_duplicates(kind)
    before = {name: np.array(value) for name, value in vars(S).items() if isinstance(value, np.ndarray)}
    D = np.zeros((4, 4))
    coo = S.tocoo()
    np.add.at(D, (coo.row, coo.col), coo.data)
    A = sf.asarray(S, format=format)
    for got, expected in ((A, D), (A.T, D.T), (A * A, D * D), (A + A, 2 * D), (A @ A, D @ D), (abs(A), abs(D))):
        np.testing.assert_array_equal(columns(got), expected)
        np.testing.assert_array_equal(got.todense(), expected)
    np.testing.assert_array_equal(A.diagonal(), np.diag(D))
    assert A.trace() == np.trace(D) and A.sum() == D.sum()
    for name, value in before.items():  # the caller's arrays are as they were
        np.testing.assert_array_equal(getattr(S, name), value)


# ---------------------------------------------------------------------- B16: read-only memory
def frozen(S):
    for value in vars(S).values():
        for array in value if isinstance(value, tuple) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    return S


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("dok", "lil")])
def test_B16_read_only_input(kind, format):
    S = frozen(example(dtype=np.float64).asformat(kind))
    x = np.arange(16.0)
    x.flags.writeable = False
    D = S.toarray()
    A = sf.asarray(S, format=format)
    for got, expected in (
        (A @ x, D @ x), (A.T @ x, D.T @ x), (x @ A, x @ D), (A.astype(np.float32) @ x, D @ x), ((A * 2) @ x, 2 * D @ x),
        (A @ np.broadcast_to(x[:, None], (16, 3)), D @ np.tile(x[:, None], 3)), ((A + A) @ x, 2 * D @ x),
        ((A @ A) @ x, D @ D @ x),
    ):  # fmt: skip
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-3)


def test_B16_unsorted_read_only_input(format):
    S = frozen(with_duplicates("csr"))
    A = sf.asarray(S, format=format)
    np.testing.assert_array_equal(A.todense(), [[3, 3, 0, 0], [0, 0, 0, 4], [0, 0, 0, 0], [0, 5, 0, 6]])


def test_B16_memory_maps(tmp_path, format):
    S = example()
    mapped = []
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(S, name))
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    M = sp.csr_array(tuple(mapped), shape=S.shape)
    np.save(tmp_path / "x.npy", np.arange(16.0))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    A = sf.asarray(M, format=format)
    assert type(A @ x) is np.ndarray
    np.testing.assert_allclose(A @ x, S @ np.arange(16.0))
    dense = sf.asarray(np.asarray(S.toarray()), format=format)
    np.testing.assert_allclose(dense @ x, S @ np.arange(16.0))


# ---------------------------------------------------------------------- B17: views and copies
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_B17_results_do_not_depend_on_the_source(kind, layout):
    S = example().asformat(kind)
    A = build(S, layout, copy=True) if kind in ("csr", "bsr") else build(S, layout)
    D = S.toarray()
    B = A * 2
    if kind in ("dok", "lil"):
        S[:, :] = 0
    else:
        S.data[...] = 0
        for name in ("indices", "indptr", "offsets"):
            if hasattr(S, name):
                getattr(S, name)[...] = 0
    np.testing.assert_array_equal(A.todense(), D)
    np.testing.assert_array_equal(B.todense(), 2 * D)


def test_B17_what_copy_means():
    S = example()
    shared = sf.asarray(S)
    assert np.shares_memory(shared.data, S.data) and np.shares_memory(shared.indices, S.indices)
    assert np.shares_memory(sf.asarray(S, copy=False).data, S.data)
    apart = sf.asarray(S, copy=True)
    assert not any(np.shares_memory(getattr(apart, name), getattr(S, name)) for name in ("data", "indices", "indptr"))
    assert S.data.flags.writeable and S.indices.flags.writeable  # ours are read-only, the caller's stay as they were
    with pytest.raises(ValueError, match="copy=False"):
        sf.asarray(S, format="ell", copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        sf.asarray(S.astype(np.int64), copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        sf.asarray(S.toarray(), copy=False)
    assert sf.asarray(shared) is shared and sf.asarray(shared, copy=True) is not shared


def test_B17_arrays_of_ours(format):
    A = sf.asarray(example(), format=format)
    copied = A.copy()
    for name in A.components:
        assert not np.shares_memory(getattr(A, name), getattr(copied, name))
        with pytest.raises(ValueError, match="read-only"):
            getattr(A, name)[...] = 0
    assert np.shares_memory(A.T.T.data, A.data)
    apart = sf.asarray(A, copy=True)
    assert not np.shares_memory(apart.data, A.data)


def test_B17_dense_input_is_copied(format):
    M = example().toarray()
    A = sf.asarray(M, format=format)
    expected = M.copy()
    M[...] = 7
    np.testing.assert_array_equal(A.todense(), expected)
