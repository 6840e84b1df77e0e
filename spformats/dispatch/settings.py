"""The settings a product runs under, and the context manager that changes them."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from numbers import Integral
from typing import Any, NamedTuple


class Config(NamedTuple):
    """Settings in force in this context, set by `config`."""

    kernel: str | None = None
    threads: int | None = None
    densify: bool = False


_config: ContextVar[Config] = ContextVar("spformats_config", default=Config())  # noqa: B039 (a NamedTuple is immutable)


#: Return the settings in force in this thread or task.
current_config: Callable[[], Config] = _config.get


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
