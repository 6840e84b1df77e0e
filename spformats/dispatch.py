"""Which kernel runs a product: a registry of kernels by operation, format and array namespace.

Kernels come from plugins: modules named in the entry-point group ``spformats.plugins``, imported when the first
product needs one. `register` is all a plugin calls; `explain` tells which kernel would run, and why.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import threading
import warnings
from collections.abc import Callable, Iterable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

__all__ = [
    "Config",
    "Explanation",
    "Kernel",
    "call",
    "config",
    "current_config",
    "explain",
    "kernels",
    "register",
    "run",
]

GROUP = "spformats.plugins"


class Config(NamedTuple):
    """Settings in force in this context, set by `config`."""

    kernel: str | None = None
    threads: int | None = None
    densify: bool = False


_config: ContextVar[Config] = ContextVar("spformats_config", default=Config())  # noqa: B039 (a NamedTuple is immutable)


def current_config() -> Config:
    """Return the settings in force in this thread or task."""
    return _config.get()


class config:
    """Context manager that changes how products run inside its block, in this thread or task only.

    Parameters
    ----------
    kernel : str, optional
        Name of the kernel to force, e.g. ``"reference"``. A product that has no kernel of that name raises LookupError.
    threads : int, optional
        Number of CPU threads a product may use.
    densify : bool, optional
        Whether functions whose result is dense (``cos`` of a sparse array, say) may return a dense array.

    Examples
    --------
    >>> import numpy as np, spformats as sf
    >>> A = sf.gallery.laplace1d(4)
    >>> with sf.config(kernel="reference", threads=1):
    ...     y = A @ np.ones(4)
    >>> y.tolist()
    [1.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, **settings: Any):
        unknown = set(settings) - set(Config._fields)
        if unknown:
            raise TypeError(f"config() got unknown setting {sorted(unknown)[0]!r}; known: {', '.join(Config._fields)}")
        threads = settings.get("threads")
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1):
            raise ValueError(f"threads must be an int of at least 1, got {threads!r}")
        kernel = settings.get("kernel")
        if kernel is not None and not isinstance(kernel, str):
            raise TypeError(f"kernel must be the name of a kernel (a str), got {kernel!r}")
        self._settings = settings
        self._tokens: list[Token[Config]] = []

    def __enter__(self) -> Config:
        new = _config.get()._replace(**self._settings)
        self._tokens.append(_config.set(new))
        return new

    def __exit__(self, *exc: object) -> None:
        _config.reset(self._tokens.pop())


@dataclass(frozen=True)
class Kernel:
    """One registered kernel."""

    operation: str
    format: str
    namespace: str
    name: str
    priority: int
    function: Callable[..., Any] = field(repr=False)
    prepare: bool = False
    supports: Callable[..., bool | str] | None = field(default=None, repr=False)

    def refusal(self, *args: Any) -> str | None:
        """Why this kernel cannot take these operands, or None where it can."""
        if self.supports is None:
            return None
        answer = self.supports(*args)
        if isinstance(answer, str):
            return answer
        return None if answer else "its supports() said no"


_kernels: dict[tuple[str, str], list[Kernel]] = {}
_lock = threading.RLock()
_generation = 0  # changes with every registration, so that prepared products are looked up afresh


def register(
    operation: str,
    format: str | Iterable[str],
    namespace: str,
    *,
    name: str,
    priority: int = 0,
    prepare: bool = False,
    supports: Callable[..., bool | str] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a kernel.

    Parameters
    ----------
    operation : str
        ``"spmv"``, ``"spmm"``, ``"spgemm"`` or any name that a caller of `call` uses.
    format : str or iterable of str
        Format names (``"csr"``), or ``"*"`` for all.
    namespace : str
        Root module of the operand's array type: ``"numpy"``, ``"cupy"``, ``"torch"``, …, or ``"*"``.
    name : str
        What `config` forces the kernel by.
    priority : int
        The highest wins. Kernels below 0 run only when forced.
    prepare : bool
        If true the function is ``prepare(A, dtype, trans) -> run``, called once per matrix, and ``run(A, x, y, alpha,
        beta)`` is called for each product. Otherwise it is the kernel, ``kernel(A, x, y, alpha, beta, trans)``.
    supports : callable, optional
        ``supports(A, dtype, trans)`` returns True, or False or a reason (str) for "no".
    """
    formats = (format,) if isinstance(format, str) else tuple(format)

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        global _generation
        with _lock:
            for f in formats:
                entry = Kernel(operation, f, namespace, name, priority, function, prepare, supports)
                entries = [k for k in _kernels.get((operation, f), []) if (k.namespace, k.name) != (namespace, name)]
                _kernels[operation, f] = sorted([*entries, entry], key=lambda k: -k.priority)
            _generation += 1
        return function

    return add


def load_plugins() -> tuple[str, ...]:
    """Import every installed plugin once; one that fails is named in a warning and skipped."""
    loaded, failures = _import_plugins()
    while failures:  # taken out first: where warnings are errors, each is still raised once only
        warnings.warn(failures.pop(0), RuntimeWarning, stacklevel=2)
    return loaded


@functools.cache
def _import_plugins() -> tuple[tuple[str, ...], list[str]]:
    """Names of the plugins that could be imported, and messages about the others, not yet shown."""
    loaded, failures = [], []
    with _lock:
        for entry in importlib.metadata.entry_points(group=GROUP):
            try:
                entry.load()
            except Exception as error:
                failures.append(
                    f"spformats plugin {entry.name!r} ({entry.value}) could not be imported and is skipped: "
                    f"{type(error).__name__}: {error}"
                )
            else:
                loaded.append(entry.name)
    return tuple(loaded), failures


def _root_module(array_type: type) -> str:
    return array_type.__module__.partition(".")[0]


#: Root module of an array type, the key kernels register under: ``numpy.ndarray`` → ``"numpy"``.
namespace_of: Callable[[type], str] = functools.cache(_root_module)


def kernels(operation: str | None = None, format: str | None = None) -> list[Kernel]:
    """List the registered kernels, highest priority first.

    Examples
    --------
    >>> from spformats import dispatch
    >>> [k.name for k in dispatch.kernels("spmv", "cds") if (k.format, k.namespace) == ("cds", "*")]
    ['reference']
    """
    load_plugins()
    return [
        k
        for (op, f), entries in sorted(_kernels.items())
        if operation in (None, op) and (format in (None, f) or f == "*")
        for k in entries
    ]


def _candidates(operation: str, format: str, namespace: str) -> list[Kernel]:
    load_plugins()
    entries = _kernels.get((operation, format), []) + _kernels.get((operation, "*"), [])
    return sorted((k for k in entries if k.namespace in (namespace, "*")), key=lambda k: -k.priority)


def _select(operation: str, A: Any, namespace: str, *operands: Any) -> Kernel:
    """Return the kernel that takes these operands: the forced one, or the first of the highest priority."""
    forced = _config.get().kernel
    candidates = _candidates(operation, A.format, namespace)
    refused = []
    for k in candidates:
        if (k.name != forced) if forced is not None else (k.priority < 0):
            continue
        why = k.refusal(A, *operands)
        if why is None:
            return k
        refused.append(f"{k.name}: {why}")
    what = f"a kernel named {forced!r}" if forced is not None else "a kernel"
    names = ", ".join(dict.fromkeys(k.name for k in candidates)) or "none"
    raise LookupError(
        f"there is no {what.removeprefix('a ')} for {operation} on format {A.format!r} with {namespace} arrays"
        + (f" ({'; '.join(refused)})" if refused else f"; registered: {names}")
        + ("" if candidates else ". Is the plugin installed? See spformats.dispatch.kernels()")
    )


def run(operation: str, A: Any, x: Any, y: Any = None, alpha: Any = 1, beta: Any = 0, trans: str = "N") -> Any:
    """Run a product ``y ← alpha·op(A)·x + beta·y``; the operands have been checked by the caller."""
    source = A._source
    if source is not None:
        base, taken = source
        if trans == "N":
            A, trans = base, taken
        elif trans == taken or not A._is_complex:
            A, trans = base, "N"
        else:  # the adjoint of a transpose, or the transpose of an adjoint, is the conjugate
            A, trans = base._conjugated(), "N"
    settings = _config.get()
    key = (operation, type(x), x.dtype, trans, settings, _generation)
    plans = A._plans
    product = plans.get(key)
    if product is None:
        product = plans[key] = _prepared(operation, A, type(x), x.dtype, trans)
    return product(A, x, y, alpha, beta)


def _prepared(operation: str, A: Any, array_type: type, dtype: Any, trans: str) -> Callable[..., Any]:
    if _holds_integers(A.dtype) and not _holds_integers(dtype):
        # kernels know floating-point values only; the converted array serves every later product
        from spformats.linalg.integer_products import as_floating

        floating = as_floating(A, dtype)
        product = _prepared(operation, floating, array_type, dtype, trans)
        return lambda A, x, y, alpha, beta: product(floating, x, y, alpha, beta)
    kernel = _select(operation, A, namespace_of(array_type), dtype, trans)
    function = kernel.function
    if kernel.prepare:
        return function(A, dtype, trans)
    return lambda A, x, y, alpha, beta: function(A, x, y, alpha, beta, trans)


def _holds_integers(dtype: Any) -> bool:
    name = str(dtype)
    return "int" in name or "bool" in name


def call(operation: str, A: Any, *operands: Any) -> Any:
    """Run the kernel of any other operation: ``kernel(A, *operands)``, chosen by A's format and array namespace."""
    return _select(operation, A, A._namespace, *operands).function(A, *operands)


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
    forced = _config.get().kernel
    candidates = _candidates(operation, A.format, namespace)
    chosen, lines = None, []
    for k in candidates:
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
    if not candidates and operation not in {op for op, _ in _kernels}:
        lines.append(f"  no kernels of that operation; there are: {', '.join(sorted({op for op, _ in _kernels}))}")
    return Explanation(operation, chosen, (f"{head}, trans={trans!r}, {namespace} {dtype}: {verdict}", *lines))
