"""The products of one matrix, in every way a caller may ask for them, against the dense result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spformats.testing.compare import Triplets, check_close, expected_product, same_bits
from spformats.testing.matrices import random_values
from spformats.testing.operands import ARRANGEMENTS, arranged, stored_slots, to_numpy

#: ``run(A, x, y, alpha, beta, trans)`` — whatever is under test.
Run = Callable[[Any, Any, Any, complex, complex, str], Any]

#: Numbers of columns of the other operand; None is a vector.
COLUMNS = {"spmv": (None,), "spmm": (0, 1, 4, 17)}

#: ``(alpha, beta, how y starts)``; with beta 0 a NaN in y must not be seen. NumPy scalars must not widen the result.
SCALINGS = (
    (2.0, 0, "nan"),
    (1, 1, "values"),
    (np.float64(-0.5), 2.0, "values"),
    (0, np.float64(-1), "values"),
    (1, 0, "nan"),
)


class Subject(NamedTuple):
    """A matrix under test: what the messages call it, its dense twin, and the same storage in the library `xp`."""

    name: str
    dense: np.ndarray
    slots: tuple[np.ndarray, np.ndarray]
    A: Any
    xp: Any

    @classmethod
    def of(cls, name: str, A: Any, dense: np.ndarray, xp: Any) -> Subject:
        """Subject from an array `A` stored in NumPy."""
        return cls(name, dense, stored_slots(A), A if xp is None else A.to_namespace(xp), np if xp is None else xp)


def check_products(subject: Subject, run: Run, op: str, dtype: Any, transposes: tuple[str, ...]) -> int:
    """Check ``run`` on one matrix with operands of `dtype`; returns the number of products made.

    Raises
    ------
    AssertionError
        At the first wrong product, naming the matrix, the operands and the first wrong element.
    """
    rng = np.random.default_rng(7)
    before = _contents(subject.A)
    made = 0
    for trans in transposes:
        triplets = Triplets.of(subject.dense, subject.slots, trans)
        for columns in COLUMNS[op]:
            shape = triplets.shape[1:] if columns is None else (triplets.shape[1], columns)
            full = columns in (None, 4)
            operands = _operands(rng, shape, dtype)
            for x, label in operands if full else operands[:2]:
                turn = ARRANGEMENTS[made // 2 % len(ARRANGEMENTS)]
                for how in ARRANGEMENTS if full and label == "finite" else (turn,):
                    made += _check_one(subject, run, triplets, x, f"{label} {how} x", how, made, trans, columns)
    after = _contents(subject.A)
    changed = [name for name in before if not same_bits(before[name], after[name])]
    assert not changed, f"{subject.name}: a product changed the matrix's own array {changed[0]!r}"
    return made


def _operands(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> list[tuple[np.ndarray, str]]:
    """A finite operand, and ones with NaN or infinity in their first, a middle or the last row."""
    finite = random_values(rng, shape, dtype)
    operands = [(finite, "finite")]
    n = shape[0]
    for row, value in {0: np.nan, n // 2: np.inf, n - 1: np.nan}.items() if n else ():
        x = finite.copy()
        x[row, ...] = value
        operands.append((x, f"x[{row}]={value}"))
    return operands


def _check_one(
    subject: Subject, run: Run, op: Triplets, x: np.ndarray, label: str, how: str, turn: int, trans: str, columns: Any
) -> int:
    """One operand: once with a new result, once into a given y (the scalings and layouts of y take turns)."""
    dtype = np.result_type(subject.dense.dtype, x.dtype)
    place = "vector" if columns is None else f"{columns} columns"
    alpha, beta, start = SCALINGS[turn // 2 % len(SCALINGS)]
    y0 = np.full((op.shape[0], *x.shape[1:]), np.nan, dtype=dtype)
    if start == "values":
        y0 = random_values(np.random.default_rng(turn), y0.shape, dtype)
    y_how = ARRANGEMENTS[turn // 2 // len(SCALINGS) % 4]  # all but read-only
    for y, a, b, tail in (
        (None, alpha, 0, f"alpha={alpha} y=None"),
        (y0, alpha, beta, f"alpha={alpha} beta={beta} {y_how} y{' of NaN' if start == 'nan' else ''}"),
    ):
        where = f"{subject.name} [{subject.dense.dtype} times {x.dtype}, trans={trans}, {place}, {label}, {tail}]"
        given = arranged(x, how, subject.xp)
        out = None if y is None else arranged(y, y_how, subject.xp)
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                result = run(subject.A, given, out, a, b, trans)
        except Exception as error:
            raise AssertionError(f"{where}: raised {type(error).__name__}: {error}") from error
        assert isinstance(result, type(given)), f"{where}: the result is a {type(result)}, x a {type(given)}"
        assert out is None or result is out, f"{where}: the result is not the y that was given"
        assert same_bits(to_numpy(given), x), f"{where}: the product changed x"
        check_close(where, to_numpy(result), expected_product(op, x, y, a, b, dtype), dtype)
    return 2


def spmv(A: Any, x: Any, y: Any, alpha: complex, beta: complex, trans: str) -> Any:
    """`spformats.spmv` with its arguments in the order of `Run`."""
    from spformats import spmv

    return spmv(A, x, y, alpha=alpha, beta=beta, trans=trans)


def _contents(A: Any) -> dict[str, np.ndarray]:
    return {name: to_numpy(getattr(A, name)) for name in A.components}
