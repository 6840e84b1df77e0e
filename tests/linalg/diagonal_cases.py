"""Random diagonal matrices with their dense twins, shared by the tests of the diagonal algebra."""

import numpy as np

import spformats as sf
from spformats.formats import CDS


def random_offsets(rng, n, m, count):
    """Up to ``count`` distinct offsets inside an n × m matrix."""
    if not n or not m:
        return np.zeros(0, dtype=np.int64)
    every = np.arange(1 - n, m)
    return np.sort(rng.choice(every, size=min(count, len(every)), replace=False))


def diagonal_matrix(rng, n, m, offsets, dtype="float64", format="cds"):
    """(matrix, dense twin) with random values on these diagonals."""
    offsets = np.asarray(offsets, dtype=np.int64)
    dtype = np.dtype(dtype)
    data = np.zeros((len(offsets), n), dtype=dtype)
    dense = np.zeros((n, m), dtype=dtype)
    for k, o in enumerate(offsets.tolist()):
        i = np.arange(max(0, -o), min(n, m - o))
        values = rng.standard_normal(len(i))
        if dtype.kind == "c":
            values = values + 1j * rng.standard_normal(len(i))
        data[k, i] = values
        dense[i, i + o] = values
    A = CDS(data, offsets, shape=(n, m))
    return sf.asarray(A, format=format) if format != "cds" else A, dense


def tolerance(dtype, terms):
    """Rounding of a sum of so many products of numbers around 1."""
    return 16 * np.finfo(dtype).eps * max(terms, 1)
