"""Every format in every layout, also as a lazy transpose: what tests run over."""

import numpy as np
import scipy.sparse as sp

import spformats as sf

#: Layout name -> format and its options.
LAYOUTS = {
    "csr": ("csr", {}),
    "ell": ("ell", {}),
    "jad": ("jad", {}),
    "pjad": ("pjad", {}),
    "pjad-papers": ("pjad", {"bsize": 2}),
    "pjad-window": ("pjad", {"bsize": 2, "sigma": 6}),
    "bsr": ("bsr", {"blocksize": (2, 2)}),
    "bsr-padded": ("bsr", {"blocksize": (3, 2), "pad": True}),
    "cds": ("cds", {}),
    "hm": ("hm", {}),
    "cdm": ("cdm", {}),
}
SQUARE_ONLY = ("hm", "cdm")
TRANSPOSED = tuple(f"{name}.T" for name in LAYOUTS)


def build(matrix, layout, **options):
    """The SciPy matrix in a layout; ``"ell.T"`` is the lazy transpose of the transposed matrix in ELL."""
    name, _, transposed = layout.partition(".")
    format, own = LAYOUTS[name]
    source = sp.coo_array(matrix.T if transposed else matrix)
    A = sf.asarray(source, format=format, **own, **options)
    return A.T if transposed else A


def holds(layout, shape):
    """Whether the layout can hold a matrix of this shape at all (`bsr` here has 2 × 2 blocks without padding)."""
    name = layout.partition(".")[0]
    if name in SQUARE_ONLY:
        return shape[0] == shape[1]
    return name != "bsr" or not (shape[0] % 2 or shape[1] % 2)


def example(n=16, m=None, dtype=np.float64, density=0.25, seed=0):
    """A CSR array with an empty row (where there is room), a full row and a value on every kind of diagonal."""
    m = n if m is None else m
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, m)) * (rng.random((n, m)) < density)
    if n > 3:
        M[n // 2], M[n // 3] = 0, rng.standard_normal(m)
    if np.dtype(dtype).kind == "c":
        M = M + 1j * rng.standard_normal((n, m)) * (M != 0)
    return sp.csr_array(M.astype(dtype))


def positive_definite(n=16, dtype=np.float64):
    """The five-point stencil on a 4 × (n/4) grid, Hermitian with complex off-diagonals where the dtype is complex."""
    side = np.ones(n - 1)
    side[3::4] = 0
    right = -side * (1j if np.dtype(dtype).kind == "c" else 1)
    diagonals = [4.2 * np.ones(n), right, right.conj(), -np.ones(n - 4), -np.ones(n - 4)]
    return sp.csr_array(sp.diags_array(diagonals, offsets=[0, 1, -1, 4, -4], shape=(n, n)).astype(dtype))


def general(n=16, dtype=np.float64):
    """A well-conditioned matrix without symmetry on the pattern of `positive_definite`."""
    S = positive_definite(n, dtype)
    rng = np.random.default_rng(7)
    noise = rng.standard_normal(S.nnz)
    S.data = (S.data + 0.2 * noise * (1 if np.dtype(dtype).kind == "f" else 1 + 0.5j)).astype(dtype)
    return S
