"""Conjugate gradients and a heat step written against the array API standard alone, run on sparse formats.

The two solvers below never name a library: they take the namespace from their operands, so the same lines run on NumPy,
array_api_strict and CuPy, and on every format of spformats.

    python examples/array_api_cg.py [side] [array library]
"""

from __future__ import annotations

import importlib
import math
import sys
import time

import array_api_compat
import numpy as np

import spformats as sf


def conjugate_gradients(A, b, rtol=1e-8, maxiter=1000):
    """Solve A x = b for a symmetric positive definite A; returns x and the number of iterations."""
    xp = array_api_compat.array_namespace(b)
    x, r = xp.zeros_like(b), b
    p, rho = r, xp.vecdot(r, r)
    stop = rtol * rtol * float(rho)
    for iteration in range(maxiter):
        if float(rho) <= stop:
            return x, iteration
        q = A @ p
        alpha = rho / xp.vecdot(p, q)
        x, r = x + alpha * p, r - alpha * q
        rho, previous = xp.vecdot(r, r), rho
        p = r + (rho / previous) * p
    return x, maxiter


def jacobi_preconditioner(A):
    """The inverse of A's diagonal as a vector: functions of the namespace of A itself."""
    xp = array_api_compat.array_namespace(A)
    return 1 / xp.linalg.diagonal(A)


def backward_euler_matrix(L, dt):
    """I + dt·L for the heat equation u' = -L u; where L stores diagonals, so does the sum."""
    xp = array_api_compat.array_namespace(L)
    return xp.linalg.matrix_power(L, 0) + dt * L


def heat_step(L, u, dt):
    """One step of backward Euler for u' = -L u; returns the new u and the iterations it took."""
    return conjugate_gradients(backward_euler_matrix(L, dt), u, rtol=1e-12)


def main(side: int = 100, library: str = "numpy") -> float:
    """Solve a Poisson problem and take one heat step; returns the larger relative error."""
    xp = importlib.import_module(library)
    worst = 0.0
    for format in ("cds", "pjad", "csr"):
        A = sf.gallery.poisson2d(side).asformat(format)
        A = A.to_device("cuda") if library == "cupy" else A.to_namespace(xp)
        exact = xp.asarray(np.linspace(0, 1, side * side) + 1)
        begin = time.perf_counter()
        x, iterations = conjugate_gradients(A, A @ exact)
        seconds = time.perf_counter() - begin
        error = float(xp.max(xp.abs(x - exact)))
        # eigenvectors of the five-point stencil decay by 1 / (1 + dt·λ) in a step of backward Euler
        u, expected, dt = xp.zeros_like(exact), xp.zeros_like(exact), 0.1
        for k in (1, 3):
            line = np.sin(k * np.pi * np.arange(1, side + 1) / (side + 1))
            mode = xp.asarray(np.outer(line, line).reshape(-1))
            u, expected = u + mode, expected + mode / (1 + dt * 8 * math.sin(k * math.pi / (2 * (side + 1))) ** 2)
        u, steps = heat_step(A, u, dt)
        drift = float(xp.max(xp.abs(u - expected)))
        scaled = jacobi_preconditioner(A)
        print(
            f"{format:5s} CG {iterations:4d} iterations {seconds:6.2f} s, error {error:.1e}; "
            f"heat step {steps} iterations, "
            f"error {drift:.1e}; 1/diagonal {float(scaled[0]):.2f}"
        )
        worst = max(worst, error, drift)
    return worst


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(0 if main(int(arguments[0]) if arguments else 100, *arguments[1:2]) < 1e-4 else 1)
