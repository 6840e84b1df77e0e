"""What a transposed product adds into y itself, and what into buffers."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf
from spformats_plugins.numba import launch, scatter
from spformats_plugins.numba.scatter_pieces import PARTS, pieces_of


def window_of(S):
    """Columns that rows lo to hi of a CSR matrix touch."""

    def window(lo, hi):
        columns = S.indices[S.indptr[lo] : S.indptr[hi]]
        return (int(columns.min()), int(columns.max()) + 1) if len(columns) else (0, 0)

    return window


def check(S, ranges, align=1):
    """Every row is in one piece, in order; no column that is written to in y by one range is by another."""
    pieces = pieces_of(window_of(S), ranges, align, S.indptr)
    rows = [(p.begin, p.end) for some in pieces for p in some]
    assert rows[0][0] == ranges[0][0] and rows[-1][1] == ranges[-1][1]
    assert all(a[1] == b[0] for a, b in pairwise(rows))
    assert all(some[0].begin == lo and some[-1].end == hi for some, (lo, hi) in zip(pieces, ranges, strict=True))
    assert all(begin % align == 0 for begin, _ in rows)
    writers = np.full(S.shape[1], -1)
    for t, some in enumerate(pieces):
        for p in some:
            columns = S.indices[S.indptr[p.begin] : S.indptr[p.end]]
            if p.last:
                assert columns.min() >= p.first and columns.max() < p.last
            else:
                assert np.isin(writers[columns], [-1, t]).all()
                writers[columns] = t
    return pieces


def ranges_of(n, count):
    cuts = np.linspace(0, n, count + 1).astype(int).tolist()
    return list(pairwise(cuts))


@pytest.mark.parametrize("count", [2, 3, 7])
def test_a_band_needs_buffers_next_to_other_ranges_only(count):
    n = 7 * 640
    S = sp.diags_array([1.0, 1.0, 1.0], offsets=[-5, 0, 5], shape=(n, n)).tocsr()
    pieces = check(S, ranges_of(n, count))
    assert pieces[0] == [(0, ranges_of(n, count)[0][1], 0, 0)]
    for some in pieces[1:]:
        buffered = sum(p.end - p.begin for p in some if p.last)
        assert 0 < buffered <= 4 * (n / count / PARTS + 5)


def test_columns_that_all_ranges_have():
    S = sp.random_array((500, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    S[:, 0] = S[:, 299] = 1.0
    pieces = check(sp.csr_array(S), ranges_of(500, 4))
    assert [len(some) for some in pieces] == [1] * 4
    assert all(some[0].last for some in pieces[1:])


@pytest.mark.parametrize("seed", range(20))
def test_any_matrix(seed):
    rng = np.random.default_rng(seed)
    n, m, align = int(rng.integers(1, 900)), int(rng.integers(1, 900)), int(rng.choice([1, 8]))
    lengths = rng.integers(0, 6, n) * (rng.random(n) < 0.8)
    middle = rng.permutation(n) * m / n if seed % 2 else np.arange(n) * m / n * rng.choice([0.3, 1, -1])
    rows = np.repeat(np.arange(n), lengths)
    columns = np.clip(middle[rows] % m + rng.integers(-9, 10, len(rows)), 0, m - 1).astype(int)
    S = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, m))
    cuts = np.unique(np.r_[0, rng.integers(0, n + 1, 4) // align * align, n]).tolist()
    check(S, list(pairwise(cuts)), align)


def test_buffers_are_never_larger_than_one_for_each_range():
    """Rows without entries are no reason for two buffers that cover all columns."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 6400, 20_000)
    rows = rows[(rows < 4000) | (rows > 4600)]
    S = sp.csr_array((np.ones(len(rows)), (rows, rng.integers(0, 6400, len(rows)))), shape=(6400, 6400))
    pieces = check(S, ranges_of(6400, 2))
    assert [len(some) for some in pieces] == [1, 1]


def test_the_run_with_the_most_entries_adds_into_y():
    """Not the longest one, whose rows are empty."""
    n = 6400
    rows = np.r_[np.arange(3210), np.arange(5200, n)]
    columns = rows.copy()
    columns[3200:3211] = 3199  # which the first range has, too
    S = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    own = [p for p in check(S, ranges_of(n, 2))[1] if p.last == 0]
    assert len(own) == 1 and S.indptr[own[0].end] - S.indptr[own[0].begin] > 1000


FORMATS = [
    ("csr", {}),
    ("ell", {}),
    ("jad", {}),
    ("pjad", {"bsize": 8, "sigma": 64}),
    ("bsr", {"blocksize": (4, 3), "pad": True}),
]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("columns", [(), (3,), (16,)])
@pytest.mark.parametrize(("format", "layout"), FORMATS)
def test_products(monkeypatch, format, layout, columns, threads):
    made = []
    monkeypatch.setattr(launch, "LEAST_BYTES", 1000)
    monkeypatch.setattr(launch, "RANGE_BYTES", 1000)
    monkeypatch.setattr(scatter, "split", lambda *given, **more: launch.split(*given, **more, serial=1000))
    monkeypatch.setattr(scatter, "pieces_of", lambda *given: made.append(pieces_of(*given)) or made[-1])
    rng = np.random.default_rng(1)
    n, m = 2003, 2601
    S = sp.diags_array([rng.standard_normal(n) for _ in range(4)], offsets=[-3, 0, 2, 10], shape=(n, m)).tocsr()
    S = sp.csr_array(sp.diags_array(np.where(np.arange(n) // 10 == 150, 0, 1 + 2j)) @ S)
    S.eliminate_zeros()
    A = sf.asarray(S, format=format, force=True, **layout)
    x, y = (rng.standard_normal((k, *columns)) for k in (n, m))
    y = y.astype(np.complex128)
    with sf.config(threads=threads):
        for B, E in ((A.T, S.T), (A.H, S.conj().T)):
            np.testing.assert_allclose(B @ x, E @ x, atol=1e-12)
            for beta in (0.0, 1.0, -0.5):
                got = sf.spmv(B, x, y.copy(), alpha=2, beta=beta)
                np.testing.assert_allclose(got, 2 * (E @ x) + beta * y, atol=1e-12)
                assert np.array_equal(got, sf.spmv(B, x, y.copy(), alpha=2, beta=beta))
            assert np.isfinite(sf.spmv(B, x, np.full_like(y, np.nan))).all()
    assert all(len(pieces) == threads for pieces in made) and len(made) >= 2
    if threads == 2 and format != "jad":  # its columns are sorted by the length of rows
        assert all(any(p.last == 0 for p in pieces[1]) and any(p.last for p in pieces[1]) for pieces in made)
