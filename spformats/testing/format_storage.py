"""What a format must promise beside its products: storage, conversions, copies."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np

from spformats.testing.case import Case
from spformats.testing.matrices import DTYPES
from spformats.testing.operands import stored_slots


def check_attributes(case: Case) -> None:
    """Shape, dtype, nnz and nbytes."""
    A = case.A
    shape = A.shape
    assert type(shape) is tuple and shape == case.dense.shape and all(type(s) is int for s in shape), (
        f"{case.where}: shape is {shape!r}, expected {case.dense.shape} as two Python ints"
    )
    assert A.ndim == 2, f"{case.where}: ndim is {A.ndim}"
    assert A.dtype == case.dense.dtype, f"{case.where}: dtype is {A.dtype}, expected {case.dense.dtype}"
    rows, cols = stored_slots(A)
    places = rows * max(shape[1], 1) + cols
    assert np.unique(places).size == places.size, f"{case.where}: a place of the matrix is stored twice"
    missing = np.setdiff1d(np.flatnonzero(case.dense), places)
    assert missing.size == 0, f"{case.where}: entry {divmod(int(missing[0]), shape[1])} is not stored"
    assert A.nnz == places.size, f"{case.where}: nnz is {A.nnz}, but {places.size} places of the matrix are stored"
    total = sum(getattr(A, name).nbytes for name in A.components)
    assert A.nbytes == total, f"{case.where}: nbytes is {A.nbytes}, its arrays take {total}"


def check_round_trips(case: Case) -> None:
    """Dense, CSR and SciPy forms."""
    A, dense = case.A, case.dense
    case.equal("todense()", np.asarray(A.todense()), dense)
    csr = A.to_csr()
    case.equal("to_csr()", csr.todense(), dense)
    step = np.diff(csr.indices.astype(np.int64))
    inner = np.ones(step.size, dtype=bool)
    ends = csr.indptr[1:-1]
    inner[ends[(ends > 0) & (ends < csr.indices.size)] - 1] = False
    assert (step[inner] > 0).all(), f"{case.where}: to_csr() gives unsorted or duplicate columns"
    case.equal("from_csr(to_csr())", type(A).from_csr(csr, **A._layout()).todense(), dense)
    case.equal("to_scipy_sparse()", A.to_scipy_sparse().toarray(), dense)
    case.equal("tocoo()", A.tocoo().toarray(), dense)


def check_constructor(case: Case) -> None:
    """The constructor takes the object's own arrays and gives an equal object."""
    A = case.A
    given = {**A._layout(), **A._parameters(), **A._parts()}
    accepted = inspect.signature(type(A)).parameters
    again = type(A)(**{k: v for k, v in given.items() if k in accepted}, shape=A.shape)
    _same_object(case, "the array made by the constructor", again)


def check_transposes(case: Case) -> None:
    """T, mT, H and conj, each also of the other."""
    A, dense = case.A, case.dense
    for name, got, expected in (
        ("T", A.T, dense.T),
        ("mT", A.mT, dense.T),
        ("H", A.H, dense.conj().T),
        ("conj()", A.conj(), dense.conj()),
        ("T.T", A.T.T, dense),
        ("H.H", A.H.H, dense),
        ("T.H", A.T.H, dense.conj()),
        ("T.conj()", A.T.conj(), dense.conj().T),
    ):
        assert got.shape == expected.shape, f"{case.where}: {name}.shape is {got.shape}, expected {expected.shape}"
        assert got.dtype == dense.dtype, f"{case.where}: {name}.dtype is {got.dtype}, expected {dense.dtype}"
        assert got.format == A.format, f"{case.where}: {name} is in the format {got.format!r}"
        case.equal(f"{name}.to_csr()", got.to_csr().todense(), expected)
        case.equal(f"{name}.todense()", got.todense(), expected)
        got._parts()  # a lazy transpose has no arrays of its own until they are read
        stored = stored_slots(got)[0].size
        assert got.nnz == stored, f"{case.where}: {name}.nnz is {got.nnz}, but {stored} places are stored"
        case.equal(f"{name} once its arrays are made", got.to_csr().todense(), expected)


def check_casts(case: Case) -> None:
    """astype."""
    for dtype in DTYPES:
        with np.errstate(over="ignore"):
            expected = case.dense if dtype.kind == "c" or case.dense.dtype.kind == "f" else case.dense.real
            case.equal(f"astype({dtype})", case.A.astype(dtype).todense(), expected.astype(dtype))


def check_copies(case: Case) -> None:
    """copy, deepcopy and pickle."""
    _same_object(case, "copy()", case.A.copy())
    _same_object(case, "copy.deepcopy()", copy.deepcopy(case.A))
    _same_object(case, "the pickle", pickle.loads(pickle.dumps(case.A)))
    for name in case.A.components:
        shared = np.shares_memory(getattr(case.A.copy(), name), getattr(case.A, name))
        assert not shared, f"{case.where}: copy() shares the memory of {name!r}"
    case.equal("the pickle of T", pickle.loads(pickle.dumps(case.A.T)).todense(), case.dense.T)


def _same_object(case: Case, what: str, other: Any) -> None:
    A = case.A
    assert type(other) is type(A), f"{case.where}: {what} is a {type(other).__name__}"
    assert other.shape == A.shape, f"{case.where}: {what} has shape {other.shape}"
    assert other._parameters() == A._parameters(), f"{case.where}: {what} has the parameters {other._parameters()}"
    for name in A.components:
        case.equal(f"{name!r} of {what}", getattr(other, name), getattr(A, name))


def check_immutability(case: Case) -> None:
    """Arrays are read-only and attributes cannot be set."""
    A = case.A
    for name in A.components:
        assert not getattr(A, name).flags.writeable, f"{case.where}: the array {name!r} can be written to"
    for name in ("data", "shape"):
        try:
            setattr(A, name, getattr(A, name))
        except AttributeError:
            continue
        raise AssertionError(f"{case.where}: the attribute {name!r} can be set")


CHECKS = (
    check_attributes,
    check_round_trips,
    check_constructor,
    check_transposes,
    check_casts,
    check_copies,
    check_immutability,
)
