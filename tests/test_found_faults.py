"""Faults found by using the library as a stranger would; one test each."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf

FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]


@pytest.mark.parametrize("A", [np.eye(3), [[1.0]], None])
def test_spmv_names_a_matrix_that_is_none_of_ours(A):
    with pytest.raises(TypeError, match="SparseArray"):
        sf.spmv(A, np.ones(3))


def test_spmv_refuses_a_list_to_update():
    with pytest.raises(TypeError, match="y is updated in place"):
        sf.spmv(sf.eye(3), np.ones(3), [1.0, 1.0, 1.0])


@pytest.mark.parametrize("value", ["2", None, np.ones(1), [2.0]])
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_spmv_names_a_scalar_that_is_no_number(name, value):
    with pytest.raises(TypeError, match=name):
        sf.spmv(sf.eye(3), np.ones(3), np.ones(3), **{name: value})


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.array(2.0), Fraction(2)])
def test_spmv_takes_every_kind_of_number(value):
    assert sf.spmv(sf.eye(2), np.ones(2), alpha=value).tolist() == [2.0, 2.0]


def test_spmv_refuses_a_complex_zero_dimensional_array_in_a_real_product():
    with pytest.raises(TypeError, match="complex"):
        sf.spmv(sf.eye(2), np.ones(2), alpha=np.array(1j))


def test_without_jit_the_reference_kernels_run():
    code = "import numpy as np, spformats as sf; print((sf.gallery.laplace1d(4) @ np.ones(4)).tolist())"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}
    )
    assert run.stdout.strip() == "[1.0, 0.0, 0.0, 1.0]", run.stderr
    assert "NUMBA_DISABLE_JIT" in run.stderr


def test_threads_may_be_a_numpy_integer():
    with sf.config(threads=np.int64(1)):
        assert (sf.eye(2) @ np.ones(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("format", FORMATS)
def test_explain_knows_the_product_of_two_sparse_arrays(format):
    A = sf.gallery.laplace1d(4).asformat(format)
    assert sf.dispatch.explain("spgemm", A, A).kernel is not None
    assert sf.dispatch.explain("spgemm", A.T, A).kernel is not None


def test_explain_takes_lists_and_names_a_matrix_that_is_none_of_ours():
    assert sf.dispatch.explain("spmv", sf.eye(2), [1, 2]).kernel is not None
    with pytest.raises(TypeError, match="SparseArray"):
        sf.dispatch.explain("spmv", np.eye(2), np.ones(2))


@pytest.mark.parametrize("columns", [2**33, 10**15, 2**60])
@pytest.mark.parametrize("blocksize", [(1, 1), (1, 2), (4, 4)])
def test_blocks_of_a_matrix_far_wider_than_its_entries(columns, blocksize):
    rows = 100_000  # rows times columns overflows int64
    entries = sp.coo_array(([1.0, 2, 3, 4], ([0, 1, 2, 1], [5, columns - 1, 7, columns - 2])), shape=(rows, columns))
    A = sf.asarray(entries, format="bsr", blocksize=blocksize, pad=True)
    back = A.asformat("csr")
    assert back.indices.tolist() == [5, columns - 2, columns - 1, 7]
    assert back.data.tolist() == [1.0, 4.0, 2.0, 3.0]


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad"])
def test_the_transpose_of_a_wide_matrix_needs_no_row_pointers(format):
    wide = sp.coo_array(([1.0, 2j], ([0, 2], [2**40, 1])), shape=(3, 2**41))
    A = sf.asarray(wide, format=format)
    assert A.T.tocoo().coords[0].tolist() == [2**40, 1]
    assert A.H.tocsc().data.tolist() == [1.0, -2j]
    assert A.H.diagonal(-1).tolist() == [0, 0, 0]
    assert A.H.diagonal(1).tolist() == [0, -2j]


@pytest.mark.parametrize("format", FORMATS)
def test_conversions_and_diagonals_of_transposes(format):
    D = np.array([[1, 2j, 0, 0], [0, 3, 0, 1j], [4, 0, 5, 0], [0, 0, 0, 1 + 1j]])
    A = sf.asarray(D, format=format, **({"blocksize": (2, 2)} if format == "bsr" else {}))
    for view, dense in ((A.T, D.T), (A.H, D.conj().T)):
        for converted in (view.tocoo(), view.tocsc(), view.tocsr()):
            np.testing.assert_array_equal(converted.toarray(), dense)
        for k in range(-4, 5):
            np.testing.assert_array_equal(view.diagonal(k), np.diagonal(dense, k) if abs(k) < 4 else [])
    A.H.tocsc().data[:] = 0  # a copy
    np.testing.assert_array_equal(A.todense(), D)


def test_constructors_take_empty_lists():
    assert sf.CSR([], [], [0, 0], shape=(1, 2)).nnz == 0
    assert sf.CDS(np.zeros((0, 2)), [], shape=(2, 2)).nnz == 0


def test_a_device_of_no_kind_is_named():
    with pytest.raises(ValueError, match="unknown device 'gpu'"):
        sf.eye(3).to_device("gpu")


@pytest.mark.parametrize(
    ("dtype", "size"), [("f4", 1e-30), ("f4", 1e25), ("f8", 1e-200), ("f8", 1e250), ("c16", 1e-200)]
)
@pytest.mark.parametrize("start", [False, True])
def test_cg_judges_right_sides_whose_squares_are_no_numbers(dtype, size, start):
    A = sf.gallery.laplace1d(8, dtype=dtype)
    want = np.linspace(1, 2, 8).astype(dtype) * np.dtype(dtype).type(size)
    seen = []
    x, info = sf.linalg.cg(A, A @ want, want * 0.5 if start else None, rtol=1e-5, callback=seen.append)
    assert info == 0
    assert x.dtype == dtype
    np.testing.assert_allclose(x / size, want / size, rtol=1e-3)
    np.testing.assert_array_equal(seen[-1], x)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_cg_never_reports_success_for_a_right_side_that_is_no_number(value):
    b = np.ones(8)
    b[3] = value
    assert sf.linalg.cg(sf.gallery.laplace1d(8), b)[1] > 0


@pytest.mark.parametrize("A", [np.eye(3), sp.eye_array(3)])
def test_cg_names_a_matrix_that_is_none_of_ours(A):
    with pytest.raises(TypeError, match="SparseArray"):
        sf.linalg.cg(A, np.ones(3))
