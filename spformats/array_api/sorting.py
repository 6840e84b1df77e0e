"""``sort`` keeps a sparse array sparse; the places of all elements, ``argsort``, are dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats.array_api.densify import permit
from spformats.array_api.joining import axis_of
from spformats.array_api.namespaces import Array, is_sparse, storage, structural
from spformats.array_api.statistical import by_rows
from spformats.formats import CSR, _arrays
from spformats.formats.device import at_home


@at_home
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Each row (or column) sorted: the stored entries move to both ends and the zeros between them stay unstored.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int
    descending : bool
    stable : bool
        It is stable in any case.

    Returns
    -------
    array
        Sparse, CSR.

    Examples
    --------
    >>> import spformats as sf
    >>> A = sf.gallery.laplace1d(3)
    >>> sf.sort(A).todense()
    array([[-1.,  0.,  2.],
           [-1., -1.,  2.],
           [-1.,  0.,  2.]])
    """
    if not is_sparse(x):
        return storage(x).sort(x, axis=axis, descending=descending, stable=stable)
    number = axis_of(axis)
    return _sorted(x, number, descending)


@structural
def _sorted(x: Any, axis: int, descending: bool) -> Any:
    csr = by_rows(x, (axis,))
    xp, m = csr._library, csr.shape[1]
    rows = _arrays.rows_of(csr.indptr)
    data = csr.data
    rank = xp.argsort(data, kind="stable")  # NaN comes last
    order = rank[xp.argsort(rows[rank], kind="stable")]
    data = data[order]
    place = _arrays.position_in_row(csr.indptr, rows)
    missing = m - (csr.indptr[1:] - csr.indptr[:-1])
    # what is not stored is 0: it belongs between the negative entries and the others
    columns = place + xp.where(data < 0, 0, missing[rows])
    if descending:
        columns = m - 1 - columns
        back = csr.indptr[:-1][rows] + csr.indptr[1:][rows] - 1 - xp.arange(rows.shape[0])
        data, columns = data[back], columns[back]
    made = CSR._made(data, columns, csr.indptr, csr.shape)
    return made if axis == 1 else made._transposed(False)


@at_home
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Places of the elements in sorted order: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)
    axis : int
    descending : bool
    stable : bool

    Returns
    -------
    array
        Dense, of the library that holds x's values.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.argsort(sf.eye(2))
    array([[1, 0],
           [0, 1]])
    """
    xp = storage(x)
    if is_sparse(x):
        permit("argsort", "every element has a place", x.shape, np.int64)
        x = x.todense()
    return xp.argsort(x, axis=axis, descending=descending, stable=stable)
