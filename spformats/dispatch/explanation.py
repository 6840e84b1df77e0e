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


def explain(operation: str, A: Any, x: Any = None, trans: str = "N") -> Explanation:
    """Tell which kernel would run ``operation`` on A (and x), from which plugin, and why the others would not.

    Parameters
    ----------
    operation : str
        ``"spmv"``, ``"spmm"``, … or the name of a SciPy factorisation (``"splu"``).
    A : SparseArray
    x : array or SparseArray, optional
        The other operand; without it, one like A's own data is assumed.
    trans : {"N", "T", "C"}

    Raises
    ------
    TypeError
        If A is not a SparseArray.

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
    head = f"{operation} on {A.format} {A.shape} {A.dtype}"
    if operation in FACTORISATIONS:
        return Explanation(operation, None, (
            f"{head}: no kernel of ours",
            "  SciPy factorises: it asks A for SciPy's own CSC array (A.tocsc()), a copy, and works on that",
        ))
    if operation == "spgemm":
        from spformats.linalg.products import common_family

        by, made, x = common_family(A, x if isinstance(x, SparseArray) else A)
        if (by, made.format) != (operation, A.format):
            head += f", by {by!r} on {made.format}"
        operation, A = by, made
    elif x is not None and not hasattr(x, "dtype"):
        import numpy as np

        x = np.asarray(x)
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
    operations = sorted({k.operation for k in kernels()})
    if operation not in operations:
        lines.append(f"  no kernels of that operation; there are: {', '.join(operations)}")
    return Explanation(operation, chosen, (f"{head}, trans={trans!r}, {namespace} {dtype}: {verdict}", *lines))
