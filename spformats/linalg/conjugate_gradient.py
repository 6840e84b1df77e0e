"""Conjugate gradients that only report success when the true residual says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import array_api_compat

from spformats.formats import SparseArray
from spformats.formats.device import at_home
from spformats.linalg.products import check_operand


@at_home
def cg(
    A: SparseArray,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], None] | None = None,
) -> tuple[Any, int]:
    """Solve ``A x = b`` for a Hermitian positive definite A by the conjugate gradient method.

    The recursive residual of the method drifts from ``b - A x``, in single precision most of all. Where it says the
    tolerance is met, the true residual is computed; if that disagrees the iteration restarts from there, and if
    restarts no longer help the result is reported as not converged.

    Parameters
    ----------
    A : SparseArray
    b : array, shape (n,) or (n, 1)
    x0 : array, optional
        Start vector, by default zero.
    rtol, atol : float
        Converged when ``norm(b - A x) <= max(rtol * norm(b), atol)``.
    maxiter : int, optional
        By default ``10 n``.
    M : SparseArray or LinearOperator, optional
        Preconditioner: an approximation of the inverse of A.
    callback : callable, optional
        Called once after every iteration with the iterate.

    Returns
    -------
    x : array
        Of b's shape and of the dtype of ``A @ b``.
    info : int
        0: converged, judged by the true residual. k > 0: not converged in k iterations. -1: A (or M) is not positive
        definite, the iteration broke down.

    Raises
    ------
    TypeError
        If A is not a SparseArray.
    ValueError
        If A is not square or shapes do not match.

    References
    ----------
    M. R. Hestenes, E. Stiefel, *Methods of Conjugate Gradients for Solving Linear Systems*, 1952; the stopping rule
    follows H. A. van der Vorst, Q. Ye, *Residual Replacement Strategies for Krylov Subspace Iterative Methods*, SISC
    22, 2000.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.gallery.poisson2d(16)
    >>> x, info = sf.linalg.cg(A, np.ones(256), rtol=1e-8)
    >>> info, bool(np.linalg.norm(np.ones(256) - A @ x) < 1e-6)
    (0, True)
    """
    if not isinstance(A, SparseArray):
        raise TypeError(f"A must be a SparseArray, got {type(A).__name__}; spformats.asarray(A) makes one")
    n = A.shape[0]
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"cg needs a square matrix, got shape {A.shape}")
    b = check_operand(A, b, "N")
    if b.ndim == 2 and b.shape[1] != 1:
        raise ValueError(f"cg solves for one right side, b must have shape ({n},) or ({n}, 1), got {tuple(b.shape)}")
    shape, xp = tuple(b.shape), array_api_compat.array_namespace(b)
    dtype = xp.result_type(A.dtype, b.dtype)
    b = xp.astype(xp.reshape(b, (n,)), dtype, copy=False)
    if x0 is None:
        x, r = xp.zeros_like(b), xp.asarray(b, copy=True)  # strided sums would be rounded in another order
    else:
        x0 = check_operand(A, x0, "N")
        if math.prod(x0.shape) != n:
            raise ValueError(f"x0 must have {n} entries, got shape {tuple(x0.shape)}")
        x = xp.astype(xp.reshape(x0, (n,)), dtype, copy=True)
        r = b - A @ x
    size = float(xp.max(xp.abs(b))) if n else 0.0
    if not math.isfinite(size):  # no x has a residual within a multiple of that
        return xp.reshape(x, shape), 1
    lowest, highest = _squarable(xp, dtype)
    if size > highest or 0 < size < lowest:  # solve for b of size 1: norms of this one would be 0 or inf
        said = None if callback is None else lambda iterate: callback(iterate * size)
        start = None if x0 is None else x / size
        x, info = cg(A, b / size, start, rtol=rtol, atol=atol / size, maxiter=maxiter, M=M, callback=said)
        return xp.reshape(x * size, shape), info
    target = max(rtol * _norm(xp, b), atol)
    if target == 0 and size == 0:  # the solution is known, and no iteration reaches a residual of exactly 0
        return xp.zeros(shape, dtype=dtype), 0
    maxiter = 10 * n if maxiter is None else maxiter
    iterations, best = 0, float("inf")
    while True:
        norm = _norm(xp, r)
        if norm <= target:
            return xp.reshape(x, shape), 0
        if iterations >= maxiter or not norm < 0.5 * best:  # at the limit, or a restart gained less than half
            return xp.reshape(x, shape), max(iterations, 1)
        best = norm
        x, r, done, broken = _iterate(xp, A, M, x, r, target, maxiter - iterations, callback)
        iterations += done
        if broken:
            return xp.reshape(x, shape), -1
        r = b - A @ x


def _iterate(
    xp: Any, A: Any, M: Any, x: Any, r: Any, target: float, maxiter: int, callback: Any
) -> tuple[Any, Any, int, bool]:
    """Iterate until the recursive residual meets the target; the caller judges by the true one."""
    p, rho = None, None
    for iteration in range(maxiter):
        z = r if M is None else M @ r
        rho, before = xp.vecdot(r, z), rho
        p = z if p is None else z + (rho / before) * p
        q = A @ p
        curvature = xp.vecdot(p, q)
        if not complex(curvature).real > 0:
            return x, r, iteration, True
        step = rho / curvature
        x = x + step * p
        r = r - step * q
        if callback is not None:
            callback(x)
        if _norm(xp, r) <= target:
            return x, r, iteration + 1, False
    return x, r, maxiter, False


def _squarable(xp: Any, dtype: Any) -> tuple[float, float]:
    """Sizes between which squares and their sums keep their digits."""
    limits = xp.finfo(dtype)
    return float(limits.smallest_normal) ** 0.5 / float(limits.eps), float(limits.max) ** 0.5 * float(limits.eps)


def _norm(xp: Any, v: Any) -> float:
    return float(xp.linalg.vector_norm(v))
