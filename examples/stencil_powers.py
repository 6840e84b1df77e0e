"""Fourth-order time steps of the wave equation from the square of a stencil.

    python examples/stencil_powers.py --size 512

u'' = -A u on a grid of ``size`` x ``size`` points, A the five-point Laplacian. Leapfrog, u+ = 2u - u- - dt² A u, is of
second order in dt. Adding the next term of the series, dt⁴/12 A² u, makes it of fourth order and its steps √3 times
longer. The matrix of the whole step, S = 2 - dt² A + dt⁴/12 A², has 13 diagonals: it is made once by a product and two
sums that stay diagonal, and each step is then one product instead of two.

The initial state is an eigenvector of A, for which the exact motion on this grid is known.
"""

import argparse
import sys
import time

import numpy as np

import spformats as sf
from spformats.linalg import diagonal_elementwise, matmul_plan


def best_of(run, times=5):
    result = run()
    best = np.inf
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return result, 1e3 * best


def step_matrix(A, identity, plan, dt):
    """2 - dt² A + dt⁴/12 A², as a diagonal matrix."""
    S = plan(A, A, alpha=dt**4 / 12)
    diagonal_elementwise.add(S, A, 1, -(dt**2), out=S)
    return diagonal_elementwise.add(S, identity, 1, 2.0, out=S)


def leap(S, u, dt, steps, exact_start):
    """``steps`` steps of u+ = S u - u-, from the exact state one step before."""
    before, now = exact_start, u
    for _ in range(steps):
        before, now = now, S @ now - before
    return now


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=256, help="grid points along one side (default 256)")
    parser.add_argument("--steps", type=int, default=40, help="time steps (default 40)")
    options = parser.parse_args()

    n = options.size
    A = sf.gallery.poisson2d(n, format="cds")
    identity = sf.eye(n * n, format="cds")
    plan = matmul_plan(A, A)
    csr = A.to_scipy_sparse().tocsr()
    dt = 0.5  # the largest stable step is about 0.7 for leapfrog, 1.2 with the fourth-order term

    S, ours = best_of(lambda: step_matrix(A, identity, plan, dt))
    _, scipys = best_of(lambda: csr @ csr)
    print(f"A has {A.offsets.size} diagonals, the step's matrix {S.offsets.size}: {S.offsets.tolist()}")
    print(f"the whole step's matrix {ours:.1f} ms; SciPy takes {scipys:.1f} ms for its CSR product A @ A alone")

    # mode (k, k): A v = w² v
    k = max(n // 3, 1)
    angle = np.pi * k / (n + 1)
    w = 2 * np.sqrt(2) * np.sin(angle / 2)
    mode = np.sin(np.arange(1, n + 1) * angle)
    v = np.outer(mode, mode).ravel()

    errors = {}
    for name, matrix in (
        ("second", lambda h: diagonal_elementwise.add(identity, A, 2.0, -(h**2))),
        ("fourth", lambda h: step_matrix(A, identity, plan, h)),
    ):
        errors[name] = []
        for h, steps in ((dt, options.steps), (dt / 2, 2 * options.steps)):
            u = leap(matrix(h), v, h, steps, v * np.cos(w * h))
            errors[name].append(np.abs(u - v * np.cos(w * h * steps)).max())
        coarse, fine = errors[name]
        order = np.log2(coarse / fine)
        print(
            f"{name} order: error {coarse:.1e} with dt = {dt}, {fine:.1e} with half of it: observed order {order:.2f}"
        )
        errors[name].append(order)
    good = errors["fourth"][2] > 3.5 and errors["fourth"][1] < errors["second"][1] / 10
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
