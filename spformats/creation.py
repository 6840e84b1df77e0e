"""New arrays from diagonals, the identity, random matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from spformats import _diagonal_layouts
from spformats.formats._arrays import check_shape, value_dtype
from spformats.interop.asarray import asarray

if TYPE_CHECKING:
    from spformats import SparseArray


def from_diagonals(
    diagonals: Any,
    offsets: Any = 0,
    shape: tuple[int, int] | None = None,
    format: str = "cds",
    dtype: Any = None,
    **layout: Any,
) -> SparseArray:
    """Build a matrix from its diagonals, by the rules of :func:`scipy.sparse.diags_array`.

    Parameters
    ----------
    diagonals : sequence of array_like or scalars
        ``diagonals[k][j]`` is entry j, from the top, of the diagonal ``offsets[k]``. A scalar or an array of length 1
        fills the diagonal; entries beyond its end are ignored.
    offsets : int or sequence of int
        Distinct; positive above the main diagonal. With a single int, ``diagonals`` may be the one diagonal itself.
    shape : (int, int), optional
        Without it the matrix is square and just large enough for the first diagonal.
    format : str
        ``"cds"``, ``"hm"`` and ``"cdm"`` are written directly; others are converted.
    dtype : dtype, optional
        Without it what the diagonals promote to; integers become float64.
    **layout
        Layout options of the format, for instance ``symmetric=True``.

    Returns
    -------
    SparseArray

    Raises
    ------
    ValueError
        If counts differ, an offset occurs twice or misses the matrix, or a diagonal is too short.

    Examples
    --------
    >>> import spformats as sf
    >>> sf.from_diagonals([1, -2, 1], [-1, 0, 1], shape=(3, 4)).todense()
    array([[-2.,  1.,  0.,  0.],
           [ 1., -2.,  1.,  0.],
           [ 0.,  1., -2.,  1.]])
    """
    if np.ndim(offsets) == 0:
        offsets = [offsets]
        diagonals = list(diagonals) if np.ndim(diagonals) else [diagonals]
        if len(diagonals) == 0 or np.ndim(diagonals[0]) == 0:
            diagonals = [diagonals]
    given = [_as_diagonal(k, diagonal) for k, diagonal in enumerate(diagonals)]
    positions = np.asarray(offsets)
    if positions.ndim != 1 or (positions.size and positions.dtype.kind not in "iu"):
        raise ValueError(f"offsets must be integers in one dimension, got {offsets!r}")
    positions = positions.astype(np.int64)
    if positions.size != len(given):
        raise ValueError(f"{len(given)} diagonals but {positions.size} offsets: give one offset for each diagonal")
    order = np.argsort(positions, kind="stable")
    positions = positions[order]
    twice = np.flatnonzero(positions[1:] == positions[:-1])
    if twice.size:
        raise ValueError(f"offset {positions[twice[0]]} is given twice; add the two diagonals first")
    if shape is None:
        if not given:
            raise ValueError("with no diagonals the shape must be given")
        n = given[0].size + abs(int(np.asarray(offsets).ravel()[0]))
        shape = (n, n)
    shape = check_shape(shape)
    if dtype is None:
        dtype = np.result_type(*given) if given else np.float64
    kept = _check_lengths(given, order, positions, shape)
    parts = [given[order[k]] for k in kept]
    lengths = [_diagonal_layouts.diagonal_length(shape, int(positions[k])) for k in kept]
    return _made(
        positions[kept],
        lambda k: parts[k][: lengths[k]] if parts[k].size > 1 else parts[k],
        shape,
        dtype,
        format,
        layout,
    )


def _as_diagonal(k: int, diagonal: Any) -> np.ndarray:
    array = np.atleast_1d(np.asarray(diagonal))
    if array.ndim != 1:
        raise ValueError(f"diagonal {k} must be a scalar or 1-D, got shape {array.shape}")
    return array


def _check_lengths(
    given: list[np.ndarray], order: np.ndarray, positions: np.ndarray, shape: tuple[int, int]
) -> list[int]:
    """The diagonals that have entries in the matrix; an error for one that misses it or is too short."""
    kept = []
    for k, offset in enumerate(positions.tolist()):
        length = _diagonal_layouts.diagonal_length(shape, offset)
        if length < 0:
            raise ValueError(f"offset {offset} (diagonal {order[k]}) lies outside a matrix of shape {shape}")
        size = given[order[k]].size
        if size != 1 and size < length:
            raise ValueError(
                f"diagonal {order[k]} at offset {offset} has {size} entries, "
                f"but needs {length} in shape {shape} (or one for all)"
            )
        if length:
            kept.append(k)
    return kept


def _made(
    offsets: np.ndarray, values: Any, shape: tuple[int, int], dtype: Any, format: str, layout: dict[str, Any]
) -> SparseArray:
    """The diagonals in the asked format: directly where it is diagonal, else through CDS."""
    native = format if format in _diagonal_layouts.NATIVE else "cds"
    built = _diagonal_layouts.build(offsets, values, shape, value_dtype(dtype), native)
    return built.asformat(format, **layout)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
    format: str = "cds",
    **layout: Any,
) -> SparseArray:
    """Ones on one diagonal, zeros elsewhere (the array API's ``eye``, with a format).

    Parameters
    ----------
    n_rows, n_cols : int
        Shape; square when ``n_cols`` is not given.
    k : int
        The diagonal, positive above the main one; outside the matrix it leaves nothing.
    dtype : dtype, optional
        float64 when not given; integer and bool data types are kept; one of another array library gives its arrays.
    device : optional
        As in ``A.to_device``; the CPU when not given.
    format : str
        With its layout options.

    Returns
    -------
    SparseArray, shape (n_rows, n_cols)

    Examples
    --------
    >>> import spformats as sf
    >>> sf.eye(2, 3, k=1).todense()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    shape = check_shape((n_rows, n_rows if n_cols is None else n_cols))
    inside = _diagonal_layouts.diagonal_length(shape, int(k)) > 0
    offsets = np.array([k] if inside else [], dtype=np.int64)
    from spformats.array_api.data_types import on_numpy

    dtype, library = on_numpy(dtype)
    wanted = np.dtype(np.float64 if dtype is None else dtype)
    made = _made(offsets, lambda _: 1, shape, wanted, format, layout)
    made = made.astype(wanted) if wanted.kind in "biu" else made
    if library is not None:
        return made.to_namespace(library)
    return made if device is None else made.to_device(device)


def random(
    m: int,
    n: int,
    density: float = 0.01,
    *,
    format: str = "csr",
    rng: np.random.Generator | int | Sequence[int] | None = None,
    dtype: Any = np.float64,
    **layout: Any,
) -> SparseArray:
    """Random matrix with entries uniform in [0, 1) at places drawn without repetition.

    Parameters
    ----------
    m, n : int
        Rows and columns.
    density : float
        Share of stored entries, from 0 to 1.
    format : str
        With its layout options.
    rng : numpy.random.Generator or seed, optional
        The same seed gives the same matrix in every format.
    dtype : dtype
        Complex types get imaginary parts too.

    Returns
    -------
    SparseArray, shape (m, n)

    Raises
    ------
    ValueError
        If ``density`` is outside [0, 1].

    Examples
    --------
    >>> import spformats as sf
    >>> sf.random(100, 50, 0.02, rng=1).nnz
    100
    """
    if not 0 <= density <= 1:
        raise ValueError(f"density must be between 0 and 1, got {density}")
    generator = np.random.default_rng(rng)
    values = value_dtype(dtype)

    def sample(*, size: Any) -> np.ndarray:
        real = generator.random(size)
        return (real + 1j * generator.random(size) if values.kind == "c" else real).astype(values)

    pattern = sp.random_array(check_shape((m, n)), density=density, dtype=values, rng=generator, data_sampler=sample)
    return asarray(pattern, format=format, **layout)
