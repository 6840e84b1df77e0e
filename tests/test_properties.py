"""Properties of every format on matrices nobody thought of (Hypothesis)."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS

import spformats as sf
from spformats.testing.compare import Triplets, check_close, expected_product
from spformats.testing.matrices import scatter
from spformats.testing.operands import stored_slots
from spformats.testing.strategies import matrices, value_types, vectors

CASES = {**LAYOUTS, "cds-symmetric": ("cds", {"symmetric": True})}
LAYOUT = pytest.mark.parametrize("layout", CASES)
SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
#: Columns of x, few: CSR and the diagonals compile a kernel for each number and each pair of types.
COLUMNS = st.sampled_from([0, 1, 4])


def drawn(data, layout, **options):
    """A matrix that suits the layout, its dense twin, and the array."""
    format, own = CASES[layout]
    square = format in ("hm", "cdm") or layout == "cds-symmetric"
    M = data.draw(matrices(square=square, layout=own, **options))
    return M, scatter(M), sf.asarray(M, format=format, **own)


@LAYOUT
@pytest.mark.parametrize("kernel", [None, "reference"])
@SETTINGS
@given(data=st.data())
def test_products_are_the_dense_ones(layout, kernel, data):
    _, dense, A = drawn(data, layout)
    trans = data.draw(st.sampled_from("NTC"))
    op = Triplets.of(dense, stored_slots(A), trans)
    x = data.draw(vectors(op.shape[1], columns=st.none() | COLUMNS))
    alpha, beta = data.draw(st.sampled_from([(1, 0), (2.5, 0), (-1, 1), (0.5, -2)]))
    dtype = np.result_type(dense.dtype, x.dtype)
    y = np.full((op.shape[0], *x.shape[1:]), 3, dtype=dtype) if beta or data.draw(st.booleans()) else None
    expected = expected_product(op, x, y, alpha, beta, dtype)
    with sf.config(kernel=kernel):
        result = sf.spmv(A, x, y, alpha=alpha, beta=beta, trans=trans)
    check_close(f"{A!r} trans={trans}", result, expected, dtype)


@LAYOUT
@SETTINGS
@given(data=st.data())
def test_whatever_goes_in_comes_out(layout, data):
    _, dense, A = drawn(data, layout)
    assert A.shape == dense.shape and A.dtype == dense.dtype
    np.testing.assert_array_equal(A.todense(), dense)
    np.testing.assert_array_equal(A.to_scipy_sparse().toarray(), dense)
    again = pickle.loads(pickle.dumps(A))
    for name in A.components:
        np.testing.assert_array_equal(getattr(again, name), getattr(A, name))


@LAYOUT
@SETTINGS
@given(data=st.data())
def test_every_format_turns_into_every_other(layout, data):
    _, dense, A = drawn(data, layout)
    square = dense.shape[0] == dense.shape[1]
    target = data.draw(
        st.sampled_from(
            [f for f in ("csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm") if square or f not in ("hm", "cdm")]
        )
    )
    B = A.asformat(target)
    assert B.format == target and B.dtype == A.dtype
    np.testing.assert_array_equal(B.todense(), dense)
    np.testing.assert_array_equal(B.T.todense(), dense.T)


@LAYOUT
@SETTINGS
@given(data=st.data())
def test_transposes(layout, data):
    _, dense, A = drawn(data, layout)
    B = {"T": A.T, "H": A.H, "conj": A.conj(), "H.T": A.H.T, "T.T": A.T.T}
    twin = {"T": dense.T, "H": dense.conj().T, "conj": dense.conj(), "H.T": dense.conj(), "T.T": dense}
    which = data.draw(st.sampled_from(sorted(B)))
    np.testing.assert_array_equal(B[which].todense(), twin[which])
    x = data.draw(vectors(twin[which].shape[1]))
    y = data.draw(vectors(twin[which].shape[0]))
    left, right = (y.conj() @ (B[which] @ x)), ((B[which].H @ y).conj() @ x)
    scale = np.abs(y) @ np.abs(twin[which]) @ np.abs(x)
    eps = max(np.finfo(array.dtype).eps for array in (dense, x, y))
    assert abs(left - right) <= 8 * (sum(dense.shape) + 2) * eps * scale + 1e-30


@LAYOUT
@SETTINGS
@given(data=st.data(), dtype=value_types)
def test_astype_and_scaling(layout, data, dtype):
    _, dense, A = drawn(data, layout)
    real = dense if dtype.kind == "c" or dense.dtype.kind == "f" else dense.real
    np.testing.assert_array_equal(A.astype(dtype).todense(), real.astype(dtype))
    np.testing.assert_array_equal((A * 2).todense(), dense * 2)
    np.testing.assert_array_equal((-A).todense(), -dense)
    assert (A * 2).format == A.format


@SETTINGS
@given(data=st.data())
def test_the_layout_of_the_operands_changes_nothing(data):
    """The same values in another memory layout give the same bits."""
    M = data.draw(matrices())
    A = sf.asarray(M, format=data.draw(st.sampled_from(["csr", "ell", "jad", "pjad", "cds"])))
    x = data.draw(vectors(A.shape[1], columns=st.none() | COLUMNS))
    np.testing.assert_array_equal(A @ x, A @ np.ascontiguousarray(x))
