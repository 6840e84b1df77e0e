"""The kernels by operation, format and array namespace, and which of them takes given operands.

Kernels come from plugins: modules named in the entry-point group ``spformats.plugins``, imported when the first
product needs one. `register` is all a plugin calls.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from spformats.dispatch.settings import current_config

GROUP = "spformats.plugins"


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
_generation = 0


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


def generation() -> int:
    """Number of registrations so far; what was looked up in the registry holds while it stays the same."""
    return _generation


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


def candidates(operation: str, format: str, namespace: str) -> list[Kernel]:
    """The kernels of an operation for this format and namespace, highest priority first."""
    load_plugins()
    entries = _kernels.get((operation, format), []) + _kernels.get((operation, "*"), [])
    return sorted((k for k in entries if k.namespace in (namespace, "*")), key=lambda k: -k.priority)


def select(operation: str, A: Any, namespace: str, *operands: Any) -> Kernel:
    """Return the kernel that takes these operands: the forced one, or the first of the highest priority."""
    forced = current_config().kernel
    known = candidates(operation, A.format, namespace)
    refused = []
    for k in known:
        if (k.name != forced) if forced is not None else (k.priority < 0):
            continue
        why = k.refusal(A, *operands)
        if why is None:
            return k
        refused.append(f"{k.name}: {why}")
    what = f"a kernel named {forced!r}" if forced is not None else "a kernel"
    names = ", ".join(dict.fromkeys(k.name for k in known)) or "none"
    raise LookupError(
        f"there is no {what.removeprefix('a ')} for {operation} on format {A.format!r} with {namespace} arrays"
        + (f" ({'; '.join(refused)})" if refused else f"; registered: {names}")
        + ("" if known else ". Is the plugin installed? See spformats.dispatch.kernels()")
    )
