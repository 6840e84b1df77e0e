"""Heat in a cube by backward Euler: a CDS matrix, SciPy's conjugate gradients, and an analytic mode as the check.

    python examples/heat3d_implicit.py --size 48 --steps 20

u_t = Δu on the unit cube, u = 0 on its faces, starting from a hot block in one corner. Each step solves
(I + dt L) u_new = u_old. However rough the start, the share of the lowest mode sin(πx) sin(πy) sin(πz) in u decays as
exp(-3π² t) in the exact solution, and as (1 + dt λ)^-k, λ the mode's eigenvalue, in the discrete one.
"""

import argparse
import sys
import time

import numpy as np
import scipy.sparse.linalg as sla

import spformats as sf


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=48, help="inner grid points along one side (default 48)")
    parser.add_argument("--steps", type=int, default=20, help="time steps (default 20)")
    parser.add_argument("--dt", type=float, default=1e-3, help="time step (default 0.001)")
    options = parser.parse_args()

    n, dt, h = options.size, options.dt, 1 / (options.size + 1)
    A = sf.eye(n**3) + (dt / h**2) * sf.gallery.poisson3d(n)
    print(f"A = I + dt L: {A!r}, {A.nbytes / 1e6:.1f} MB")

    x = np.arange(1, n + 1) * h
    sine = np.sin(np.pi * x)
    mode = np.einsum("i,j,k->ijk", sine, sine, sine).ravel()
    hot = (x < 0.5).astype(float)
    u = np.einsum("i,j,k->ijk", hot, hot, hot).ravel()
    share = start_share = mode @ u / (mode @ mode)
    eigenvalue = 3 * 4 / h**2 * np.sin(np.pi * h / 2) ** 2

    print(f"{'time':>8}{'mode':>12}{'discrete':>12}{'analytic':>12}{'iterations':>12}")
    worst, products, start = 0.0, 0, time.perf_counter()
    for step in range(1, options.steps + 1):
        iterations = []
        u, info = sla.cg(A, u, x0=u, rtol=1e-10, callback=iterations.append)
        if info:
            print(f"cg did not converge in step {step}", file=sys.stderr)
            return 1
        products += len(iterations)
        share = mode @ u / (mode @ mode)
        discrete = start_share * (1 + dt * eigenvalue) ** -step
        analytic = start_share * np.exp(-3 * np.pi**2 * step * dt)
        worst = max(worst, abs(share / discrete - 1))
        if step % max(options.steps // 5, 1) == 0:
            print(f"{step * dt:>8.4f}{share:>12.6f}{discrete:>12.6f}{analytic:>12.6f}{len(iterations):>12}")
    print(f"{products} iterations in {time.perf_counter() - start:.2f} s")

    # backward Euler loses (λ dt)² / 2 a step, the grid (π h)² / 12 of the decay rate; allow twice the sum of both
    time_ = options.steps * dt
    allowed = 2 * (options.steps * (dt * eigenvalue) ** 2 / 2 + 3 * np.pi**2 * time_ * (np.pi * h) ** 2 / 12)
    error = abs(share / analytic - 1)
    print(
        f"mode against the discrete formula {worst:.1e}, against the analytic one {error:.1e} (allowed {allowed:.1e})"
    )
    return 0 if worst < 1e-8 and error < allowed else 1


if __name__ == "__main__":
    sys.exit(main())
