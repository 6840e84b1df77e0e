"""Transposes and adjoints as views, whose own parts are made when somebody reads them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from spformats.formats.device import at_home

#: SciPy's methods whose functions have another name in the array API.
SCIPY_NAMES = {
    "power": "pow", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "rint": "round",
}  # fmt: skip


class LazyTranspose:
    """``A.T`` and ``A.H`` of `SparseArray`: ``_source`` is ``(A, "T" or "C")`` for such a view, else None."""

    __slots__ = ()

    def __getattr__(self: Any, name: str) -> Any:
        # Reached only where normal lookup failed: the parts of a lazy transpose are made when somebody reads them
        cls = type(self)
        source = self.__dict__.get("_source")
        if source is not None:
            if name in cls.parameters and name in (layout := source[0]._transposed_layout()):
                return layout[name]
            if name in cls.components or name in cls.parameters:
                made = source[0]._converted(lambda base: base._transposed(conjugate=source[1] == "C"))
                for part in (*cls.components, *cls.parameters):
                    self.__dict__[part] = getattr(made, part)
                self.__dict__["_source"] = None
                return self.__dict__[name]
        raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}{_instead(name)}", name=name, obj=self)

    def _lazy(self: Any, trans: str) -> Any:
        # not kept on self: it refers back, and such a cycle would hold the memory until the garbage collector runs
        lazy = object.__new__(type(self))
        lazy.__dict__.update(shape=self.shape[::-1], dtype=self.dtype, _source=(self, trans), _plans={})
        return lazy

    def _transposed(self: Any, conjugate: bool) -> Any:
        """The transpose (or adjoint) with parts of its own, in the same format and layout."""
        return type(self).from_csr(self.to_csr()._transposed(conjugate), **self._transposed_layout())

    def _layout(self: Any) -> dict[str, Any]:
        """The layout options that rebuild this layout through `from_csr`."""
        return self._own_layout() if self._source is None else self._source[0]._transposed_layout()

    def _own_layout(self: Any) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.layout_options}

    def _transposed_layout(self: Any) -> dict[str, Any]:
        return self._own_layout()

    def _transpose_of(self: Any, trans: str) -> Any:
        """``A.T`` (trans "T") or ``A.H`` ("C"); a view that shares everything until its parts are read."""
        if self._source is not None:
            base, taken = self._source
            if taken == trans or not self._is_complex:
                return base
            return base._conjugated()
        return self._lazy(trans if self._is_complex else "T")

    @property
    def _is_complex(self: Any) -> bool:
        return "complex" in str(self.dtype)

    @at_home
    def _conjugated(self: Any) -> Any:
        """The complex conjugate; the array itself where it is real."""
        if not self._is_complex:
            return self
        if self._source is not None:
            base, taken = self._source
            return base._lazy("C" if taken == "T" else "T")
        return self._plan("conjugate", lambda A: A._with_data(self._library.conj(A.data)))


def _instead(name: str) -> str:
    """Where a method of SciPy's arrays is a function here."""
    from spformats.array_api import NAMES

    function = SCIPY_NAMES.get(name, name)
    return f"; use spformats.{function}(A)" if function in NAMES else ""


def rebuild_view(base: Any, taken: str) -> Any:
    """The transpose or adjoint of a pickled array."""
    return base._transpose_of(taken)


def by_source(to_csr: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`to_csr` that takes a lazy transpose from its source: its own format may have no room for that pattern."""

    @functools.wraps(to_csr)
    def converted(self: Any) -> Any:
        if self._source is not None:
            base, taken = self._source
            return base._converted(lambda A: A.to_csr()._transposed(conjugate=taken == "C"))
        return self._converted(to_csr)

    return converted
