"""One linear system, one unmodified SciPy solver, every format: the table that two of the examples print."""

import time
import timeit
from typing import NamedTuple

import numpy as np
import scipy.sparse.linalg as sla

import spformats as sf

FORMATS = ("cds", "pjad", "bsr", "csr", "ell", "jad", "hm", "cdm")
HEAD = (
    f"{'format':<10}{'MB':>8}{'convert s':>11}{'iterations':>12}{'true residual':>15}{'solve s':>10}{'A @ x ms':>10}"
    f"{'SciPy/this':>12}"
)


class Result(NamedTuple):
    """What one solve came to; ``residual`` is ``|b - A x| / |b|`` by SciPy's own product, not the solver's word."""

    iterations: int
    converged: bool
    residual: float
    solve_seconds: float
    product_seconds: float


def solve_with_every_format(csr, b, solver="cg", *, rtol=1e-8, maxiter=5000, M=None):
    """Solve ``csr @ x = b`` with SciPy's CSR, then with every format, and print a line for each as it is done.

    The solver is called the same way each time, only its matrix differs. One product before the clock starts keeps
    the compilation of the kernels, which happens once per installation, out of the times. ``A @ x`` is the best of
    twenty, and its ratio to SciPy's the last column: the vector work around the product is the same for every format.

    Returns
    -------
    dict
        `Result` by format name, SciPy's under ``"SciPy CSR"``. Formats that cannot hold the matrix are left out.

    Raises
    ------
    ArithmeticError
        If a format's product differs from SciPy's, or a solver claims a solution that is not one.
    """
    print(f"{csr.shape[0]} equations, {csr.nnz} entries; scipy.sparse.linalg.{solver}, rtol={rtol:g}")
    print(HEAD)
    v = np.random.default_rng(0).standard_normal(csr.shape[1])
    product, size = csr @ v, abs(csr) @ abs(v)
    results = {}
    for name in ("SciPy CSR", *FORMATS):
        start = time.perf_counter()
        try:
            A = csr if name == "SciPy CSR" else sf.asarray(csr, format=name)
        except (sf.StorageError, ValueError) as error:  # a format that cannot hold this matrix says why
            print(f"{name:<10} does not fit: {error}")
            continue
        converted = time.perf_counter() - start
        _warm_up(A, M)
        if not np.allclose(A @ v, product, rtol=0, atol=1e-13 * max(size.max(initial=0), 1)):
            raise ArithmeticError(f"{name}: A @ v differs from SciPy's by {abs(A @ v - product).max():.1e}")
        result = results[name] = _solve(solver, A, csr, b, rtol, maxiter, M)
        _print_line(name, A, converted, result, results["SciPy CSR"].product_seconds)
        if result.converged and result.residual > 10 * max(rtol, results["SciPy CSR"].residual):
            raise ArithmeticError(
                f"{name}: the solver claims to be done, but the true residual is {result.residual:.1e}"
            )
    return results


def _warm_up(A, M):
    A @ np.ones(A.shape[1], dtype=A.dtype)
    if M is not None:
        M @ np.ones(M.shape[1], dtype=M.dtype)
    if A.shape[0] != A.shape[1]:
        A.T @ np.ones(A.shape[0], dtype=A.dtype)


def _solve(solver, A, csr, b, rtol, maxiter, M):
    iterations = 0

    def count(_):
        nonlocal iterations
        iterations += 1

    start = time.perf_counter()
    if solver == "lsmr":
        x, stopped, iterations = sla.lsmr(A, b, atol=rtol, btol=rtol, maxiter=maxiter)[:3]
        converged = stopped in (0, 1, 2)
    else:
        x, info = getattr(sla, solver)(A, b, rtol=rtol, maxiter=maxiter, M=M, callback=count)
        converged = info == 0
    seconds = time.perf_counter() - start
    norm = np.linalg.norm(b) or 1.0
    residual = float(np.linalg.norm(b - csr @ x) / norm)
    return Result(iterations, converged, residual, seconds, min(timeit.repeat(lambda: A @ x, number=1, repeat=20)))


def _print_line(name, A, converted, result, scipy_seconds):
    if name == "bsr":
        name = "bsr {}x{}".format(*A.blocksize)
    parts = [getattr(A, part) for part in ("data", "indices", "indptr")] if name == "SciPy CSR" else [A]
    megabytes = sum(part.nbytes for part in parts) / 1e6
    note = "" if result.converged else "   not converged"
    print(
        f"{name:<10}{megabytes:>8.2f}{converted:>11.4f}{result.iterations:>12}{result.residual:>15.2e}"
        f"{result.solve_seconds:>10.4f}{result.product_seconds * 1e3:>10.4f}"
        f"{scipy_seconds / result.product_seconds:>12.2f}{note}",
        flush=True,
    )
