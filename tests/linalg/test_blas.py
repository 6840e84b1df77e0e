"""`spmv` in the BLAS form: y ← alpha·op(A)·x + beta·y."""

import numpy as np
import pytest
from layouts import LAYOUTS, TRANSPOSED, build, example

import spformats as sf

EVERY = [*LAYOUTS, *TRANSPOSED]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def op(D, trans):
    return {"N": D, "T": D.T, "C": D.conj().T}[trans]


@pytest.mark.parametrize("layout", EVERY)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(16,), (16, 1), (16, 4)])
def test_every_alpha_beta_and_trans(layout, dtype, shape):
    S = example(dtype=dtype)
    A, D = build(S, layout), S.toarray()
    rng = np.random.default_rng(2)
    x, y0 = rng.standard_normal(shape).astype(dtype), rng.standard_normal(shape).astype(dtype)
    close = {"rtol": 500 * np.finfo(dtype).eps, "atol": 500 * np.finfo(dtype).eps}
    scalars = [0, 1, -1, 2.5] + ([0.5 - 2j] if np.dtype(dtype).kind == "c" else [])
    for trans in "NTC":
        for alpha in scalars:
            np.testing.assert_allclose(sf.spmv(A, x, alpha=alpha, trans=trans), alpha * (op(D, trans) @ x), **close)
            for beta in scalars:
                y = y0.copy()
                got = sf.spmv(A, x, y, alpha=alpha, beta=beta, trans=trans)
                assert got is y or np.shares_memory(got, y)
                np.testing.assert_allclose(y, alpha * (op(D, trans) @ x) + beta * y0, **close)


@pytest.mark.parametrize("layout", EVERY)
def test_with_beta_zero_the_old_y_is_not_read(layout):
    S = example()
    A, x = build(S, layout), np.arange(16.0)
    for trans in "NTC":
        for shape in ((16,), (16, 3)):
            y = np.full(shape, np.nan)
            operand = x if len(shape) == 1 else np.stack([x] * 3, 1)
            assert np.isfinite(sf.spmv(A, operand, y, trans=trans)).all()
            y = np.full(shape, np.nan)
            assert np.isnan(sf.spmv(A, operand, y, beta=1, trans=trans)).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_refusals(layout):
    A, x = build(example(), layout), np.ones(16)
    with pytest.raises(ValueError, match=r"trans must be.*'H'"):
        sf.spmv(A, x, trans="H")
    with pytest.raises(ValueError, match=r"beta = 2.*no y"):
        sf.spmv(A, x, beta=2)
    with pytest.raises(ValueError, match=r"\(16,\).*\(16, 1\)"):
        sf.spmv(A, x, np.ones((16, 1)))
    with pytest.raises(TypeError, match=r"float64.*float32"):
        sf.spmv(A, x, np.ones(16, np.float32))
    for name in ("alpha", "beta"):
        with pytest.raises(TypeError, match=f"{name} = 1j is complex"):
            sf.spmv(A, x, np.ones(16), **{name: 1j})


@pytest.mark.parametrize("layout", EVERY)
def test_operand_and_result_may_overlap(layout):
    S = example()
    A, D = build(S, layout), S.toarray()
    v = np.arange(16.0)
    expected = D @ v
    sf.spmv(A, v, v)
    np.testing.assert_allclose(v, expected, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scalars_of_every_kind_keep_single_precision(layout):
    A, x = build(example(dtype=np.float32), layout), np.ones(16, np.float32)
    for alpha in (2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0), True):
        assert sf.spmv(A, x, alpha=alpha).dtype == np.float32
