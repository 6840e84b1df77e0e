"""Hypothesis strategies: an array in any layout and data type, with its dense twin."""

import hypothesis.strategies as st
import numpy as np
import scipy.sparse as sp
from layouts import LAYOUTS, SQUARE_ONLY, build

DTYPES = ("float32", "float64", "complex64", "complex128", "int32", "int64", "uint8", "bool")
FLOATING = ("float32", "float64", "complex64", "complex128")
REAL = ("float32", "float64", "int32", "int64", "uint8")
_ODD = {"f": [np.nan, np.inf, -np.inf, -0.0, 0.5, 2.0], "c": [complex(np.nan, 1), complex(np.inf, 0), -1j, 0.5 + 2j]}


def values(rng, dtype, count, finite=True):
    """Small numbers of the data type, among them NaN, infinities and negative zero unless ``finite``."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.ones(count, dtype=bool)
    whole = rng.integers(0 if dtype.kind == "u" else -3, 4, count)
    if dtype.kind in "iu":
        return whole.astype(dtype)
    out = (whole * 0.75).astype(dtype)
    if dtype.kind == "c":
        out += (1j * rng.integers(-3, 4, count)).astype(dtype)
    if not finite and count:
        some = rng.random(count) < 0.3
        out[some] = rng.choice(np.array(_ODD[dtype.kind], dtype=dtype), int(some.sum()))
    return out


def matrix(rng, n, m, dtype, finite=True):
    """A SciPy matrix with a random pattern that has explicit zeros now and then."""
    mask = rng.random((n, m)) < rng.choice([0.0, 0.15, 0.5, 1.0])
    rows, cols = np.nonzero(mask)
    return sp.coo_array((values(rng, dtype, rows.size, finite), (rows, cols)), shape=(n, m))


@st.composite
def arrays(draw, dtypes=DTYPES, layouts=tuple(LAYOUTS), finite=True, count=1, transposed=True):
    """``count`` arrays of one shape and layout, each with its dense twin: ``(A, D, B, E, …)``."""
    layout = draw(st.sampled_from(layouts))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n = 2 * draw(st.integers(0, 4))
    m = n if layout in SQUARE_ONLY else 2 * draw(st.integers(0, 4))
    out = []
    dtype = draw(st.sampled_from(dtypes))
    lazy = transposed and draw(st.booleans())
    for _ in range(count):
        S = matrix(rng, n, m, dtype, finite)
        out += [build(S, layout + ".T" if lazy else layout, dtype=np.dtype(dtype)), dense(S)]
    return tuple(out)


def dense(S):
    """A NumPy array of a COO matrix without duplicates."""
    out = np.zeros(S.shape, dtype=S.dtype)
    out[S.coords] = S.data
    return out


def undone(x):
    """A result as a NumPy array."""
    return x.todense() if hasattr(x, "todense") else np.asarray(x)
