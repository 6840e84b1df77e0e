"""Repeated products of diagonal matrices take a remembered way: it must give what the first one gave."""

import gc
import weakref

import numpy as np
import pytest
from diagonal_cases import diagonal_matrix, random_offsets, tolerance

import spformats as sf
from spformats import dispatch
from spformats.linalg import matmul_plan

RNG = np.random.default_rng(8)


def pair(n=60, format="cdm", dtype="d"):
    offsets = random_offsets(RNG, n, n, 7), random_offsets(RNG, n, n, 5)
    return [diagonal_matrix(RNG, n, n, o, dtype, format) for o in offsets]


def close(C, expected):
    np.testing.assert_allclose(np.asarray(C.todense()), expected, rtol=0, atol=tolerance(C.dtype, 60))


@pytest.mark.parametrize("format", ["cds", "hm", "cdm"])
def test_other_values_of_the_same_structure(format):
    (A, a), (B, b) = pair(format=format)
    plan = matmul_plan(A, B)
    for factor in (1.0, -2.0, 0.5):
        X = A * factor
        for C in (X @ B, plan(X, B)):
            close(C, factor * a @ b)
            assert C.format == format and C is not A
    first, second = plan(A, B), plan(A, B)
    assert not np.shares_memory(first.data, second.data)


def test_other_structures_types_and_transposes_are_told_apart():
    (A, a), (B, b) = pair(format="cds")
    plan = matmul_plan(A, B)
    for _ in range(2):
        close(plan(A, B), a @ b)
        close(plan(A.astype("F"), B), a.astype("F") @ b)
        assert plan(A.astype("f"), B.astype("f")).dtype == np.float32
        close(A.T @ B, a.T @ b)
        close(A @ B.T, a @ b.T)
        close(plan(A.asformat("hm"), B.asformat("cdm")), a @ b)
        close(plan(A, B, alpha=2.0), 2 * a @ b)
        assert plan(A, B, alpha=1 + 0j).dtype == np.complex128
        with pytest.raises(ValueError, match="other diagonals"):
            plan(B, A)
        with pytest.raises(TypeError, match="diagonal format"):
            plan(A.to_csr(), B)


def test_a_forced_kernel_is_asked_each_time():
    (A, a), (B, b) = pair()
    plan = matmul_plan(A, B)
    plan(A, B)
    calls = []

    @dispatch.register("diagmm", "cdm", "numpy", name="counted", priority=-7, prepare=True)
    def prepare(A, pairs, left, right, out):
        calls.append("prepared")

        def launch(x, y, c, alpha, beta):
            calls.append("launched")
            return np.zeros(out.shape, dtype=out.dtype)

        return launch

    with sf.config(kernel="counted"):
        assert not plan(A, B).data.any()
        assert not (A @ B).data.any()
        assert not plan(A, B).data.any()
    assert calls == ["prepared", "launched", "launched", "launched"]
    close(plan(A, B), a @ b)
    close(A @ B, a @ b)


def test_outputs_of_other_layouts():
    (A, a), (B, b) = pair(format="hm")
    plan = matmul_plan(A, B)
    outs = [plan(A, B), plan(A, B).asformat("cds"), plan(A, B) + sf.eye(60, format="hm")]
    dense = [np.asarray(C.todense()) for C in outs]
    for turn in range(1, 3):
        for C, before in zip(outs, dense, strict=True):
            assert plan(A, B, out=C, alpha=2.0, beta=1.0) is C
            close(C, before + 2 * turn * (a @ b))
            np.testing.assert_allclose(C @ np.ones(60), (before + 2 * turn * (a @ b)).sum(axis=1), atol=1e-10)
    eye = sf.eye(60, format="hm")
    with pytest.raises(ValueError, match="shares memory"):
        matmul_plan(A, eye)(A, eye, out=A)
    with pytest.raises(ValueError, match="shape"):
        plan(A, B, out=sf.eye(61, format="hm").copy())


def test_nothing_keeps_the_values_alive():
    (A, _), (B, _) = pair(n=67)
    plan = matmul_plan(A, B)
    C = plan(A, B)
    plan(A, B), A @ B, A.T @ B, plan(A, B, out=C, alpha=2.0)
    watched = [weakref.ref(M.data) for M in (A, B, C)] + [weakref.ref(M) for M in (A, B, C)]
    del A, B, C
    gc.collect()
    assert [ref() for ref in watched] == [None] * 6
    assert plan.offsets.size  # the plan is still there
