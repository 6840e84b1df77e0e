"""Read a Matrix Market file and solve with SciPy's own solver, on the matrix in every format.

    python examples/solve_matrix_market.py tests/data/pyamg_bar.mtx.gz

The right-hand side is A times a vector of ones. Hermitian matrices with a positive diagonal go to `cg`, other square
ones to `bicgstab`, both preconditioned with the diagonal where it has no zero; rectangular ones go to `lsmr`. A format
that cannot hold the matrix sensibly says so in its line.
"""

import argparse
import sys

import numpy as np
from solver_table import solve_with_every_format

import spformats as sf


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="a .mtx file, also gzip, bzip2 or xz")
    parser.add_argument("--rtol", type=float, default=1e-8, help="relative residual to stop at (default 1e-8)")
    parser.add_argument("--maxiter", type=int, default=5000, help="iterations to give up after (default 5000)")
    options = parser.parse_args()

    A = sf.mmread(options.file)
    print(f"{options.file}: {A!r}")
    csr = A.to_scipy_sparse()
    solver, M = choose_solver(A, csr)
    results = solve_with_every_format(
        csr, csr @ np.ones(csr.shape[1]), solver, rtol=options.rtol, maxiter=options.maxiter, M=M
    )
    print("recommended:", sf.advisor.recommend(A))
    if not results["SciPy CSR"].converged:
        print(f"{solver} does not converge on this matrix, in SciPy's CSR either; every product agrees with SciPy's")
    return 0


def choose_solver(A, csr):
    """Name of the solver that suits the matrix, and the inverse of its diagonal as preconditioner, or None."""
    if A.shape[0] != A.shape[1]:
        return "lsmr", None
    diagonal = A.diagonal()
    M = sf.from_diagonals([1 / diagonal], [0]) if (diagonal != 0).all() else None
    hermitian = abs(csr - csr.conj().T).max() <= 1e-12 * abs(csr).max()
    return "cg" if hermitian and (diagonal.real > 0).all() else "bicgstab", M


if __name__ == "__main__":
    sys.exit(main())
