"""The conformance suite must catch what it promises to catch: every deliberately broken kernel and format fails it."""

import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats import dispatch
from spformats.dispatch import registry as known
from spformats.formats import base
from spformats.testing import DTYPES, check_format, check_kernel, edge_matrices

REAL, COMPLEX = ("float64", "float64"), ("complex128", "complex128")


@pytest.fixture(autouse=True)
def registries(monkeypatch):
    """Broken kernels and formats vanish after each test."""
    dispatch.load_plugins()
    monkeypatch.setattr(known, "_kernels", {key: list(entries) for key, entries in known._kernels.items()})
    monkeypatch.setattr(base, "FORMATS", dict(base.FORMATS))


def product(A, x, trans="N"):
    """The right product, by SciPy."""
    M = A.to_scipy_sparse().tocsr()
    op = {"N": M, "T": M.T, "C": M.conj().T}[trans]
    return op @ x


def scaled(total, y, alpha, beta):
    """The right tail of a kernel."""
    total = total.dtype.type(alpha) * total
    if y is None:
        return total
    y[...] = total if beta == 0 else total + total.dtype.type(beta) * y
    return y


def good(A, x, y, alpha, beta, trans):
    return scaled(product(A, x, trans), y, alpha, beta)


def test_a_right_kernel_passes():
    dispatch.register("spmv", "csr", "numpy", name="good", priority=-1)(good)
    dispatch.register("spmm", "csr", "numpy", name="good", priority=-1)(good)
    assert check_kernel("spmv", "csr", name="good", pairs=[REAL, COMPLEX]) > 1000
    assert check_kernel("spmm", "csr", name="good", pairs=[COMPLEX]) > 1000


# ---------------------------------------------------------------------- broken kernels
def adjoint_not_conjugated(A, x, y, alpha, beta, trans):
    return good(A, x, y, alpha, beta, "T" if trans == "C" else trans)


def transpose_conjugated(A, x, y, alpha, beta, trans):
    return good(A, x, y, alpha, beta, "C" if trans == "T" else trans)


def transpose_ignored(A, x, y, alpha, beta, trans):
    return good(A, x, y, alpha, beta, "N" if A.shape[0] == A.shape[1] else trans)


def alpha_ignored(A, x, y, alpha, beta, trans):
    return good(A, x, y, 1, beta, trans)


def beta_ignored(A, x, y, alpha, beta, trans):
    return good(A, x, y, alpha, 0, trans)


def y_read_when_beta_is_zero(A, x, y, alpha, beta, trans):
    total = alpha * product(A, x, trans)
    if y is None:
        return total
    y[...] = total + beta * y
    return y


def y_not_returned(A, x, y, alpha, beta, trans):
    return good(A, x, y, alpha, beta, trans).copy()


def last_row_forgotten(A, x, y, alpha, beta, trans):
    total = product(A, x, trans)
    total[-1:] = 0
    return scaled(total, y, alpha, beta)


def columns_off_by_one(A, x, y, alpha, beta, trans):
    return good(A, np.roll(x, 1, axis=0), y, alpha, beta, trans)


def x_changed(A, x, y, alpha, beta, trans):
    out = good(A, x, y, alpha, beta, trans)
    if x.flags.writeable:
        x[...] *= 2
    return out


def x_must_be_writable(A, x, y, alpha, beta, trans):
    if not x.flags.writeable:
        raise ValueError("buffer source array is read-only")
    return good(A, x, y, alpha, beta, trans)


def strides_ignored(A, x, y, alpha, beta, trans):
    items = [x.itemsize * int(np.prod(x.shape[i + 1 :])) for i in range(x.ndim)]
    return good(A, np.lib.stride_tricks.as_strided(x, strides=items), y, alpha, beta, trans)


def accumulated_in_single(A, x, y, alpha, beta, trans):
    out = product(A, x, trans)
    return scaled(out.astype("F" if out.dtype.kind == "c" else "f").astype(out.dtype), y, alpha, beta)


def result_in_the_matrix_dtype(A, x, y, alpha, beta, trans):
    return good(A, x, y, alpha, beta, trans).astype(A.dtype)


def nan_leaks_down_the_rows(A, x, y, alpha, beta, trans):
    M = A.to_scipy_sparse().tocsr()
    M = {"N": M, "T": M.T, "C": M.conj().T}[trans].tocsr()
    sums = np.concatenate([np.zeros(1, np.result_type(M, x)), np.cumsum(M.data * x[M.indices])])
    return scaled(sums[M.indptr[1:]] - sums[M.indptr[:-1]], y, alpha, beta)


def nan_swallowed(A, x, y, alpha, beta, trans):
    return good(A, np.nan_to_num(x), y, alpha, beta, trans)


def fails_on_empty(A, x, y, alpha, beta, trans):
    A.data[0]
    return good(A, x, y, alpha, beta, trans)


def plain_list(A, x, y, alpha, beta, trans):
    out = good(A, x, y, alpha, beta, trans)
    return out.tolist() if y is None else out


def nothing_done(A, x, y, alpha, beta, trans):
    return np.zeros(A.shape[0 if trans == "N" else 1], np.result_type(A.dtype, x.dtype)) if y is None else y


@pytest.mark.parametrize(
    ("kernel", "pairs", "message"),
    [
        (adjoint_not_conjugated, [COMPLEX], "trans=C.*elements are wrong"),
        (transpose_conjugated, [COMPLEX], "trans=T.*elements are wrong"),
        (transpose_ignored, [REAL], "trans=T.*elements are wrong"),
        (alpha_ignored, [REAL], "elements are wrong"),
        (beta_ignored, [REAL], "elements are wrong"),
        (y_read_when_beta_is_zero, [REAL], "y of NaN.*got nan"),
        (y_not_returned, [REAL], "not the y that was given"),
        (last_row_forgotten, [REAL], "elements are wrong"),
        (columns_off_by_one, [REAL], "elements are wrong"),
        (x_changed, [REAL], "changed x"),
        (x_must_be_writable, [REAL], "read-only x.*raised ValueError"),
        (strides_ignored, [REAL], "strided x.*elements are wrong"),
        (accumulated_in_single, [REAL], "elements are wrong"),
        (result_in_the_matrix_dtype, [("float32", "float64")], "dtype float32, expected float64"),
        (nan_leaks_down_the_rows, [REAL], "got nan, expected"),
        (nan_swallowed, [REAL], "expected nan"),
        (fails_on_empty, [REAL], "'empty'.*raised IndexError"),
        (plain_list, [REAL], "result is a <class 'list'>"),
        (nothing_done, [REAL], "elements are wrong"),
    ],
)
def test_a_broken_kernel_is_caught(kernel, pairs, message):
    dispatch.register("spmv", "csr", "numpy", name="broken", priority=-1)(kernel)
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=f"(?s)spmv kernel 'broken' for csr.*{message}"):
        check_kernel("spmv", "csr", name="broken", pairs=pairs)


def ell_padding_read(A, x, y, alpha, beta, trans):
    if trans != "N":
        return good(A, x, y, alpha, beta, trans)
    return scaled((A.data * x[A.indices]).sum(axis=1) if x.size else product(A, x), y, alpha, beta)


def test_a_padding_leak_is_caught():
    dispatch.register("spmv", "ell", "numpy", name="broken", priority=-1)(ell_padding_read)
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=r"x\[0\]=nan.*got nan, expected"):
        check_kernel("spmv", "ell", name="broken", pairs=[REAL])


def padding_changed(A, x, y, alpha, beta, trans):
    data = A.data
    while not data.flags.writeable:
        data = data.base
    data.reshape(-1)[:] = np.where(data.reshape(-1) == 0, 5, data.reshape(-1))
    return good(A, x, y, alpha, beta, trans)


def test_a_changed_matrix_is_caught():
    dispatch.register("spmv", "ell", "numpy", name="broken", priority=-1)(padding_changed)
    with pytest.raises(AssertionError, match="changed the matrix's own array 'data'"):
        check_kernel("spmv", "ell", name="broken", pairs=[REAL])


def diagonal_wraps(A, x, y, alpha, beta, trans):
    """Reads the slots of a diagonal that lie outside the matrix, from the other end of x."""
    if trans != "N" or not x.size:
        return good(A, x, y, alpha, beta, trans)
    n, m = A.shape
    total = np.zeros(n, np.result_type(A.dtype, x.dtype))
    for o, values in zip(A.offsets.tolist(), A.data, strict=True):
        total += values * x[(np.arange(n) + o) % m]
    return scaled(total, y, alpha, beta)


def test_a_diagonal_read_outside_the_matrix_is_caught():
    dispatch.register("spmv", "cds", "numpy", name="broken", priority=-1)(diagonal_wraps)
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=r"=(nan|inf).*got nan, expected"):
        check_kernel("spmv", "cds", name="broken", pairs=[REAL])


def sixteen_columns(A, x, y, alpha, beta, trans):
    total = product(A, x, trans)
    total[:, 16:] = 0
    return scaled(total, y, alpha, beta)


def columns_mixed(A, x, y, alpha, beta, trans):
    return good(A, x[:, ::-1], y, alpha, beta, trans)


def no_columns_refused(A, x, y, alpha, beta, trans):
    if x.shape[1] == 0:
        raise ZeroDivisionError
    return good(A, x, y, alpha, beta, trans)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (sixteen_columns, "17 columns.*element.*wrong"),
        (columns_mixed, "4 columns.*wrong"),
        (no_columns_refused, "0 columns.*raised ZeroDivisionError"),
        (strides_ignored, "4 columns.*(strided|reversed|fortran).*wrong"),
    ],
)
def test_a_broken_product_with_columns_is_caught(kernel, message):
    dispatch.register("spmm", "csr", "numpy", name="broken", priority=-1)(kernel)
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=message):
        check_kernel("spmm", "csr", name="broken", pairs=[REAL])


def test_a_broken_sparse_product_is_caught():
    dispatch.register("spgemm", "csr", "numpy", name="broken", priority=-1)(lambda A, B: 2 * A)
    with pytest.raises(AssertionError, match="spgemm kernel 'broken'"):
        check_kernel("spgemm", "csr", name="broken", pairs=[REAL])


def test_a_kernel_that_refuses_everything_is_caught():
    no = {"name": "never", "priority": -1, "supports": lambda A, dtype, trans: "not today"}
    dispatch.register("spmv", "csr", "numpy", **no)(good)
    with pytest.raises(AssertionError, match="refused every matrix"):
        check_kernel("spmv", "csr", name="never", pairs=[REAL])


def test_a_kernel_may_refuse_some_operands():
    only = {"name": "plain", "priority": -1, "supports": lambda A, dtype, trans: trans == "N" and dtype == np.float64}
    dispatch.register("spmv", "csr", "numpy", **only)(good)
    assert check_kernel("spmv", "csr", name="plain", pairs=[REAL, COMPLEX])


def test_an_unknown_kernel_is_named():
    with pytest.raises(LookupError, match=r"no kernel 'absent'.*reference"):
        check_kernel("spmv", "csr", name="absent")


# ---------------------------------------------------------------------- broken formats
def make(**changes):
    """A format like CSR, with products by the reference plugin, and these changes."""

    class Own(sf.CSR):
        format = "own"

        @classmethod
        def from_csr(cls, csr, *, force=False):
            return cls._build({"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}, csr.shape)

        def to_csr(self):
            return sf.CSR._build(self._parts(), self.shape)

        def _transposed(self, conjugate):
            return type(self).from_csr(self.to_csr()._transposed(conjugate))

        def _slots(self):
            return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices

    for name, value in changes.items():
        setattr(Own, name, value)
    Own.__qualname__ = "Own"  # pickle looks a class up by its name in its module
    globals()["Own"] = Own
    return Own


def test_a_right_format_passes():
    assert check_format(make()) == 4 * len(edge_matrices(nonfinite=True))


def _from_csr(change):
    """`from_csr` with a changed set of parts."""

    def from_csr(cls, csr, *, force=False):
        parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}
        return cls._build(change(dict(parts)), csr.shape)

    return classmethod(from_csr)


def _spoiled(csr):
    if csr.data.size:
        owner = csr.data if csr.data.base is None else csr.data.base
        owner.flags.writeable = True
        owner[:1] = 7
    return {"data": csr.data.copy(), "indices": csr.indices, "indptr": csr.indptr}


def spoils_its_source(cls, csr, *, force=False):
    return cls._build(_spoiled(csr), csr.shape)


def _writable(cls, csr, *, force=False):
    made = cls._build({"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}, csr.shape)
    made.__dict__["data"] = csr.data.copy()
    return made


def _float_shape(cls, csr, *, force=False):
    made = cls._build({"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}, csr.shape)
    made.__dict__["shape"] = tuple(np.array(csr.shape))
    return made


def _not_empty(cls, csr, *, force=False):
    if csr.nnz == 0:
        raise ValueError("nothing to store")
    return cls._build({"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}, csr.shape)


def _refuse_oblong(cls, csr, *, force=False):
    if csr.shape[0] != csr.shape[1]:
        raise ValueError("not today")
    return cls._build({"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}, csr.shape)


def _square_only(cls, csr, *, force=False):
    if csr.shape[0] != csr.shape[1]:
        raise ValueError("square matrices only")
    return cls._build({"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}, csr.shape)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"from_csr": _from_csr(lambda p: {**p, "data": 2 * p["data"]})}, r"todense\(\) is wrong"),
        (
            {"from_csr": _from_csr(lambda p: {**p, "data": p["data"].astype("D")})},
            "dtype is complex128, expected float",
        ),
        ({"from_csr": _from_csr(lambda p: {**p, "data": np.nan_to_num(p["data"])})}, r"'nonfinite'.*todense"),
        ({"from_csr": classmethod(spoils_its_source)}, "is wrong"),
        ({"from_csr": classmethod(_writable)}, "'data' can be written to"),
        ({"from_csr": classmethod(_float_shape)}, "two Python ints"),
        ({"from_csr": classmethod(_not_empty)}, "'empty'.*nothing to store"),
        ({"from_csr": classmethod(_refuse_oblong)}, "not today"),
        ({"_count": lambda self: self.data.size + 1}, r"nnz is 1, but 0 places"),
        ({"nbytes": property(lambda self: 8)}, "nbytes is 8"),
        (
            {"to_csr": lambda self: sf.CSR._build({**self._parts(), "data": -self.data}, self.shape)},
            r"todense\(\) is wrong",
        ),
        (
            {"_transposed": lambda self, conjugate: type(self).from_csr(self.to_csr()._transposed(False))},
            "H once its arrays are made is wrong",
        ),
        (
            {"_transposed": lambda self, conjugate: type(self).from_csr(-self.to_csr().T.copy())},
            "T once its arrays are made",
        ),
        ({"conj": lambda self: self}, r"conj\(\).to_csr\(\) is wrong"),
        ({"copy": lambda self: self}, "shares the memory of 'indptr'"),
        ({"copy": lambda self: self.to_csr()}, r"copy\(\) is a CSR"),
        (
            {"__reduce__": lambda self: (sf.CSR._build, (self._parts(), self.shape))},
            "the pickle is a CSR",
        ),
        ({"astype": lambda self, dtype: self}, r"astype\(\w+\) is wrong"),
        ({"__setattr__": object.__setattr__}, "the attribute 'data' can be set"),
        ({"__init__": lambda self, data, *, shape: self.__dict__.update(shape=shape)}, "constructor"),
        ({"_slots": lambda self: (np.arange(self.nnz), np.zeros(self.nnz, int))}, "is not stored|stored twice|nnz"),
        ({"__matmul__": lambda self, x: self.todense()[:, ::-1] @ x}, "A @ x.*wrong"),
        ({"__rmatmul__": lambda self, x: x @ self.todense().conj()}, "complex.*x @ A.*wrong"),
        ({"components": ("indices", "data", "indptr")}, "components must begin with 'data'"),
    ],
)
def test_a_broken_format_is_caught(changes, message):
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=f"(?s)({message})"):
        check_format(make(**changes))


def test_a_format_of_square_matrices_passes():
    oblong = sum(m.shape[0] != m.shape[1] for _, m in edge_matrices())
    every = len(edge_matrices(nonfinite=True))
    assert check_format(make(from_csr=classmethod(_square_only)), dtypes=["float64"]) == every - oblong


def test_a_format_whose_kernel_is_wrong_is_caught():
    cls = make()
    dispatch.register("spmv", "own", "numpy", name="broken", priority=99)(last_row_forgotten)
    with pytest.raises(AssertionError, match=r"format 'own'.*wrong"):
        check_format(cls)
    assert check_format(cls, products=False)


def test_a_name_taken_by_another_format_is_caught():
    first, _ = make(), make()
    with pytest.raises(AssertionError, match="the name 'own' belongs to"):
        check_format(first)


def test_what_is_not_a_format_is_refused():
    with pytest.raises(ValueError, match="unknown format 'nonesuch'"):
        check_format("nonesuch")


# ---------------------------------------------------------------------- the matrices
@pytest.mark.parametrize("dtype", DTYPES)
def test_edge_matrices(dtype):
    cases = edge_matrices(dtype, nonfinite=True)
    names = [case.name for case in cases]
    assert len(set(names)) == len(names)
    assert all(case.matrix.dtype == dtype for case in cases)
    shapes = {case.matrix.shape for case in cases}
    assert {(0, 0), (0, 5), (4, 0), (1, 1)} <= shapes
    by_name = {case.name: case for case in cases}
    lengths = np.count_nonzero(by_name["irregular"].dense(), axis=1)
    assert lengths.min() == 0 and lengths.max() > 30
    duplicates = by_name["duplicates"].matrix
    assert len(set(zip(*(c.tolist() for c in duplicates.coords), strict=True))) < duplicates.nnz
    assert (by_name["explicit_zeros"].matrix.data == 0).any()
    assert not np.isfinite(by_name["nonfinite"].matrix.data).all()
    if dtype.kind == "c":
        assert (by_name["square"].matrix.data.imag != 0).all()
    again = edge_matrices(dtype, nonfinite=True)
    assert all(np.array_equal(a.dense(), b.dense(), equal_nan=True) for a, b in zip(cases, again, strict=True))


def test_dense_of_an_edge_matrix_is_scipys():
    for case in edge_matrices("complex64"):
        np.testing.assert_allclose(case.dense(), sp.coo_array(case.matrix).toarray(), rtol=1e-6)


def test_the_suite_needs_no_hypothesis():
    code = (
        "import sys; sys.modules['hypothesis'] = None; from spformats.testing import check_format; check_format('csr')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_messages_name_everything():
    dispatch.register("spmv", "csr", "numpy", name="broken", priority=-1)(last_row_forgotten)
    with pytest.raises(AssertionError) as caught:
        check_kernel("spmv", "csr", name="broken", pairs=[("float32", "complex64")])
    text = str(caught.value)
    for part in ("broken", "csr", "numpy", "matrix '", "float32 times complex64", "trans=N", "alpha=", "element ("):
        assert part in text, text
    assert re.search(r"got .* expected .* within", text)
