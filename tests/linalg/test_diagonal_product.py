"""Products inside the diagonal family against dense products, and what the plan promises about structure and memory."""

import itertools
import tracemalloc

import numpy as np
import pytest
from diagonal_cases import diagonal_matrix, random_offsets, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

import spformats as sf
from spformats.linalg import diagonal_elementwise, matmul_plan
from spformats.linalg.diagonal_product import multiply

FORMATS = ("cds", "hm", "cdm")
KERNELS = ("numba", "reference")


def check(C, expected, terms):
    assert C.shape == expected.shape
    assert C.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(C.todense()), expected, rtol=0, atol=tolerance(C.dtype, terms))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(FORMATS, FORMATS)))
def test_mixed_formats_and_transposes(left, right, kernel):
    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 130):
        A, a = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 7), format=left)
        B, b = diagonal_matrix(rng, n, n, random_offsets(rng, n, n, 5), format=right)
        with sf.config(kernel=kernel):
            for (X, x), (Y, y) in itertools.product(((A, a), (A.T, a.T)), ((B, b), (B.T, b.T))):
                C = X @ Y
                check(C, x @ y, 7)
                assert C.format == (left if left == right else "cds")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("left", "right"), [("f", "f"), ("f", "d"), ("d", "F"), ("F", "F"), ("D", "D"), ("D", "f")])
def test_value_types_and_adjoints(left, right, kernel):
    rng = np.random.default_rng(5)
    n = 90
    A, a = diagonal_matrix(rng, n, n, [-40, -1, 0, 3, 17], left)
    B, b = diagonal_matrix(rng, n, n, [-33, 0, 1, 50], right)
    with sf.config(kernel=kernel):
        for (X, x), (Y, y) in itertools.product(
            ((A, a), (A.T, a.T), (A.H, a.conj().T)), ((B, b), (B.T, b.T), (B.H, b.conj().T))
        ):
            check(X @ Y, x @ y, 5)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "shape", [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 9, 1), (9, 1, 9), (20, 33, 7), (7, 50, 80)]
)
def test_rectangular(shape, kernel):
    rng = np.random.default_rng(7)
    n, m, p = shape
    for count in (0, 1, 6, 200):
        A, a = diagonal_matrix(rng, n, m, random_offsets(rng, n, m, count))
        B, b = diagonal_matrix(rng, m, p, random_offsets(rng, m, p, count))
        with sf.config(kernel=kernel):
            check(A @ B, a @ b, m)
            check(B.T @ A.T, b.T @ a.T, m)


def test_symmetric_operand():
    rng = np.random.default_rng(1)
    _, a = diagonal_matrix(rng, 50, 50, [0, 2, 9])
    S = sf.asarray(a + a.T, format="cds", symmetric=True)
    B, b = diagonal_matrix(rng, 50, 50, [-3, 1])
    check(S @ B, (a + a.T) @ b, 5)
    check(B.T @ S, b.T @ (a + a.T), 5)


def test_result_has_exactly_the_diagonals_where_entries_meet():
    """Offsets 3 and 3 of a 5 x 5 matrix add up inside the matrix only if some row carries both."""
    rng = np.random.default_rng(0)
    for n, m, p in ((5, 5, 5), (6, 3, 8), (9, 2, 2)):
        A, a = diagonal_matrix(rng, n, m, random_offsets(rng, n, m, 4))
        B, b = diagonal_matrix(rng, m, p, random_offsets(rng, m, p, 4))
        pattern = (a != 0).astype(int) @ (b != 0).astype(int)
        expected = np.unique(np.subtract(*np.nonzero(pattern)[::-1]))
        np.testing.assert_array_equal(matmul_plan(A, B).offsets, expected)


def test_thirteen_cases_of_the_paper():
    """One diagonal of A times one of B, signs and sizes in every order, by the formulas of section 6.2.

    The paper counts entries of diagonal d by ``min(row, column)``: C[d][k] below is its notation.
    """
    n, rng = 9, np.random.default_rng(13)
    seen = set()
    for i, j in itertools.product(range(1 - n, n), repeat=2):
        A, _ = diagonal_matrix(rng, n, n, [i], format="hm")
        B, _ = diagonal_matrix(rng, n, n, [j], format="hm")
        C = multiply(A, B)
        expected = {}
        for k in range(n - abs(i)):  # entry A[i][k]
            row, inner = (k, k + i) if i >= 0 else (k - i, k)
            col = inner + j
            if 0 <= col < n:
                expected[min(row, col)] = A.data[k] * B.data[min(inner, col)]
                seen.add((np.sign(i), np.sign(j), np.sign(i + j)))
        if not expected:
            assert C.offsets.size == 0
            continue
        assert C.offsets.tolist() == [i + j]
        assert C.data.size == n - abs(i + j)
        np.testing.assert_array_equal(C.data, [expected.get(k, 0.0) for k in range(n - abs(i + j))])
    assert len(seen) == 13


def test_cdm_product_of_the_paper():
    """Section 4, n = 4: row k of the compact result is the k-th compact diagonal."""
    rng = np.random.default_rng(4)
    a, b = rng.random((4, 4)), rng.random((4, 4))
    C = sf.asarray(a, format="cdm") @ sf.asarray(b, format="cdm")
    c = a @ b
    assert C.data.shape == (4, 4)
    for k in range(4):
        np.testing.assert_allclose(C.data[k], [c[i, (i + k) % 4] for i in range(4)], rtol=1e-14)


def test_plan_runs_again_with_other_values_and_updates_in_place():
    rng = np.random.default_rng(2)
    offsets = [-9, -1, 0, 4]
    for format in FORMATS:
        A, a = diagonal_matrix(rng, 40, 40, offsets, format=format)
        B, b = diagonal_matrix(rng, 40, 40, offsets, format=format)
        plan = matmul_plan(A, B)
        C = plan(A, B)
        check(C, a @ b, 4)
        check(plan(B, A), b @ a, 4)
        before = np.asarray(C.todense()).copy()
        C @ np.ones(40)  # leaves a plan on C, which must not outlive its values
        assert plan(B, B, out=C, alpha=2.5, beta=-0.5) is C
        check(C, 2.5 * b @ b - 0.5 * before, 8)
        np.testing.assert_allclose(C @ np.ones(40), (2.5 * b @ b - 0.5 * before).sum(axis=1), atol=1e-12)


def test_some_diagonals_only():
    rng = np.random.default_rng(2)
    A, a = diagonal_matrix(rng, 40, 40, [-9, -1, 0, 4], format="hm")
    C = matmul_plan(A, A, offsets=[0, -1, 8, 33])(A, A)
    assert sorted(C.offsets.tolist()) == [-1, 0, 8]
    check(C, sum(np.diag(np.diag(a @ a, k), k) for k in (-1, 0, 8)), 4)


def test_beta_zero_does_not_read_old_values():
    rng = np.random.default_rng(2)
    A, a = diagonal_matrix(rng, 70, 70, [-3, 0, 8])
    for kernel in KERNELS:
        C = diagonal_elementwise.scale(A @ A, np.nan)
        with sf.config(kernel=kernel):
            matmul_plan(A, A)(A, A, out=C)
        check(C, a @ a, 3)


def test_out_may_store_more_diagonals():
    rng = np.random.default_rng(2)
    A, a = diagonal_matrix(rng, 30, 30, [0, 5])
    C, c = diagonal_matrix(rng, 30, 30, [-7, 0, 5, 6, 10], format="hm")
    matmul_plan(A, A)(A, A, out=C, beta=2.0)
    check(C, a @ a + 2 * c, 4)


def test_slots_outside_the_matrix_stay_zero():
    rng = np.random.default_rng(2)
    A, _ = diagonal_matrix(rng, 64, 64, [-50, 0, 40])
    for kernel in KERNELS:
        with sf.config(kernel=kernel):
            C = A @ A
        sf.CDS(C.data, C.offsets, shape=C.shape)  # validates the padding


def test_nan_and_inf_reach_exactly_the_entries_they_meet():
    A, a = diagonal_matrix(np.random.default_rng(0), 200, 200, [-1, 0, 1])
    data = A.data.copy()
    data[1, 100] = np.nan
    data[2, 50] = np.inf
    B = sf.CDS(data, A.offsets, shape=A.shape)
    b = a.copy()
    b[100, 100], b[50, 51] = np.nan, np.inf
    for kernel in KERNELS:
        with sf.config(kernel=kernel):
            got = np.asarray((A @ B).todense())
        rows, cols = np.nonzero(~np.isfinite(got))
        assert set(zip(rows.tolist(), cols.tolist(), strict=True)) == {
            (r, c) for r0, c in ((100, 100), (50, 51)) for r in (r0 - 1, r0, r0 + 1)
        }


def test_threads_give_the_same_bits_as_one():
    rng = np.random.default_rng(9)
    A, _ = diagonal_matrix(rng, 5000, 5000, random_offsets(rng, 5000, 5000, 30), format="hm")
    results = []
    for threads in (1, 2, 2, 3):
        with sf.config(threads=threads):
            results.append((A @ A.T).data)
    np.testing.assert_array_equal(results[1], results[2])
    for other in results[2:]:
        np.testing.assert_allclose(other, results[0], rtol=0, atol=tolerance("d", 30))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", ["AT_B", "A_BT"])
def test_transposed_products_allocate_only_the_result(form, format):
    n = 60_000
    A = sf.gallery.banded(n, 5, 3, format=format)
    B = sf.gallery.banded(n, 2, 4, format=format)

    def product():
        return A.T @ B if form == "AT_B" else A @ B.T

    product()  # compile, and make the tables
    tracemalloc.start()
    C = product()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < C.data.nbytes + 100_000


def test_drop_empty_only_when_asked():
    A = sf.CDS(np.ones((2, 6)) * [[1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]], [0, 0 + 1][:2], shape=(6, 7))
    B = sf.eye(7, format="cds")
    C = multiply(A, diagonal_elementwise.scale(B, 0.0))
    assert C.offsets.tolist() == [0, 1]
    assert multiply(A, diagonal_elementwise.scale(B, 0.0), drop_empty=True).offsets.size == 0
    assert multiply(A, B, drop_empty=True).offsets.tolist() == [0, 1]


def test_impossible_size_names_the_bytes():
    n = 2**31
    A = sf.CDS(np.zeros((0, n)), np.zeros(0, dtype=int), shape=(n, n))
    wide = np.lib.stride_tricks.as_strided(np.zeros(1), (2000, n), (0, 0))
    A = sf.CDS._build({"data": wide, "offsets": np.arange(2000)}, (n, n), symmetric=False)
    with pytest.raises(MemoryError, match=str(3999 * n * 8)):
        _plan_only(A)


def _plan_only(A):
    plan = matmul_plan(A, A)
    assert plan.nbytes("float64") == 3999 * A.shape[0] * 8
    plan.layout.check_size(8, on_host=True)


def test_errors_say_what_was_wrong():
    rng = np.random.default_rng(0)
    A, _ = diagonal_matrix(rng, 6, 6, [0, 2])
    B, _ = diagonal_matrix(rng, 5, 5, [0])
    with pytest.raises(ValueError, match="5"):
        A @ B
    with pytest.raises(TypeError, match="csr"):
        matmul_plan(A, A.to_csr())
    plan = matmul_plan(A, A)
    other, _ = diagonal_matrix(rng, 6, 6, [0, 3])
    with pytest.raises(ValueError, match="other diagonals"):
        plan(other, A)
    with pytest.raises(ValueError, match="out="):
        plan(A, A, beta=1)
    with pytest.raises(ValueError, match="shares memory"):
        square, _ = diagonal_matrix(rng, 6, 6, [0, 2, 4])
        matmul_plan(square, A)(square, A, out=square)
    with pytest.raises(ValueError, match="does not store diagonal 2"):
        plan(A, A, out=other)
    with pytest.raises(TypeError, match="float32"):
        plan(A, A, out=(A @ A).astype("float32"))
    with pytest.raises(ValueError, match="square"):
        tall, _ = diagonal_matrix(rng, 6, 4, [0])
        matmul_plan(tall, tall.T @ tall, format="hm")


@pytest.mark.parametrize(("left", "right"), [("cds", "cds"), ("hm", "hm"), ("cdm", "cdm"), ("hm", "cdm")])
def test_sum_and_elementwise_product(left, right):
    rng = np.random.default_rng(6)
    A, a = diagonal_matrix(rng, 25, 25, [-20, -1, 0, 3], format=left)
    B, b = diagonal_matrix(rng, 25, 25, [-1, 2, 3, 24], "float32", format=right)
    for X, x in ((A, a), (A.T, a.T)):
        S = diagonal_elementwise.add(X, B, 2.0, -1.0)
        check(S, 2 * x - b, 2)
        assert sorted(S.offsets.tolist()) == sorted({*X.offsets.tolist(), *B.offsets.tolist()})
        P = diagonal_elementwise.multiply(X, B)
        check(P, x * b, 1)
        assert sorted(P.offsets.tolist()) == sorted({*X.offsets.tolist()} & {*B.offsets.tolist()})
    check(A + B, a + b, 2)
    check(A - B, a - b, 2)
    check(A * B, a * b, 1)


def test_sum_in_place():
    rng = np.random.default_rng(6)
    A, a = diagonal_matrix(rng, 25, 25, [-4, 0, 3], format="hm")
    B, b = diagonal_matrix(rng, 25, 25, [0, 3], format="hm")
    assert diagonal_elementwise.add(A, B, 3.0, 1.0, out=A) is A
    check(A, 3 * a + b, 2)
    with pytest.raises(ValueError, match="does not store diagonal -4"):
        diagonal_elementwise.add(A, B, out=B)
    assert diagonal_elementwise.scale(A, 0.5, out=A) is A
    check(A, (3 * a + b) / 2, 2)
    with pytest.raises(TypeError, match="complex"):
        diagonal_elementwise.scale(A, 1j, out=A)


@pytest.mark.parametrize("alpha", [1, 2.0])
@pytest.mark.parametrize("beta", [1, -3.0])
def test_sum_in_place_of_either_operand(alpha, beta):
    for which in ("A", "B", "both"):
        rng = np.random.default_rng(6)
        A, a = diagonal_matrix(rng, 25, 25, [-4, 0, 3, 9], format="hm")
        B, b = (A, a) if which == "both" else diagonal_matrix(rng, 25, 25, [-4, 0, 3, 9], format="hm")
        part, p = diagonal_matrix(rng, 25, 25, [0, 9], format="hm")
        X, x = (part, p) if which == "B" else (A, a)
        Y, y = (part, p) if which == "A" else (B, b)
        out = Y if which == "B" else X
        assert diagonal_elementwise.add(X, Y, alpha, beta, out=out) is out
        check(out, alpha * x + beta * y, 2)


def test_sum_into_memory_of_a_transposed_operand_is_refused():
    A, _ = diagonal_matrix(np.random.default_rng(0), 9, 9, [-1, 0, 1], format="hm")
    with pytest.raises(ValueError, match="shares memory with B"):
        diagonal_elementwise.add(A, A.T, out=A)


def test_symmetric_stays_symmetric():
    a = np.diag(np.full(8, 4.0)) + np.diag(np.ones(7), 1) + np.diag(np.ones(7), -1)
    S = sf.asarray(a, format="cds", symmetric=True)
    assert (S + S).symmetric
    check(S + S, 2 * a, 1)
    T = S + sf.eye(8, format="cds")
    assert not T.symmetric
    check(T, a + np.eye(8), 1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_shapes_and_diagonals(data):
    n, m, p = (data.draw(st.integers(1, 12)) for _ in range(3))
    a_offsets = data.draw(st.lists(st.integers(1 - n, m - 1), unique=True))
    b_offsets = data.draw(st.lists(st.integers(1 - m, p - 1), unique=True))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    A, a = diagonal_matrix(rng, n, m, sorted(a_offsets))
    B, b = diagonal_matrix(rng, m, p, sorted(b_offsets))
    check(A @ B, a @ b, m)
    check(B.T @ A.T, (a @ b).T, m)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_other_array_libraries(library):
    xp = pytest.importorskip(library)
    rng = np.random.default_rng(8)
    A, a = diagonal_matrix(rng, 30, 30, [-7, -1, 0, 4], format="hm")
    B, b = diagonal_matrix(rng, 30, 30, [-2, 0, 1], format="hm")
    X, Y = A.to_namespace(xp), B.to_namespace(xp)
    for C, expected in (
        (X @ Y, a @ b),
        (X.T @ Y, a.T @ b),
        (diagonal_elementwise.add(X, Y, 2.0, -1.0), 2 * a - b),
        (X * Y, a * b),
        (sf.linalg.syrk(X), a @ a.T),
    ):
        assert C._namespace == library
        check(C.to_namespace(np), expected, 8)
