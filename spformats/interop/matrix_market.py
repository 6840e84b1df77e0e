"""Matrix Market files: SciPy's parser between our reading of the header and our check of every line.

SciPy's compiled parser is fast but lenient: it reads ``1,5`` as 1, ``3.0D+01`` as 3 and ignores a third index, and an
``array`` file with no columns ends the process. So the header is read here, and the body goes to SciPy only once
:mod:`spformats.interop.matrix_market_lines` has found nothing wrong in it.

Format: R. F. Boisvert, R. Pozo, K. A. Remington, *The Matrix Market exchange formats*, NISTIR 5935 (1996).
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import types
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp

from spformats.interop import matrix_market_lines as lines
from spformats.interop.asarray import asarray

if TYPE_CHECKING:
    from spformats import SparseArray

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MAGIC = ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ", lzma.decompress))
FIELDS = ("real", "double", "integer", "unsigned-integer", "complex", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


class Header(NamedTuple):
    """What the banner and the size line say, and where the entries begin."""

    layout: str
    field: str
    symmetry: str
    shape: tuple[int, int]
    stored: int
    size_line: tuple[int, bytes]
    body: int


def mmread(source: Any, *, format: str | None = None, **layout: Any) -> SparseArray:
    """Read a matrix from a Matrix Market file.

    Parameters
    ----------
    source : path or file object
        A path, or an object with ``read`` (binary or text). gzip, bzip2 and xz are recognised by content.
    format : str, optional
        The format to return, as in :func:`spformats.asarray`; CSR when not given.
    **layout
        Layout options of that format, for instance ``blocksize=(3, 3)``.

    Returns
    -------
    SparseArray, shape (n, m)
        float64, or complex128 for complex files. Pattern files give ones, integers become float64. Symmetric,
        skew-symmetric and Hermitian files are expanded, duplicates summed, explicit zeros of coordinate files kept.

    Raises
    ------
    ValueError
        If the file is not a Matrix Market matrix, malformed or cut short; the message gives the file's name, number
        and text of the line.

    References
    ----------
    R. F. Boisvert, R. Pozo, K. A. Remington, *The Matrix Market exchange formats*, NISTIR 5935 (1996).

    Examples
    --------
    >>> import io
    >>> import spformats as sf
    >>> text = "%%MatrixMarket matrix coordinate real symmetric\\n2 2 2\\n1 1 4\\n2 1 1\\n"
    >>> sf.mmread(io.StringIO(text)).todense()
    array([[4., 1.],
           [1., 0.]])
    """
    text = _read_text(source)
    try:
        matrix = _read_matrix(text)
    except ValueError as error:
        name = getattr(source, "name", None) if hasattr(source, "read") else os.fspath(source)
        if name is None:
            raise
        raise ValueError(f"{name}: {error}") from error
    return asarray(matrix, format=format, **layout)


def _read_matrix(text: bytes) -> Any:
    """SciPy's COO array of a coordinate file, NumPy's array of an array file."""
    if text.startswith(b"PK\x03\x04"):
        raise ValueError("not a Matrix Market file but a zip archive; spformats.load reads what spformats.save wrote")
    header = read_header(text)
    body = text[header.body :]
    if b"%" in body:
        body = re.sub(rb"(?m)^[ \t]*%.*$", b"", body)
    fault = lines.find_fault(body, header)
    if fault:
        raise ValueError(lines.explain(body, header, fault))
    if header.layout == "array" and 0 in header.shape:
        return np.zeros(header.shape)
    try:
        return _parse(header, body)
    except (ValueError, OverflowError) as error:
        raise ValueError(lines.explain(body, header, error)) from error


def mmwrite(
    target: Any,
    A: Any,
    *,
    comment: str | None = None,
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = "AUTO",
) -> None:
    """Write a matrix to a Matrix Market file (coordinate layout).

    Parameters
    ----------
    target : path or binary file object
        Written exactly under this name; ``.gz``, ``.bz2`` and ``.xz`` compress.
    A : SparseArray or anything :func:`spformats.asarray` takes
    comment, field, precision, symmetry
        As in :func:`scipy.io.mmwrite`. Without ``precision`` the values read back bit for bit.

    Raises
    ------
    ValueError
        If ``field`` or ``symmetry`` is not one of the standard's words.

    References
    ----------
    R. F. Boisvert, R. Pozo, K. A. Remington, *The Matrix Market exchange formats*, NISTIR 5935 (1996).

    Examples
    --------
    >>> import io
    >>> import spformats as sf
    >>> file = io.BytesIO()
    >>> sf.mmwrite(file, sf.eye(2))
    >>> print(file.getvalue().decode().splitlines()[0])
    %%MatrixMarket matrix coordinate real symmetric
    """
    matrix = asarray(A).to_scipy_sparse().tocoo()
    options = {"comment": comment, "field": field, "precision": precision, "symmetry": symmetry}
    if hasattr(target, "write"):
        scipy.io.mmwrite(target, matrix, **options)
        return
    path = os.fspath(target)
    opener = OPENERS.get(os.path.splitext(path)[1], open)
    with opener(path, "wb") as file:
        # SciPy seeks where it can, and bzip2 and xz files only say while writing that they cannot
        scipy.io.mmwrite(types.SimpleNamespace(write=file.write), matrix, **options)


def _read_text(source: Any) -> bytes:
    """The whole file, decompressed, with ``\\n`` line ends and no byte order mark."""
    if hasattr(source, "read"):
        text, name = source.read(), getattr(source, "name", "the file")
    else:
        name = os.fspath(source)
        with open(name, "rb") as file:
            text = file.read()
    text = text.encode() if isinstance(text, str) else bytes(text)
    for magic, decompress in MAGIC:
        if text.startswith(magic):
            try:
                text = decompress(text)
            except (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError) as error:
                raise ValueError(f"{name}: the compressed file is damaged or cut short ({error})") from error
            break
    text = text.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text


def read_header(text: bytes) -> Header:
    """Read banner and size line; `body` is the position after the size line."""
    stream = io.BytesIO(text)
    banner = size = b""
    number = banner_number = 0
    for number, line in enumerate(stream, 1):
        if not banner:
            banner, banner_number = line.strip(), number
        elif line.strip() and not line.lstrip().startswith(b"%"):
            size = line
            break
    if not banner:
        raise ValueError("the file is empty: a Matrix Market file begins with '%%MatrixMarket matrix ...' on line 1")
    layout, field, symmetry = _banner_words(banner, banner_number)
    if not size:
        raise ValueError(f"the file ends after line {number} without a size line (banner: {lines.quote(banner)})")
    numbers = [int(w) for w in size.split() if re.fullmatch(rb"\d+", w)]
    want = 3 if layout == "coordinate" else 2
    if len(numbers) != want or len(size.split()) != want:
        names = "'rows columns entries'" if want == 3 else "'rows columns'"
        raise ValueError(f"line {number}: {lines.quote(size)}: the size line of a {layout} file must be {names}")
    rows, cols = numbers[:2]
    if symmetry != "general" and rows != cols:
        raise ValueError(f"line {number}: {lines.quote(size)}: a {symmetry} matrix must be square")
    if layout == "array":
        triangle = rows * (rows + 1) // 2
        stored = {"general": rows * cols, "skew-symmetric": triangle - rows}.get(symmetry, triangle)
    else:
        stored = numbers[2]
    return Header(layout, field, symmetry, (rows, cols), stored, (number, size), stream.tell())


def _banner_words(banner: bytes, number: int) -> tuple[str, str, str]:
    """Layout, field and symmetry, lower case; one percent sign or a space after it are tolerated."""
    match = re.fullmatch(rb"%{1,2}\s*matrixmarket\s+(.*)", banner, re.IGNORECASE)
    where = f"line {number}: {lines.quote(banner)}"
    if not match:
        raise ValueError(f"{where}: not a Matrix Market file, the first line must begin with '%%MatrixMarket'")
    words = match[1].split(b"%")[0].decode("ascii", "replace").lower().split()
    want = ("matrix", "coordinate|array", "|".join(FIELDS), "|".join(SYMMETRIES))
    if len(words) != 4:
        raise ValueError(f"{where}: the banner must have four words after %%MatrixMarket: {' '.join(want)}")
    for word, allowed in zip(words, want, strict=True):
        if word not in allowed.split("|"):
            raise ValueError(f"{where}: {word!r} should be one of {allowed}")
    if words[1:3] == ["array", "pattern"]:
        raise ValueError(f"{where}: an array file cannot have the field 'pattern'")
    return words[1], "real" if words[2] == "double" else words[2], words[3]


def _parse(header: Header, body: bytes) -> Any:
    """SciPy's parser on a canonical banner; expands symmetry (coordinate entries are checked while still as stored)."""
    body = lines.normalise(body)
    coordinate = header.layout == "coordinate"
    symmetry = "general" if coordinate else header.symmetry
    banner = f"%%MatrixMarket matrix {header.layout} {header.field} {symmetry}\n".encode()
    matrix = scipy.io.mmread(io.BytesIO(banner + header.size_line[1].strip() + b"\n" + body), spmatrix=False)
    if not coordinate:
        return np.asarray(matrix)
    (row, col), data = matrix.coords, matrix.data
    if header.symmetry != "general":
        _check_triangles(header, row, col, data)
        off = row != col
        mirror = data[off]
        if header.symmetry == "skew-symmetric":
            mirror = -mirror
        elif header.symmetry == "hermitian":
            mirror = mirror.conj()
        data = np.concatenate([data, mirror])
        row, col = np.concatenate([row, col[off]]), np.concatenate([col, row[off]])
    return sp.coo_array((data, (row, col)), shape=header.shape)


def _check_triangles(header: Header, row: Any, col: Any, data: Any) -> None:
    """A diagonal in a skew file, or a pair in both triangles, has no single meaning: the mirror would double it."""
    if header.symmetry == "skew-symmetric":
        wrong = np.flatnonzero((row == col) & (data != 0))
        if wrong.size:
            raise lines.EntryError(int(wrong[0]), "a skew-symmetric matrix has a zero diagonal")
    upper = row < col
    if not upper.any():
        return
    key = np.minimum(row, col).astype(np.int64) * header.shape[0] + np.maximum(row, col)
    both = np.flatnonzero(upper & np.isin(key, key[row > col]))
    if both.size:
        raise lines.EntryError(
            int(both[0]), f"this {header.symmetry} file gives the entry in both triangles, only one may be stored"
        )
