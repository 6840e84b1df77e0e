"""Matrix Market files: every field, symmetry and spelling, and the words for what is wrong."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import spformats as sf

BANNER = "%%MatrixMarket matrix coordinate real general\n"
BODY = "2 2 2\n1 1 3\n2 1 4\n"
COLLECTION = Path(os.environ.get("SPFORMATS_MATRICES", Path(__file__).resolve().parents[3] / "shared" / "data"))


def read(text: str, **options):
    return sf.mmread(io.BytesIO(text.encode()), **options)


SPELLINGS = {
    "plain": BANNER + BODY,
    "mixed case": "%%MatrixMarket MATRIX Coordinate Real General\n% c\n%\n" + BODY,
    "lower-case banner": "%%matrixmarket matrix coordinate real general\n" + BODY,
    "one percent": BANNER[1:] + BODY,
    "space after the percent signs": BANNER.replace("%%", "%% ") + BODY,
    "tabs and indent in the banner": "  %%MatrixMarket\tmatrix  coordinate\treal general  \n" + BODY,
    "comment after the banner": BANNER.replace("\n", " % from a tool\n") + BODY,
    "byte order mark": "\ufeff" + BANNER + BODY,
    "blank line first": "\n\n" + BANNER + BODY,
    "blank lines, Windows ends": (BANNER + "\n% c\n\n" + BODY.replace("\n", "\n\n")).replace("\n", "\r\n"),
    "old Mac ends": (BANNER + BODY).replace("\n", "\r"),
    "indents": "%%MatrixMarket matrix coordinate integer general\n  2 2 2\n  1 1 3\n\t2 1 4\n",
    "trailing blanks": BANNER + BODY.replace("\n", "  \t\n"),
    "no final newline": BANNER + BODY[:-1],
    "blank lines at the end": BANNER + BODY + "\n  \n\n",
    "comment between entries": BANNER + "2 2 2\n1 1 3\n% half\n  % way\n2 1 4\n",
    "comment before the size line": BANNER + "%\n  % indented\n" + BODY,
    "Fortran exponents": BANNER + "2 2 2\n1 1 0.3D+01\n2 1 40d-1\n",
    "plus signs": BANNER + "2 2 2\n+1 1 +3\n2 +1 4e+0\n",
    "field double": BANNER.replace("real", "double") + BODY,
    "unsigned": BANNER.replace("real", "unsigned-integer") + BODY,
    "points without digits": BANNER + "2 2 2\n1 1 3.\n2 1 .4e1\n",
    "array": "%%MatrixMarket matrix array real general\n2 2\n3\n4\n0\n0\n",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_read_the_same(name):
    A = read(SPELLINGS[name])
    assert A.dtype == np.float64
    np.testing.assert_array_equal(A.todense(), [[3, 0], [4, 0]])


WRONG = {  # text, number of the line that must be named, a text the message must hold
    "empty": ("", 1, "empty"),
    "only blanks": ("\n \n", 1, "empty"),
    "no banner": ("2 2 1\n1 1 3\n", 1, "2 2 1"),
    "other banner": ("%%NotAMatrix matrix coordinate real general\n" + BODY, 1, "NotAMatrix"),
    "no field": (BANNER.replace("real ", "") + BODY, 1, "coordinate general"),
    "no symmetry": (BANNER.replace(" general", "") + BODY, 1, "coordinate real"),
    "extra word": (BANNER.replace("general", "general symmetric") + BODY, 1, "general symmetric"),
    "bad field": (BANNER.replace("real", "quaternion") + BODY, 1, "quaternion"),
    "bad symmetry": (BANNER.replace("general", "lower") + BODY, 1, "lower"),
    "vector": (BANNER.replace("matrix", "vector") + BODY, 1, "vector"),
    "pattern array": ("%%MatrixMarket matrix array pattern general\n2 2\n", 1, "pattern"),
    "banner only": (BANNER, 1, "size line"),
    "comments only": (BANNER + "% a\n%b\n", 3, "size line"),
    "two-number size": (BANNER + "2 1\n", 2, "'2 1'"),
    "two-number size and entries": (BANNER + "2 1\n1 1 3\n", 2, "'2 1'"),
    "four-number size": (BANNER + "2 2 1 7\n1 1 3\n", 2, "2 2 1 7"),
    "float size": (BANNER + "2.5 2 1\n1 1 3\n", 2, "2.5"),
    "negative size": (BANNER + "-2 2 1\n1 1 3\n", 2, "-2"),
    "words as size": (BANNER + "% c\ntwo by two\n", 3, "two by two"),
    "three-number array size": ("%%MatrixMarket matrix array real general\n1 1 1\n1\n", 2, "1 1 1"),
    "symmetric rectangle": (BANNER.replace("general", "symmetric") + "3 2 1\n1 1 3\n", 2, "square"),
    "row too large": (BANNER + "2 2 2\n1 1 3\n3 1 4\n", 4, "'3 1 4'"),
    "row zero": (BANNER + "2 2 1\n0 1 3\n", 3, "'0 1 3'"),
    "column negative": (BANNER + "2 2 1\n1 -1 3\n", 3, "1 -1 3"),
    "column too large": (BANNER + "\n2 2 2\n1 1 3\n\n1 3 4\n", 6, "column index 3"),
    "huge index": (BANNER + "2 2 1\n99999999999999999999 1 3\n", 3, "99999999999999999999"),
    "float index": (BANNER + "2 2 1\n1.0 1 3\n", 3, "1.0"),
    "too few": (BANNER + "2 2 3\n1 1 3\n2 1 4\n", 4, "2 entries"),
    "too few, size line last": (BANNER + "2 2 3\n", 2, "0 entries"),
    "cut in a line": (BANNER + "2 2 2\n1 1 3\n2 1", 4, "'2 1'"),
    "too many": (BANNER + "2 2 1\n1 1 3\n2 1 4\n", 4, "'2 1 4'"),
    "entries in an empty file": (BANNER + "2 2 0\n1 1 3\n", 3, "1 1 3"),
    "absurd count": (BANNER + "2 2 99999999999\n1 1 3\n", 3, "99999999999"),
    "word for a value": (BANNER + "2 2 1\n1 1 x\n", 3, "'x'"),
    "decimal comma": (BANNER + "2 2 1\n1 1 1,5\n", 3, "1,5"),
    "two points": (BANNER + "2 2 1\n1 1 1.2.3\n", 3, "1.2.3"),
    "two exponents": (BANNER + "2 2 1\n1 1 1e5e6\n", 3, "1e5e6"),
    "exponent cut": (BANNER + "2 2 1\n1 1 1e\n", 3, "1e"),
    "unit after a value": (BANNER + "2 2 1\n1 1 3.0x\n", 3, "3.0x"),
    "hexadecimal": (BANNER + "2 2 1\n1 1 0x10\n", 3, "0x10"),
    "a date": (BANNER + "2 2 1\n1 1 1-2\n", 3, "1-2"),
    "third index": (BANNER + "2 2 1\n1 1 3 9\n", 3, "4 words"),
    "value missing": (BANNER + "2 2 1\n1 1\n", 3, "2 words"),
    "two entries on a line": (BANNER + "2 2 2\n1 1 3 2 1 4\n", 3, "6 words"),
    "imaginary part missing": (BANNER.replace("real", "complex") + "1 1 1\n1 1 3\n", 3, "3 words"),
    "imaginary part in a real file": (BANNER + "1 1 1\n1 1 3 4\n", 3, "4 words"),
    "pattern with a value": (BANNER.replace("real", "pattern") + "2 2 1\n1 1 3\n", 3, "3 words"),
    "fraction in an integer file": (BANNER.replace("real", "integer") + "2 2 1\n1 1 3.5\n", 3, "3.5"),
    "integer beyond 64 bits": (BANNER.replace("real", "integer") + "1 1 1\n1 1 99999999999999999999\n", 3, "64-bit"),
    "zero bytes at the end": (BANNER + BODY + "\0\0\0\0", 5, "too many"),
    "array too short": ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", 5, "3 entries"),
    "array too long": ("%%MatrixMarket matrix array real general\n1 2\n1\n2\n3\n", 5, "too many"),
    "array of rows": ("%%MatrixMarket matrix array real general\n2 2\n1 2\n3 4\n", 3, "2 words"),
    "entry in an empty array": ("%%MatrixMarket matrix array real general\n0 3\n1\n", 3, "too many"),
    "skew diagonal": (BANNER.replace("general", "skew-symmetric") + "2 2 2\n2 1 1\n1 1 3\n", 4, "zero diagonal"),
    "both triangles": (BANNER.replace("general", "symmetric") + "2 2 3\n1 1 1\n2 1 5\n1 2 5\n", 5, "both triangles"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_names_the_line(name):
    text, line, part = WRONG[name]
    with pytest.raises(ValueError, match=rf"line {line}\b") as caught:
        read(text)
    assert part in str(caught.value)


def test_a_fault_far_into_a_large_file_is_found():
    n = 300_000
    rows = [f"{i + 1} 1 0.25" for i in range(n)]
    rows[n - 2] = f"{n - 1} 1 0.2.5"
    with pytest.raises(ValueError, match=rf"line {n + 1}: '{n - 1} 1 0\.2\.5'"):
        read(BANNER + f"{n} 1 {n}\n" + "\n".join(rows) + "\n")


@pytest.mark.parametrize("layout", ["coordinate", "array"])
def test_damaged_files_raise_value_errors_only(layout):
    """Whatever a flipped, lost or doubled byte does, the outcome is a matrix or a ValueError that names a line."""
    rng = np.random.default_rng(7)
    stream = io.BytesIO()
    M = rng.integers(0, 3, (4, 3)) * 0.25
    scipy.io.mmwrite(stream, sp.coo_array(M) if layout == "coordinate" else M)
    content = stream.getvalue()
    alphabet = b"0123456789 .-+eE%\n\r\tx\0\xff"
    for _ in range(1500):
        damaged = bytearray(content)
        for _ in range(rng.integers(1, 3)):
            place = int(rng.integers(0, max(len(damaged), 1)))
            kind = rng.integers(0, 4)
            if not damaged:
                continue
            if kind == 0:
                damaged[place] = alphabet[rng.integers(0, len(alphabet))]
            elif kind == 1:
                del damaged[place]
            elif kind == 2:
                damaged.insert(place, alphabet[rng.integers(0, len(alphabet))])
            else:
                del damaged[place:]
        try:
            A = sf.mmread(io.BytesIO(bytes(damaged)))
        except ValueError as error:
            assert re.search(r"line \d+", str(error)), str(error)
        else:
            assert A.nnz <= 2 * M.size


def test_symmetries():
    head = "%%MatrixMarket matrix coordinate {} {}\n"
    sym = read(head.format("real", "symmetric") + "2 2 2\n1 1 4\n2 1 1\n")
    assert sym.nnz == 3
    np.testing.assert_array_equal(sym.todense(), [[4, 1], [1, 0]])
    np.testing.assert_array_equal(
        read(head.format("real", "symmetric") + "2 2 2\n1 1 4\n1 2 1\n").todense(), [[4, 1], [1, 0]]
    )
    skew = read(head.format("real", "skew-symmetric") + "2 2 1\n2 1 3\n")
    assert skew.nnz == 2
    np.testing.assert_array_equal(skew.todense(), [[0, -3], [3, 0]])
    hermitian = read(head.format("complex", "hermitian") + "2 2 2\n1 1 5 0\n2 1 1 2\n")
    np.testing.assert_array_equal(hermitian.todense(), [[5, 1 - 2j], [1 + 2j, 0]])
    pattern = read(head.format("pattern", "symmetric") + "2 2 1\n2 1\n")
    np.testing.assert_array_equal(pattern.todense(), [[0, 1], [1, 0]])


def test_a_hermitian_diagonal_is_kept_as_stored():
    A = read("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 5 1\n2 1 1 2\n")
    np.testing.assert_array_equal(A.todense(), [[5 + 1j, 1 - 2j], [1 + 2j, 0]])


def test_dense_array_files():
    head = "%%MatrixMarket matrix array {} {}\n"
    skew = read(head.format("real", "skew-symmetric") + "3 3\n1\n2\n3\n")
    np.testing.assert_array_equal(skew.todense(), [[0, -1, -2], [1, 0, -3], [2, 3, 0]])
    sym = read(head.format("integer", "symmetric") + "2 2\n1\n2\n3\n")
    np.testing.assert_array_equal(sym.todense(), [[1, 2], [2, 3]])
    hermitian = read(head.format("complex", "hermitian") + "2 2\n1 0\n2 3\n4 0\n")
    np.testing.assert_array_equal(hermitian.todense(), [[1, 2 - 3j], [2 + 3j, 4]])
    wide = read(head.format("complex", "general") + "1 2\n1 2\n3 -4\n")
    np.testing.assert_array_equal(wide.todense(), [[1 + 2j, 3 - 4j]])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("layout", ["coordinate", "array"])
def test_empty_shapes(shape, layout):
    size = f"{shape[0]} {shape[1]}" + (" 0" if layout == "coordinate" else "")
    A = read(f"%%MatrixMarket matrix {layout} real general\n{size}\n")
    assert A.shape == shape and A.nnz == 0


def test_duplicates_are_summed_and_zeros_kept():
    A = read(BANNER + "2 2 4\n1 1 3\n1 1 4\n2 2 0\n2 1 1\n")
    assert A.nnz == 3
    np.testing.assert_array_equal(A.todense(), [[7, 0], [1, 0]])


def test_nan_and_infinities():
    A = read(BANNER + "2 2 4\n1 1 nan\n1 2 -inf\n2 1 Infinity\n2 2 NaN\n")
    np.testing.assert_array_equal(A.todense(), [[np.nan, -np.inf], [np.inf, np.nan]])


def test_int64_columns():
    column = 2**33 + 5
    A = read(BANNER + f"2 {2**34} 1\n2 {column} 1.5\n")
    assert A.shape == (2, 2**34)
    assert A.to_scipy_sparse().tocoo().coords[1].tolist() == [column - 1]


def test_format_and_layout_are_passed_on():
    text = BANNER + "4 4 4\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n"
    assert read(text, format="cds").format == "cds"
    assert read(text, format="bsr", blocksize=(2, 2)).blocksize == (2, 2)
    assert read(text).format == "csr"


@pytest.mark.parametrize("compress", [lambda b: b, gzip.compress, bz2.compress, lzma.compress])
def test_sources(tmp_path, compress):
    content = compress((BANNER + BODY).encode())
    path = tmp_path / "a.bin"  # the content decides, not the name
    path.write_bytes(content)
    expected = [[3, 0], [4, 0]]
    np.testing.assert_array_equal(sf.mmread(path).todense(), expected)
    np.testing.assert_array_equal(sf.mmread(str(path)).todense(), expected)
    np.testing.assert_array_equal(sf.mmread(io.BytesIO(content)).todense(), expected)
    with open(path, "rb") as file:
        np.testing.assert_array_equal(sf.mmread(file).todense(), expected)
    assert path.read_bytes() == content


def test_text_stream_and_missing_file(tmp_path):
    np.testing.assert_array_equal(sf.mmread(io.StringIO(BANNER + BODY)).todense(), [[3, 0], [4, 0]])
    with pytest.raises(FileNotFoundError):
        sf.mmread(tmp_path / "none.mtx")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_cut_compressed_file(tmp_path, compress):
    content = compress((BANNER + BODY).encode() * 50)
    path = tmp_path / "cut.mtx.gz"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"cut\.mtx\.gz.*damaged or cut short"):
        sf.mmread(path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz", ".mtx.bz2", ".mtx.xz", ""])
def test_write_and_read_back(tmp_path, dtype, suffix):
    rng = np.random.default_rng(3)
    M = rng.standard_normal((6, 4)) * (rng.random((6, 4)) < 0.5) / 3
    if np.dtype(dtype).kind == "c":
        M = M + 1j * M.T.copy().reshape(6, 4)
    A = sf.asarray(M.astype(dtype), format="ell")
    path = tmp_path / f"a{suffix}"
    sf.mmwrite(path, A, comment="two\nlines")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    B = sf.mmread(path)
    np.testing.assert_array_equal(B.todense().astype(dtype), M.astype(dtype))
    assert B.nnz == A.nnz


def test_write_to_a_stream_and_options():
    stream = io.BytesIO()
    sf.mmwrite(stream, sp.coo_array([[1.0, 0], [0, 2]]), field="integer", symmetry="general")
    assert stream.getvalue().startswith(b"%%MatrixMarket matrix coordinate integer general")
    with pytest.raises(ValueError):
        sf.mmwrite(io.BytesIO(), sf.eye(2), symmetry="sideways")
    with pytest.raises(ValueError):
        sf.mmwrite(io.BytesIO(), sf.eye(2), field="sideways")


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_write_empty(shape):
    stream = io.BytesIO()
    sf.mmwrite(stream, sp.csr_array(shape))
    stream.seek(0)
    assert sf.mmread(stream).shape == shape


def collection():
    index = COLLECTION / "index.json"
    return json.loads(index.read_text()) if index.exists() else []


@pytest.mark.skipif(not collection(), reason="the matrix collection is not on this machine")
@pytest.mark.parametrize("entry", collection(), ids=lambda entry: entry["name"])
def test_the_collection_reads(entry):
    path = COLLECTION / "matrices" / entry["file"]
    A = sf.mmread(path)
    assert A.shape == (entry["rows"], entry["cols"])
    explicit_zeros = [re.match(r"(\d+) explicit zeros", word) for word in entry["oddities"]]
    zeros = sum(int(match[1]) for match in explicit_zeros if match)
    S = A.to_scipy_sparse()
    peer = sp.csr_array(scipy.io.mmread(path, spmatrix=False))
    peer.sum_duplicates()
    assert A.nnz == peer.nnz
    assert entry["nnz"] in (A.nnz, A.nnz - zeros, np.count_nonzero(S.data))
    assert abs(S - peer).max() == 0


def test_small_real_matrices():
    folder = Path(__file__).resolve().parents[1] / "data"
    files = sorted(folder.glob("*.mtx.gz"))
    assert files
    for path in files:
        peer = sp.csr_array(scipy.io.mmread(path, spmatrix=False))
        assert abs(sf.mmread(path).to_scipy_sparse() - peer).max() == 0
