"""The products a format must give through ``@`` and `spmv`, whichever kernel runs them."""

from __future__ import annotations

import numpy as np

from spformats.testing.case import Case
from spformats.testing.compare import Triplets, check_close, expected_product
from spformats.testing.matrices import random_values
from spformats.testing.operands import stored_slots
from spformats.testing.products import Subject, check_products, spmv


def check_matmul(case: Case) -> None:
    """A @ x and x @ A for vectors, columns and matrices."""
    A, dense = case.A, case.dense
    rng = np.random.default_rng(11)
    for side, triplets in (
        ("A @ x", Triplets.of(dense, stored_slots(A), "N")),
        ("x @ A", Triplets.of(dense, stored_slots(A), "T")),
    ):
        n = triplets.shape[1]
        for shape in ((n,), (n, 1), (n, 0), (n, 4)):
            x = random_values(rng, shape, dense.dtype)
            got = A @ x if side == "A @ x" else (x.T @ A).T
            where = f"{case.where}: {side} with {len(shape)}-D x of shape {shape}"
            check_close(where, np.asarray(got), expected_product(triplets, x, None, 1, 0, dense.dtype), dense.dtype)


def check_all_products(case: Case) -> None:
    """Products in every operand layout, transposed and adjoint, scaled, with NaN in x."""
    subject = Subject.of(case.where, case.A, case.dense, None)
    check_products(subject, spmv, "spmv", case.dense.dtype, ("N", "T", "C"))


def check_transposed_products(case: Case) -> None:
    """Products of T, H and conj."""
    rng = np.random.default_rng(13)
    A, dense = case.A, case.dense
    slots = stored_slots(A)
    for name, other, trans in (("T", A.T, "T"), ("H", A.H, "C"), ("conj()", A.conj(), "conj")):
        twin = dense.conj() if trans == "conj" else dense
        op = Triplets.of(twin, slots, "N" if trans == "conj" else trans)
        x = random_values(rng, op.shape[1], dense.dtype)
        expected = expected_product(op, x, None, 1, 0, dense.dtype)
        check_close(f"{case.where}: {name} @ x", np.asarray(other @ x), expected, dense.dtype)


def check_wrong_shapes(case: Case) -> None:
    """A vector of the wrong length is refused."""
    x = np.ones(case.A.shape[1] + 1, dtype=case.dense.dtype)
    try:
        case.A @ x
    except ValueError:
        return
    raise AssertionError(f"{case.where}: A @ x took an x of length {x.size} without a ValueError")


CHECKS = (check_matmul, check_all_products, check_transposed_products, check_wrong_shapes)
