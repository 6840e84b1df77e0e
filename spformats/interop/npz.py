"""`save` and `load`: the parts of an array in NumPy's .npz, without pickle.

A file holds the entries ``spformats`` (version of this layout), ``format``, ``shape``, ``parameters`` (JSON) and one
entry per component array, so it can be read with NumPy alone. What is loaded passes through the format's public
constructor: a damaged file raises, it never builds a broken object.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from spformats.formats import format_class
from spformats.interop.asarray import asarray

if TYPE_CHECKING:
    from spformats import SparseArray

VERSION = 1
RESERVED = ("spformats", "format", "shape", "parameters")


def save(file: Any, A: Any, *, compressed: bool = False) -> None:
    """Save a sparse array as .npz, in its own format and without pickle.

    Parameters
    ----------
    file : path or binary file object
        ``.npz`` is appended to a path that lacks it, as NumPy does.
    A : SparseArray
        On any device; the file holds host arrays.
    compressed : bool
        Use :func:`numpy.savez_compressed`.

    See Also
    --------
    load, mmwrite

    Examples
    --------
    >>> import io
    >>> import spformats as sf
    >>> file = io.BytesIO()
    >>> sf.save(file, sf.eye(3))
    >>> file.seek(0)
    0
    >>> sf.load(file).format
    'cds'
    """
    A = asarray(A).to_device("cpu")
    parts: dict[str, Any] = {name: np.asarray(getattr(A, name)) for name in A.components}
    parameters = {name: getattr(A, name) for name in A.parameters}
    writer = np.savez_compressed if compressed else np.savez
    writer(
        file,
        spformats=np.int64(VERSION),
        format=np.str_(A.format),
        shape=np.array(A.shape, dtype=np.int64),
        parameters=np.str_(json.dumps(parameters)),
        **parts,
    )


def load(file: Any) -> SparseArray:
    """Load a sparse array that :func:`save` wrote.

    Parameters
    ----------
    file : path or binary file object
        A path without ``.npz`` is tried with it too.

    Returns
    -------
    SparseArray
        Same format, layout parameters, dtype and values as saved, on the CPU.

    Raises
    ------
    ValueError
        If the file is not one of :func:`save`'s, is damaged, or its arrays do not fit together.

    Examples
    --------
    >>> import tempfile, os
    >>> import spformats as sf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.save(os.path.join(folder, "a.npz"), sf.gallery.laplace1d(4))
    ...     sf.load(os.path.join(folder, "a")).shape
    (4, 4)
    """
    if not hasattr(file, "read"):
        file = os.fspath(file)
        if not os.path.exists(file) and os.path.exists(f"{file}.npz"):
            file = f"{file}.npz"
    name = getattr(file, "name", file)
    if not hasattr(file, "read") and not os.path.exists(file):
        raise FileNotFoundError(f"no such file: {file!r}")
    try:
        # opened here: of a path to a damaged file NumPy leaves the file open
        with contextlib.nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
            _refuse_other_files(stream, str(name))
            entries = _read_entries(stream)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise ValueError(f"{name}: not a readable .npz file ({error})") from error
    return _build(name, entries)


def _refuse_other_files(stream: Any, name: str) -> None:
    """Raise ValueError for what is no zip file: NumPy would take it for a pickle, and advise to load it as one."""
    start = stream.tell()
    head = stream.read(16)
    stream.seek(start)
    if isinstance(head, str):
        raise ValueError("it is open as text; open it in the mode 'rb'")
    if head.startswith(b"PK"):
        return
    if head.startswith(b"\x93NUMPY"):
        raise ValueError("it is a single .npy array")
    is_market = head.lstrip().lower().startswith(b"%%matrixmarket") or ".mtx" in os.path.basename(name).lower()
    raise ValueError(
        ("it is empty" if not head else f"it is no zip file, it begins with {head!r}")
        + ("; spformats.mmread reads Matrix Market files" if is_market else "")
    )


def _read_entries(file: Any) -> dict[str, np.ndarray]:
    content = np.load(file, allow_pickle=False)
    with content:
        if "spformats" not in content.files:
            found = ", ".join(content.files[:8]) or "none"
            hint = "; scipy.sparse.load_npz reads it" if {"format", "shape"} <= set(content.files) else ""
            raise ValueError(f"it was not written by spformats.save, its entries are: {found}{hint}")
        return {key: content[key] for key in content.files}


def _build(name: Any, entries: dict[str, np.ndarray]) -> SparseArray:
    version = entries["spformats"]
    if version.shape != () or version.dtype.kind != "i" or int(version) != VERSION:
        raise ValueError(f"{name}: file layout version {version!r}, this spformats reads version {VERSION}")
    missing = [key for key in RESERVED if key not in entries]
    if missing:
        raise ValueError(f"{name}: the entries {missing} are missing")
    try:
        cls = format_class(str(entries["format"]))
        parameters = json.loads(str(entries["parameters"]))
        if sorted(parameters) != sorted(cls.parameters):
            raise ValueError(f"parameters {sorted(parameters)}, but {cls.format} has {sorted(cls.parameters)}")
        parts = {key: value for key, value in entries.items() if key not in RESERVED}
        if sorted(parts) != sorted(cls.components):
            raise ValueError(f"arrays {sorted(parts)}, but {cls.format} has {sorted(cls.components)}")
        shape = entries["shape"]
        if shape.shape != (2,) or shape.dtype.kind != "i":
            raise ValueError(f"shape {shape!r} is not two integers")
        parameters = {k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items()}
        return _construct(cls, parts, tuple(int(s) for s in shape), parameters)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{name}: the file does not hold a valid array: {error}") from error


def _construct(
    cls: type[SparseArray], parts: dict[str, np.ndarray], shape: tuple[int, ...], parameters: dict[str, Any]
) -> SparseArray:
    """The public constructor, which validates; what it derives itself must come out as it was saved."""
    accepted = inspect.signature(cls).parameters
    saved = {**parts, **parameters}
    options = {name: value for name, value in saved.items() if name in accepted}
    if "pad" in accepted:
        # whether blocks may reach over the edge is said to the constructor, but not kept by the object
        options["pad"] = True
    made = cls(**options, shape=shape)
    for name, value in saved.items():
        if name not in accepted and not np.array_equal(getattr(made, name), value):
            raise ValueError(f"{name} is saved as {value!r}, but the other arrays say {getattr(made, name)!r}")
    return made
