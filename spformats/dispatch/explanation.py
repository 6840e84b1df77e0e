"""`explain`: which kernel would run, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spformats.dispatch.registry import Kernel, candidates, kernels, namespace_of
from spformats.dispatch.settings import current_config


@dataclass(frozen=True)
class Explanation:
    """What `explain` found: ``kernel`` runs (None where SciPy does the work itself), for the reasons in ``lines``."""

    operation: str
    kernel: Kernel | None
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


#: What SciPy does with a matrix it factorises: it takes SciPy's own format by `tocsc`, which is the right way there.
FACTORISATIONS = ("splu", "spilu", "spsolve", "factorized", "inv", "expm", "spsolve_triangular")
#: What in SciPy reaches a matrix by products only.
MULTIPLIES = (
    "bicg", "bicgstab", "cg", "cgs", "eigs", "eigsh", "expm_multiply", "funm_multiply_krylov", "gcrotmk", "gmres",
    "lgmres", "lobpcg", "lsmr", "lsqr", "minres", "onenormest", "qmr", "svds", "tfqmr",
)  # fmt: skip


def explain(operation: str, A: Any, x: Any = None, trans: str = "N") -> Explanation:
    """Tell which kernel would run ``operation`` on A (and x), from which plugin, and why the others would not.

    Parameters
    ----------
    operation : str
        ``"spmv"``, ``"spmm"``, … or the name of a SciPy solver or factorisation (``"gmres"``, ``"splu"``).
    A : SparseArray
    x : array or SparseArray, optional
        The other operand, refused where the product would refuse it; without it, one like A's own data is assumed.
    trans : {"N", "T", "C"}

    Raises
    ------
    TypeError
        If A is not a SparseArray, or x no operand of the product.
    ValueError
        If x has the wrong shape, or ``trans`` is none of the three.

    Examples
    --------
    >>> import spformats as sf
    >>> print(sf.dispatch.explain("splu", sf.gallery.laplace1d(4)))
    splu on cds (4, 4) float64: no kernel of ours
      SciPy factorises: it asks A for SciPy's own CSC array (A.tocsc()), a copy, and works on that
    """
    from spformats.formats import SparseArray

    if not isinstance(A, SparseArray):
        raise TypeError(f"A must be a SparseArray, got {type(A).__name__}; spformats.asarray(A) makes one")
    if trans not in ("N", "T", "C"):
        raise ValueError(f"trans must be 'N', 'T' or 'C', got {trans!r}")
    head = f"{operation} on {A.format} {A.shape} {A.dtype}"
    if operation in FACTORISATIONS:
        return Explanation(
            operation,
            None,
            (
                f"{head}: no kernel of ours",
                "  SciPy factorises: it asks A for SciPy's own CSC array (A.tocsc()), a copy, and works on that",
            ),
        )
    if operation in MULTIPLIES:
        return Explanation(
            operation,
            None,
            (
                f"{head}: no kernel of its own",
                '  SciPy reaches A by products, A @ x: explain("spmv", A) says which kernel runs them',
            ),
        )
    if x is not None:
        x = _operand(operation, A, x, trans)
    if operation == "spgemm":
        from spformats.linalg.products import common_family

        by, made, x = common_family(A, A if x is None else x)
        if (by, made.format) != (operation, A.format):
            head += f", by {by!r} on {made.format}"
        operation, A = by, made
    namespace = A._namespace if x is None or isinstance(x, SparseArray) else namespace_of(type(x))
    dtype = A.dtype if x is None else x.dtype
    if A._source is not None:
        base, taken = A._source
        head += f" (a lazy {'adjoint' if taken == 'C' else 'transpose'} of {base.format} {base.shape})"
        A, trans = base, taken if trans == "N" else "N"
    forced = current_config().kernel
    known = candidates(operation, A.format, namespace)
    chosen, lines = None, []
    for k in known:
        why = k.refusal(A, dtype, trans)
        if why is None and forced is not None and k.name != forced:
            why = f"config(kernel={forced!r}) forces another"
        elif why is None and forced is None and k.priority < 0:
            why = "a variant that runs only when forced by name"
        elif why is None and chosen is not None:
            why = f"priority {k.priority} is below {chosen.priority}"
        if why is None:
            chosen = k
        plugin = k.function.__module__
        lines.append(
            f"  {'->' if why is None else '  '} {k.name} (priority {k.priority}, {plugin})"
            + (f": {why}" if why else "")
        )
    verdict = f"runs {chosen.name!r}" if chosen else "no kernel"
    if forced is not None and forced not in (names := sorted({k.name for k in kernels()})):
        lines.append(f"  no kernel is named {forced!r}; there are: {', '.join(names)}")
    operations = sorted({k.operation for k in kernels()})
    if operation not in operations:
        lines.append(f"  no kernels of that operation; there are: {', '.join(operations)}")
    return Explanation(operation, chosen, (f"{head}, trans={trans!r}, {namespace} {dtype}: {verdict}", *lines))


def _operand(operation: str, A: Any, x: Any, trans: str) -> Any:
    """The other operand as the product takes it, or the product's error."""
    import numpy as np
    from scipy.sparse import issparse

    from spformats.formats import SparseArray
    from spformats.interop.asarray import asarray
    from spformats.linalg.products import check_operand

    if issparse(x) and not isinstance(x, SparseArray):
        x = asarray(x)
    if operation in ("spgemm", "diagmm"):
        if not isinstance(x, SparseArray):
            raise TypeError(f"{operation} multiplies two sparse arrays, got x of type {type(x).__name__}")
        if A.shape[1] != x.shape[0]:
            raise ValueError(f"A @ x: shapes {A.shape} and {x.shape} do not match, {A.shape[1]} != {x.shape[0]}")
    elif operation in ("spmv", "spmm"):
        if isinstance(x, SparseArray):
            raise TypeError(f"{operation} multiplies by a dense x, got a sparse one; explain('spgemm', A, x)")
        x = check_operand(A, x, trans)
        takes, columns = ("a vector", 1) if operation == "spmv" else ("a matrix", 2)
        if x.ndim != columns and tuple(x.shape[1:]) != (1,):
            raise ValueError(f"{operation} multiplies by {takes}, got x of shape {tuple(x.shape)}")
    return x if hasattr(x, "dtype") else np.asarray(x)
