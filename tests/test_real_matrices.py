"""Real matrices through every format that can hold them, and the facts known about each.

They lie beside the project; set SPFORMATS_MATRICES to the folder that has ``index.json`` where they are elsewhere.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import spformats as sf

FOLDER = Path(os.environ.get("SPFORMATS_MATRICES", Path(__file__).resolve().parents[2] / "shared" / "data"))
INDEX = json.loads((FOLDER / "index.json").read_text()) if (FOLDER / "index.json").exists() else []
pytestmark = pytest.mark.skipif(not INDEX, reason="the collection is not here")

LAYOUTS = {
    "csr": {},
    "ell": {},
    "jad": {},
    "pjad": {},
    "pjad bsize=32": {"bsize": 32},
    "bsr 2x2": {"blocksize": (2, 2), "pad": True},
    "bsr 3x3": {"blocksize": (3, 3), "pad": True},
    "bsr 3x2": {"blocksize": (3, 2), "pad": True},
    "cds": {},
    "hm": {},
    "cdm": {},
}

_read = {}


def matrix(entry):
    """The matrix in CSR, read once; by our reader, whose answers are compared with SciPy's elsewhere."""
    if entry["name"] not in _read:
        _read.clear()
        _read[entry["name"]] = sf.mmread(FOLDER / "matrices" / entry["file"])
    return _read[entry["name"]]


@pytest.fixture(params=INDEX, ids=lambda entry: entry["name"], scope="module")
def entry(request):
    return request.param


def test_facts(entry):
    A = matrix(entry)
    assert A.shape == (entry["rows"], entry["cols"])
    assert A.nnz == entry["nnz"]  # explicit zeros included, duplicates summed
    assert (A.dtype.kind == "c") == (entry["field"] == "complex")
    lengths = np.diff(A.indptr)
    assert lengths.max() == entry["row_max"] and lengths.min() == entry["row_min"]
    rows = np.repeat(np.arange(A.shape[0]), lengths)
    assert np.unique(A.indices - rows).size == entry["n_diagonals"]
    theirs = scipy.io.mmread(FOLDER / "matrices" / entry["file"])
    assert abs(A.to_scipy_sparse() - sp.csr_array(theirs)).max() == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_and_round_trip(entry, layout):
    csr = matrix(entry)
    S = csr.to_scipy_sparse()
    format = layout.partition(" ")[0]
    n, m = csr.shape
    if format in ("hm", "cdm") and n != m:
        with pytest.raises(ValueError, match="square"):
            csr.asformat(format)
        return
    try:
        A = csr.asformat(format, **LAYOUTS[layout])
    except sf.StorageError as error:  # refused for its memory: with reason
        needed = int(str(error).split("need ")[1].split()[0])
        assert needed > 16 * csr.nbytes and needed > 2**26
        return
    assert A.format == format and A.shape == csr.shape and A.dtype == csr.dtype
    back = A.asformat("csr")
    assert abs(sp.csr_array(back) - S).max() == 0 if S.nnz else back.nnz == 0
    rng = np.random.default_rng(0)
    magnitude = abs(S)
    for trans, op in (("N", S), ("T", S.T), ("C", S.conj().T)):
        size = op.shape[1]
        for x in (rng.standard_normal(size), rng.standard_normal((size, 3)).astype(np.float32)):
            got = sf.spmv(A, x, trans=trans)
            # rounding of one sum: its length times the sum of magnitudes
            scale = (magnitude if trans == "N" else magnitude.T) @ abs(x).astype(np.float64)
            bound = (entry["row_max"] + entry["col_max"] + 8) * np.finfo(got.dtype).eps * scale
            assert (abs(got - op @ x.astype(np.float64)) <= bound + 1e-300).all()


def test_solve_positive_definite(entry):
    if not entry["spd"]:
        pytest.skip("not positive definite")
    S = matrix(entry).to_scipy_sparse()
    b = S @ np.ones(S.shape[0])
    scale = sp.diags_array(1 / np.sqrt(S.diagonal()))
    scaled = sp.csr_array(scale @ S @ scale)
    for layout in ("csr", "pjad", "bsr 3x3", "cds"):
        format = layout.partition(" ")[0]
        try:
            A = sf.asarray(scaled, format=format, **LAYOUTS[layout])
        except sf.StorageError:
            continue
        y, info = sf.linalg.cg(A, scale @ b, rtol=1e-8)
        assert info == 0, layout
        assert np.linalg.norm(scaled @ y - scale @ b) <= 1.01e-8 * np.linalg.norm(scale @ b)
