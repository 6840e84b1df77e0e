"""Factorisations of a matrix and what takes one: dense by nature, they run where `spformats.config` allows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spformats.array_api.densify import densified
from spformats.array_api.elementwise_unary import named
from spformats.array_api.namespaces import Array, storage
from spformats.formats.device import at_home


@at_home
def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Rank by singular values: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)
    rtol : float, optional

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
    ...     sf.linalg.matrix_rank(sf.eye(3))
    np.int64(3)
    """
    return storage(x).linalg.matrix_rank(densified(x, "matrix_rank", "it needs all singular values"), rtol=rtol)


@at_home
def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Pseudo-inverse: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)
    rtol : float, optional

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
    ...     sf.linalg.pinv(sf.eye(3)).shape
    (3, 3)
    """
    return storage(x).linalg.pinv(densified(x, "pinv", "a pseudo-inverse is full"), rtol=rtol)


@at_home
def qr(x: Array, /, *, mode: str = "reduced") -> Any:
    """QR factors: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, m)
    mode : {"reduced", "complete"}

    Returns
    -------
    named tuple
        ``Q, R``.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.linalg.qr(sf.eye(3)).R.shape
    (3, 3)
    """
    return storage(x).linalg.qr(densified(x, "qr", "the factors are full"), mode=mode)


@at_home
def svd(x: Array, /, *, full_matrices: bool = True) -> Any:
    """Singular value decomposition: dense, where `spformats.config` allows it; see `scipy.sparse.linalg.svds`.

    Parameters
    ----------
    x : array, shape (n, m)
    full_matrices : bool

    Returns
    -------
    named tuple
        ``U, S, Vh``.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     sf.linalg.svd(sf.eye(3)).S
    array([1., 1., 1.])
    """
    return storage(x).linalg.svd(densified(x, "svd", "the factors are full"), full_matrices=full_matrices)


@at_home
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Cholesky factor: dense, where `spformats.config` allows it.

    Parameters
    ----------
    x : array, shape (n, n)
    upper : bool

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
    ...     sf.linalg.cholesky(sf.eye(3)).shape
    (3, 3)
    """
    return storage(x).linalg.cholesky(densified(x, "cholesky", "the factor fills up"), upper=upper)


_ABOUT = """

    Parameters
    ----------
    x : array, shape (n, n) (of `svdvals` (n, m))

    Returns
    -------
    array or named tuple of arrays
        As the standard has it; dense, of the library that holds x's values.

    Raises
    ------
    DensifyError
        Outside ``with spformats.config(densify=True)``; the message gives the bytes.

    References
    ----------
    https://data-apis.org/array-api/latest/extensions/generated/array_api.linalg.NAME.html

    Examples
    --------
    >>> import spformats as sf
    >>> with sf.config(densify=True):
    ...     result = sf.linalg.NAME(sf.eye(3))
    """


def _dense_only(name: str, why: str, doc: str) -> Callable[..., Any]:
    @at_home
    def function(x: Array, /) -> Any:
        linalg = storage(x).linalg
        # the standard of 2025.12 has names that a storage library may not have yet
        f = getattr(linalg, name, None)
        if f is None:
            raise NotImplementedError(f"{linalg.__name__} has no {name}")
        return f(densified(x, name, why))

    return named(function, name, f"{doc}: dense, where `spformats.config` allows it.{_ABOUT}")


det = _dense_only("det", "it is worked out by a dense factorisation", "Determinant")
slogdet = _dense_only("slogdet", "it is worked out by a dense factorisation", "Sign and logarithm of the determinant")
inv = _dense_only("inv", "an inverse is full", "Inverse")
eig = _dense_only("eig", "eigenvectors are full", "Eigenvalues and eigenvectors")
eigh = _dense_only("eigh", "eigenvectors are full", "Eigenvalues and eigenvectors of a symmetric matrix")
eigvals = _dense_only("eigvals", "it is worked out by a dense factorisation", "Eigenvalues")
eigvalsh = _dense_only("eigvalsh", "it is worked out by a dense factorisation", "Eigenvalues of a symmetric matrix")
svdvals = _dense_only("svdvals", "it is worked out by a dense factorisation", "Singular values")
