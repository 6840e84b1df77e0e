"""Faults reported against other libraries: types of values and indices (B18, B19, B21)."""

import numpy as np
import pytest
import scipy.sparse as sp
from every_format import FORMATS
from layouts import example

import spformats as sf

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture(params=FORMATS)
def format(request):
    return request.param


# ---------------------------------------------------------------------- B18: byte order, half and extended precision
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_B18_foreign_byte_order(format, dtype, kind):
    S = example(dtype=dtype)
    x = np.arange(16).astype(dtype)
    foreign = S.asformat(kind)
    foreign.data = foreign.data.astype(foreign.data.dtype.newbyteorder("S"))
    for name in ("indices", "indptr", "offsets"):
        if hasattr(foreign, name):
            setattr(foreign, name, getattr(foreign, name).astype(getattr(foreign, name).dtype.newbyteorder("S")))
    for M in (foreign, S.toarray().astype(np.dtype(dtype).newbyteorder("S"))):
        A = sf.asarray(M, format=format)
        assert A.dtype.isnative and A.dtype == dtype
        np.testing.assert_array_equal(A.todense(), S.toarray())
        for v in (x, x.astype(x.dtype.newbyteorder("S")), np.stack([x, x], 1).astype(x.dtype.newbyteorder("S"))):
            y = A @ v
            assert y.dtype.isnative and y.dtype == dtype
            np.testing.assert_allclose(y, S.toarray() @ v.astype(dtype), rtol=1e-4, atol=1e-4)


def test_B18_half_precision_is_widened(format):
    M = example().toarray().astype(np.float16)
    A = sf.asarray(M, format=format)
    assert A.dtype == np.float32
    np.testing.assert_array_equal(A.todense(), M.astype(np.float32))
    y = A @ np.ones(16, np.float16)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, M.astype(np.float64).sum(axis=1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble, object, "U3", "M8[s]"])
def test_B18_other_types_are_refused(dtype, format):
    if np.dtype(dtype) == np.float64:
        pytest.skip("long double is double here")
    M = np.eye(4).astype(dtype) if dtype not in ("M8[s]",) else np.zeros((4, 4), dtype)
    with pytest.raises(TypeError, match="dtype"):
        sf.asarray(M, format=format)
    with pytest.raises((TypeError, ValueError)):
        sf.asarray(np.eye(4), format=format) @ M


def test_B18_the_dtype_asked_for_is_made_storable(format):
    M = np.eye(4)
    assert sf.asarray(M, format=format, dtype=np.float16).dtype == np.float32
    for dtype in (">f4", "<f4", "=f4", "f4", np.float32):
        for A in (sf.asarray(M, format=format, dtype=dtype), sf.asarray(M, format=format).astype(dtype)):
            assert A.dtype == np.float32 and A.dtype.isnative
            assert (A @ np.ones(4, np.float32)).dtype == np.float32
    with pytest.raises(TypeError, match="dtype"):
        sf.asarray(M, format=format).astype("U4")


def test_B18_masked_values_are_not_unmasked_in_silence(format):
    masked = np.ma.masked_array(np.eye(4), np.eye(4, k=1))
    with pytest.raises(TypeError, match="masked"):
        sf.asarray(masked, format=format)
    A = sf.asarray(masked.filled(0), format=format)
    with pytest.raises(TypeError, match="masked"):
        A @ np.ma.masked_array(np.ones(4), [0, 1, 0, 0])
    np.testing.assert_array_equal(A @ np.ma.masked_array(np.ones(4)), np.ones(4))


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
@pytest.mark.parametrize("kind", ["dense", "csr", "coo", "dia", "lil"])
def test_B18_integers_and_bool_convert_by_numpys_rules(dtype, kind, format):
    M = (np.arange(16).reshape(4, 4) % 3).astype(dtype)
    A = sf.asarray(M if kind == "dense" else sp.csr_array(M).asformat(kind), format=format)
    assert A.dtype == np.result_type(dtype, np.float32)
    np.testing.assert_array_equal(A.todense(), M)


# ---------------------------------------------------------------------- B19: promotion
@pytest.mark.parametrize("dtype", DTYPES)
def test_B19_results_have_numpys_dtype(format, dtype):
    S = example(dtype=dtype)
    A = sf.asarray(S, format=format)
    one = np.ones(1, dtype)
    for other in (*DTYPES, np.int8, np.int32, np.int64, bool, np.float16):
        x = np.ones(16, other)
        expected = np.result_type(dtype, other)
        assert (A @ x).dtype == (A.T @ x).dtype == (A.H @ x).dtype == (x @ A).dtype == expected, other
        assert (A @ np.ones((16, 4), other)).dtype == (np.ones((4, 16), other) @ A).dtype == expected, other
    for scalar in (2, 2.0, 2j, True, np.float32(2), np.float64(2), np.complex64(2), np.complex128(2)):
        expected = (one * scalar).dtype
        assert (A * scalar).dtype == (scalar * A).dtype == expected, repr(scalar)
        assert (A / 2.0).dtype == dtype
    for other in DTYPES:
        B = sf.asarray(example(dtype=other, seed=3), format=format)
        expected = np.result_type(dtype, other)
        assert (A + B).dtype == (A - B).dtype == (A * B).dtype == (A @ B).dtype == expected
    assert A.sum().dtype == A.sum(axis=0).dtype == A.diagonal().dtype == A.trace().dtype == A.todense().dtype == dtype
    assert A.T.dtype == A.H.dtype == A.conj().dtype == abs(A * 1).astype(dtype).dtype == dtype
    assert A.to_scipy_sparse().dtype == A.tocsr().dtype == dtype


def test_B19_single_precision_is_never_widened(format):
    n = 16
    S = sp.csr_array(
        sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).astype(np.float32)
    )
    A = sf.asarray(S, format=format)
    x = np.ones(n, np.float32)
    assert sf.linalg.cg(A, x)[0].dtype == np.float32
    y = np.ones(n, np.float32)
    assert sf.spmv(A, x, y, alpha=2.5, beta=0.5).dtype == np.float32
    with pytest.raises(TypeError, match="float64"):
        sf.spmv(A, x.astype(np.float64), y)
    with pytest.raises(TypeError, match="complex"):
        sf.spmv(A, x, y, alpha=1j)


# ---------------------------------------------------------------------- B21: large indices
BIG = 2**31 + 7


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "bsr", "cds"])
def test_B21_columns_beyond_32_bits(format):
    S = sp.coo_array((np.array([1.0, 2.0]), (np.array([1, 0]), np.array([BIG - 1, 3]))), shape=(2, BIG))
    A = sf.asarray(S, format=format)
    assert A.shape == (2, BIG)
    back = A.asformat("csr")
    assert back.indices.dtype == np.int64 and back.indices.tolist() == [3, BIG - 1] and back.nnz == 2
    if hasattr(A, "indices"):
        assert A.indices.dtype == np.int64 and (A.indices >= 0).all()
    assert A.tocsr().indices.tolist() == [3, BIG - 1]
    assert A.tocoo().coords[1].tolist() == [3, BIG - 1]


def test_B21_squares_beyond_32_bits_are_refused_not_wrapped():
    S = sp.coo_array((np.array([1.0]), (np.array([0]), np.array([BIG - 1]))), shape=(1, BIG))
    for format in ("hm", "cdm"):
        with pytest.raises(ValueError, match="square"):
            sf.asarray(S, format=format)


def test_B21_pointers_are_64_bit_whatever_the_indices(format):
    A = sf.asarray(example(), format=format)
    for name in ("indptr", "jd_ptr", "block_ptr", "offsets", "starts", "rows"):
        if name in A.components:
            assert getattr(A, name).dtype == np.int64
    for name in ("indices", "rlen", "perm", "brlen"):
        if name in A.components:
            assert getattr(A, name).dtype == np.int32


@pytest.mark.parametrize("index", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_B21_any_index_type_is_taken(index):
    A = sf.CSR(np.array([1.0, 2.0]), np.array([1, 0], index), np.array([0, 1, 2], index), shape=(2, 2))
    assert A.indices.dtype == np.int32 and A.indptr.dtype == np.int64
    assert (A @ np.array([1.0, 10.0])).tolist() == [10.0, 2.0]
