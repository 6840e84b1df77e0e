"""One matrix in every format that can hold it, and the dense matrix that a product says it is."""

import numpy as np

import spformats as sf

FORMATS = ["csr", "ell", "jad", "pjad", "bsr", "cds", "hm", "cdm"]


def all_formats(S):
    """In every format that can hold the shape; BSR with blocks of one entry."""
    for format in FORMATS:
        if format in ("hm", "cdm") and S.shape[0] != S.shape[1]:
            continue
        yield format, sf.asarray(S, format=format, **({"blocksize": (1, 1)} if format == "bsr" else {}))


def columns(A):
    """The dense matrix by products, so that a kernel is asked and no conversion."""
    return A @ np.eye(A.shape[1], dtype=A.dtype)
