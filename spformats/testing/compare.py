"""What a product must give, and how far from it rounding may lead."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Expected(NamedTuple):
    """The product in a wider type, the error bound of every element, and where NaN is allowed beside it."""

    values: np.ndarray
    bound: np.ndarray
    exempt: np.ndarray


class Triplets(NamedTuple):
    """Entries of op(A) in a wider type, and the places that a product reads beside them (zeros the format stores)."""

    shape: tuple[int, int]
    rows: np.ndarray
    cols: np.ndarray
    values: np.ndarray
    zeros: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, dense: np.ndarray, slots: tuple[np.ndarray, np.ndarray], trans: str) -> Triplets:
        """Triplets of op(dense); `slots` are the places of A that the format stores, zeros included."""
        rows, cols = np.nonzero(dense)
        values = dense[rows, cols].astype(np.result_type(dense.dtype, np.longdouble))
        if trans == "N":
            return cls(dense.shape, rows, cols, values, slots)
        values = values.conj() if trans == "C" else values
        return cls((dense.shape[1], dense.shape[0]), cols, rows, values, slots[::-1])


def expected_product(
    op: Triplets, x: np.ndarray, y: np.ndarray | None, alpha: complex, beta: complex, dtype: np.dtype
) -> Expected:
    """``alpha * op @ x + beta * y`` summed over the nonzeros in a wider type.

    The bound is the componentwise one of a sum of products in any order, ``(n + c) eps (|alpha| |A| |x| + |beta| |y|)``
    (Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1), with n the number of entries of the row.
    A zero that the format stores turns a NaN or infinity in x into NaN; those elements are exempt, all others are not.
    """
    wide = np.result_type(dtype, np.longdouble)
    columns = x.reshape(x.shape[0], x.shape[1] if x.ndim == 2 else 1).astype(np.result_type(x.dtype, np.longdouble))
    shape = (op.shape[0], columns.shape[1])
    values, size = np.zeros(shape, dtype=wide), np.zeros(shape, dtype=np.longdouble)
    with np.errstate(invalid="ignore", over="ignore"):
        terms = op.values[:, None] * columns[op.cols]
        np.add.at(values, op.rows, terms)
        np.add.at(size, op.rows, np.abs(terms))
        values, size = values * alpha, size * abs(alpha)
        if y is not None and beta != 0:
            other = y.reshape(shape).astype(wide)
            values, size = values + beta * other, size + abs(beta) * np.abs(other)
    count = np.bincount(op.rows, minlength=op.shape[0])[:, None]
    info = np.finfo(dtype)
    factor = 4 if dtype.kind == "c" else 1
    bound = factor * (count + 6) * (info.eps * size + info.smallest_subnormal)
    exempt = np.zeros(shape, dtype=bool)
    zero_rows, zero_cols = op.zeros
    np.logical_or.at(exempt, zero_rows, ~np.isfinite(columns[zero_cols]))
    out = (op.shape[0], *x.shape[1:])
    return Expected(values.reshape(out), bound.reshape(out), exempt.reshape(out))


def check_close(where: str, actual: np.ndarray, expected: Expected, dtype: Any) -> None:
    """Raise AssertionError, naming `where` and the first bad element, unless `actual` is the expected product."""
    values, bound, exempt = expected
    assert actual.shape == values.shape, f"{where}: the result has shape {actual.shape}, expected {values.shape}"
    assert actual.dtype == dtype, f"{where}: the result has dtype {actual.dtype}, expected {dtype}"
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(actual) & (np.abs(actual.astype(values.dtype) - values) <= bound)
    if actual.dtype.kind == "c":  # inf * complex is NaN or inf, as the compiler likes: only "not finite" is defined
        same = ~np.isfinite(actual)
    else:
        same = np.where(np.isnan(values), np.isnan(actual), actual == values)
    good = np.where(finite, near, same) | (exempt & np.isnan(actual))
    if good.all():
        return
    at = tuple(int(i) for i in np.argwhere(~good)[0])
    raise AssertionError(
        f"{where}: {np.count_nonzero(~good)} of {good.size} elements are wrong; the first is element {at}: "
        f"got {actual[at]}, expected {values[at]} within {bound[at]:.2g}"
    )


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same shape, dtype and values, NaN equal to NaN."""
    return a.shape == b.shape and a.dtype == b.dtype and bool(np.array_equal(a, b, equal_nan=True))
