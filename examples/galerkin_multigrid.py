"""Multigrid on a structured grid whose coarse operators are made by diagonal products alone.

    python examples/galerkin_multigrid.py --levels 8

-div(c grad u) = f with a coefficient c that jumps by a factor, on (2^levels - 1)² points. Bilinear interpolation is a
nine-point stencil S applied to the coarse values spread over the fine grid, so the Galerkin operator Pᵀ A P is every
second row and column of Sᵀ A S. That product of matrices of diagonals stays one of diagonals, and only the nine of its
diagonals that connect coarse points are computed (``matmul_plan(..., offsets=...)``).

The coarse operators are compared with SciPy's P.T @ A @ P, entry by entry and by time.
"""

import argparse
import sys
import time

import numpy as np
import scipy.sparse as sp

import spformats as sf
from spformats.linalg import matmul_plan

HALF = np.array([0.5, 1.0, 0.5])


def diffusion(c):
    """Five-point matrix of -div(c grad), c given at the m x m points; zero values outside."""
    m = c.shape[0]
    padded = np.pad(c, 1, mode="edge")
    inner = padded[1:-1, 1:-1]
    faces = {
        offset: 2 * inner * other / (inner + other)
        for offset, other in (
            (-m, padded[:-2, 1:-1]),
            (-1, padded[1:-1, :-2]),
            (1, padded[1:-1, 2:]),
            (m, padded[2:, 1:-1]),
        )
    }
    values = {offset: -face for offset, face in faces.items()}
    values[0] = sum(faces.values())
    for offset, edge in ((-m, np.s_[0, :]), (-1, np.s_[:, 0]), (1, np.s_[:, -1]), (m, np.s_[-1, :])):
        values[offset][edge] = 0
    offsets = np.array(sorted(values))
    return sf.CDS(np.stack([values[o].ravel() for o in offsets.tolist()]), offsets, shape=(m * m, m * m))


class Level:
    """One grid: its operator, its interpolation stencil, and the plans that make the next operator."""

    def __init__(self, A, m):
        self.A, self.m = A, m
        self.smoother = 0.8 / A.diagonal()
        self.S = sf.gallery.stencil(np.outer(HALF, HALF), (m, m))
        self.inner = matmul_plan(A, self.S)
        AS = self.inner(A, self.S)
        self.near = [(dy, dx) for dy in (-2, 0, 2) for dx in (-2, 0, 2)]
        self.outer = matmul_plan(self.S.T, AS, offsets=[dy * m + dx for dy, dx in self.near])

    def coarse_operator(self):
        """Every second row and column of S.T @ A @ S."""
        m, half = self.m, self.m // 2
        product = self.outer(self.S.T, self.inner(self.A, self.S))
        diagonals = {}
        for dy, dx in self.near:
            k = int(np.searchsorted(product.offsets, dy * m + dx))
            diagonals[dy // 2 * half + dx // 2] = product.data[k].reshape(m, m)[1::2, 1::2].ravel()
        offsets = np.array(sorted(diagonals))
        return sf.CDS(np.stack([diagonals[o] for o in offsets.tolist()]), offsets, shape=(half**2, half**2))

    def restrict(self, r):
        return (self.S.T @ r).reshape(self.m, self.m)[1::2, 1::2].ravel()

    def prolong(self, e):
        fine = np.zeros((self.m, self.m))
        fine[1::2, 1::2] = e.reshape(self.m // 2, -1)
        return self.S @ fine.ravel()


def scipy_interpolation(m):
    """Bilinear interpolation in CSR, for comparison."""
    half = m // 2
    line = sp.diags_array([np.full(m - 1, 0.5), np.ones(m), np.full(m - 1, 0.5)], offsets=[-1, 0, 1]).tocsc()[:, 1::2]
    assert line.shape == (m, half)
    return sp.kron(line, line).tocsr()


def cycle(levels, coarsest, b, depth=0):
    """One V-cycle for A x = b from x = 0, two damped Jacobi steps before and after."""
    if depth == len(levels):
        return np.linalg.solve(coarsest, b)
    level = levels[depth]
    x = level.smoother * b
    x += level.smoother * (b - level.A @ x)
    x += level.prolong(cycle(levels, coarsest, level.restrict(b - level.A @ x), depth + 1))
    for _ in range(2):
        x += level.smoother * (b - level.A @ x)
    return x


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--levels", type=int, default=8, help="the finest grid has 2^levels - 1 points a side (default 8)"
    )
    parser.add_argument("--jump", type=float, default=10.0, help="ratio of the coefficient's two values (default 10)")
    options = parser.parse_args()

    m = 2**options.levels - 1
    x = np.linspace(0, 1, m)
    c = np.where((x[:, None] - 0.5) ** 2 + (x - 0.4) ** 2 < 0.06, options.jump, 1.0)
    A = diffusion(c)

    levels, ours, theirs = [], 0.0, 0.0
    while m > 3:
        level = Level(A, m)
        level.coarse_operator()
        start = time.perf_counter()
        coarse = level.coarse_operator()
        ours += time.perf_counter() - start
        P, csr = scipy_interpolation(m), A.to_scipy_sparse().tocsr()
        start = time.perf_counter()
        galerkin = P.T @ csr @ P
        theirs += time.perf_counter() - start
        difference = abs(coarse.to_scipy_sparse().tocsr() - galerkin).max() / abs(galerkin).max()
        diagonals = f"{A.offsets.size} diagonals -> {coarse.offsets.size}"
        print(f"{m:5d}² points: {diagonals}, differs from P.T @ A @ P by {difference:.1e}")
        if difference > 1e-13:
            return 1
        levels.append(level)
        A, m = coarse, m // 2
    coarsest = A.todense()
    print(f"all coarse operators: {1e3 * ours:.1f} ms by diagonals, {1e3 * theirs:.1f} ms by SciPy's CSR products")

    A = levels[0].A
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    u, norms = np.zeros_like(b), [np.linalg.norm(b)]
    while norms[-1] > 1e-10 * norms[0] and len(norms) < 40:
        u += cycle(levels, coarsest, b - A @ u)
        norms.append(np.linalg.norm(b - A @ u))
    factor = (norms[-1] / norms[0]) ** (1 / (len(norms) - 1))
    print(f"{len(norms) - 1} V-cycles, residual {norms[-1] / norms[0]:.1e}, {factor:.3f} a cycle")
    return 0 if norms[-1] <= 1e-10 * norms[0] else 1


if __name__ == "__main__":
    sys.exit(main())
