"""Solve a 2-D Poisson problem with SciPy's own conjugate gradients, on the matrix in every format.

    python examples/poisson2d_cg.py --size 256

-Δu = f on the unit square, u = 0 on its edge, five-point differences on a grid of ``size`` × ``size`` inner points.
f belongs to u = x(1-x) y(1-y), for which the five-point formula is exact: the solver's answer must be u itself.
"""

import argparse
import sys

import numpy as np
import scipy.sparse.linalg as sla
from solver_table import solve_with_every_format

import spformats as sf


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=256, help="inner grid points along one side (default 256)")
    parser.add_argument("--rtol", type=float, default=1e-8, help="relative residual to stop at (default 1e-8)")
    options = parser.parse_args()

    n, h = options.size, 1 / (options.size + 1)
    x = np.arange(1, n + 1) * h
    bump = x * (1 - x)
    u = np.outer(bump, bump).ravel()
    b = h**2 * 2 * (bump[:, None] + bump[None, :]).ravel()

    csr = sf.gallery.poisson2d(n, format="csr").to_scipy_sparse()
    print(f"2-D Poisson problem on a {n} x {n} grid")
    results = solve_with_every_format(csr, b, "cg", rtol=options.rtol, maxiter=20 * n)
    if not all(result.converged for result in results.values()):
        print("a solver did not converge", file=sys.stderr)
        return 1

    A = sf.asarray(csr, format="auto")
    solution, _ = sla.cg(A, b, rtol=options.rtol)
    error = np.abs(solution - u).max() / u.max()
    print(f'format="auto" chose {A.format}; largest error against the exact solution {error:.1e}')
    return 0 if error <= 1e3 * options.rtol else 1


if __name__ == "__main__":
    sys.exit(main())
