"""`SparseArray`, the base of every format: what it stores, how it is built, converted, copied and transposed."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from spformats.dispatch import namespace_of
from spformats.formats import _arrays
from spformats.formats._format_name import FormatName
from spformats.formats.device import at_home, home_of
from spformats.mixins.access import Access
from spformats.mixins.array_object import ArrayObject
from spformats.mixins.comparison import Comparison
from spformats.mixins.display import Display
from spformats.mixins.lazy_transpose import LazyTranspose, by_source, rebuild_view
from spformats.mixins.operators import Operators
from spformats.mixins.scipy_protocol import SciPyProtocol, asked_by_scipy

if TYPE_CHECKING:
    from spformats.formats.csr import CSR

#: Every format by its name; filled by `SparseArray.__init_subclass__`, so a new format is one file.
FORMATS: dict[str, type[SparseArray]] = {}

#: Libraries whose arrays can be scattered into; the array API standard has no word for that.
_SCATTERING = ("numpy", "cupy")


class SparseArray(LazyTranspose, Operators, Comparison, Access, ArrayObject, Display, SciPyProtocol):
    """A two-dimensional sparse array in one storage format; immutable.

    Subclasses name their arrays in ``components`` (``data`` first), their other attributes in ``parameters``, and give
    `from_csr`, `to_csr` and `nnz`. Everything else follows.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype of the stored values
    format : str
    nnz : int
        Number of stored entries, explicit zeros included, padding not; of a bool array the number of True values.
    """

    format: ClassVar[str]
    components: ClassVar[tuple[str, ...]]
    parameters: ClassVar[tuple[str, ...]] = ()
    #: Components that are small NumPy arrays on the host whatever the device (offsets of diagonals).
    host_components: ClassVar[tuple[str, ...]] = ()
    #: Layout options `asformat` may pass to `from_csr`, and their defaults.
    layout_options: ClassVar[tuple[str, ...]] = ()

    shape: tuple[int, int]
    dtype: Any
    data: Any
    _source: tuple[SparseArray, str] | None
    _plans: dict[Any, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "to_csr" in cls.__dict__:
            cls.to_csr = by_source(cls.to_csr)  # type: ignore[assignment, method-assign]
        name = cls.__dict__.get("format")
        if name is not None:
            cls.format = FormatName(name)
            FORMATS[name] = cls

    # ------------------------------------------------------------------ building
    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if len(args) == 1 and not kwargs:
            _check_one_argument(cls, args[0])
        return object.__new__(cls)

    @classmethod
    def _build(cls, parts: dict[str, Any], shape: tuple[int, int], **parameters: Any) -> Self:
        """Make an object from arrays known to be right; nothing is checked or copied."""
        self = object.__new__(cls)
        attributes = self.__dict__
        for name, array in parts.items():
            attributes[name] = _arrays.read_only(array)
        attributes.update(parameters, shape=shape, dtype=parts["data"].dtype, _source=None, _plans={})
        return self

    @classmethod
    def from_csr(cls, csr: CSR, *args: Any, **layout: Any) -> Self:  # *args: type checkers then let formats name theirs
        """Convert from CSR; ``layout`` holds the format's own options, ``force`` lifts the memory guard."""
        raise NotImplementedError(f"{cls.__name__} must define from_csr")

    def to_csr(self) -> CSR:
        """Convert to CSR. Explicit zeros stay, zeros that only fill up a diagonal or block go."""
        raise NotImplementedError(f"{type(self).__name__} must define to_csr")

    @classmethod
    def from_format(cls, other: SparseArray, *, force: bool = False, **layout: Any) -> Self:
        """Convert from any format; formats with a direct way from their relatives override this."""
        return cls.from_csr(other.to_csr(), force=force, **layout)

    @property
    def nnz(self) -> int:
        """Number of stored entries, explicit zeros included, padding not; of a bool array the number of True values.

        So ``(A != B).nnz == 0`` says, as in SciPy, that A and B are equal, though a comparison keeps the places that
        it compared.
        """
        if "bool" not in str(self.dtype):
            return self._stored
        from spformats.array_api.searching import count_nonzero

        return int(count_nonzero(self._holder))

    @property
    def _stored(self) -> int:
        """Number of stored entries, zeros and False included, padding not."""
        if self._source is not None:
            return self._source[0]._stored
        return self._count() if self._namespace in _SCATTERING else self.to_namespace(np)._count()

    def _count(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define _count")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{type(self).__name__} arrays are immutable: cannot set {name!r}; build a new one instead"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} arrays are immutable: cannot delete {name!r}")

    # ------------------------------------------------------------------ parts
    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.components}

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.parameters}

    def _map(self, change: Callable[[Any], Any]) -> Self:
        """The same layout with every component array changed, but for those that stay on the host."""
        host = type(self).host_components
        parts = {name: array if name in host else change(array) for name, array in self._parts().items()}
        return type(self)._build(parts, self.shape, **self._parameters())

    def _with_data(self, data: Any) -> Self:
        """The same layout with other values; the index arrays are shared."""
        if self._source is not None:
            return type(self)._build({**self._parts(), "data": data}, self.shape, **self._parameters())
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, data=_arrays.read_only(data), dtype=data.dtype, _plans={})
        return made

    def _plan(self, key: Any, factory: Callable[[Self], Any]) -> Any:
        """Something derived from this array, made once and kept with it (and dropped by pickle and copy)."""
        plans = self._plans
        if key not in plans:
            plans[key] = factory(self)
        return plans[key]

    @property
    def _library(self) -> Any:
        """The module of the values' array library. SciPy's LinearOperator has a ``_xp`` of its own."""
        return _arrays.xp_of(self._holder.data)

    @property
    def _holder(self) -> SparseArray:
        """The object that really has arrays: the array a lazy transpose belongs to, or this one."""
        return self if self._source is None else self._source[0]

    @property
    def _namespace(self) -> str:
        return namespace_of(type(self._holder.data))

    @property
    def nbytes(self) -> int:
        """Bytes of all stored arrays; a view that shares them counts them too."""
        return sum(array.nbytes for array in self._holder._parts().values())

    # ------------------------------------------------------------------ conversion
    def asformat(self, format: str | None, copy: bool = False, *, force: bool = False, **layout: Any) -> Any:
        """Convert to another format, or to the same one in another layout.

        Parameters
        ----------
        format : str
            ``"csr"``, ``"ell"``, ``"jad"``, ``"pjad"``, ``"bsr"``, ``"cds"``, ``"hm"``, ``"cdm"`` or a plugin's. A name
            only SciPy knows (``"csc"``, ``"coo"``, ``"dia"``, ``"dok"``, ``"lil"``) gives that SciPy array, a copy;
            ``"auto"`` is the format, with its layout, that the advisor recommends.
        copy : bool
            Never share arrays with this one.
        force : bool
            Convert even where the format's padding would take absurd memory.
        **layout
            The format's own options: ``blocksize=``, ``bsize=``, ``sigma=``, ``symmetric=``, …

        Raises
        ------
        StorageError
            If the result would need far more memory than CSR; the message gives the bytes and names a format that fits.

        Examples
        --------
        >>> import spformats as sf
        >>> sf.gallery.poisson2d(4).asformat("bsr", blocksize=(2, 2)).blocksize
        (2, 2)
        """
        if format is None:
            return self.copy() if copy else self
        name = str(format)
        if name == "auto":
            from spformats.advisor import recommend

            best = recommend(self)
            return self.asformat(best.format, copy, force=force, **{**best.layout, **layout})
        if (name in self._scipy_only and name not in FORMATS) or (name in ("csr", "bsr") and asked_by_scipy()):
            return getattr(self, "to" + name)()
        cls = format_class(name)
        unknown = set(layout) - set(cls.layout_options)
        if unknown:
            raise TypeError(
                f"format {name!r} has no layout option {sorted(unknown)[0]!r}; "
                f"it has: {', '.join(cls.layout_options) or 'none'}"
            )
        if cls is type(self) and not layout:
            return self.copy() if copy else self
        return self._converted(lambda A: cls.from_format(A, force=force, **layout))

    def _converted(self, conversion: Callable[[Any], Any]) -> Any:
        """``conversion(self)``, made on NumPy where the values lie in a library that has no way to scatter."""
        if self._namespace in _SCATTERING:
            with home_of(self._holder.data):
                return conversion(self)
        return conversion(self.to_namespace(np)).to_namespace(self._library)

    @at_home
    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Self:
        """The same array with values of another dtype (complex to real keeps the real part, as in NumPy).

        float16 becomes float32, another byte order the native one; types beyond double precision raise TypeError.
        """
        if self._namespace in ("numpy", "cupy"):
            dtype = _arrays.storable_dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        if self._source is not None:
            base, taken = self._source
            return base.astype(dtype, casting)._transpose_of(taken)  # type: ignore[return-value]
        if self._namespace == "numpy":
            if not np.can_cast(self.dtype, dtype, casting=casting):  # type: ignore[arg-type]
                raise TypeError(f"cannot cast from {self.dtype} to {np.dtype(dtype)} by the rule {casting!r}")
            data = self.data
            if self._is_complex and np.dtype(dtype).kind not in "cb":
                data = data.real
            return self._with_data(data.astype(dtype))
        import array_api_compat

        return self._with_data(array_api_compat.array_namespace(self.data).astype(self.data, dtype))

    @at_home
    def copy(self) -> Self:
        """A copy that shares no memory with this one."""
        if self._source is not None:
            base, taken = self._source
            return base.copy()._transpose_of(taken)  # type: ignore[return-value]
        parts = {name: _copy_array(array) for name, array in self._parts().items()}
        return type(self)._build(parts, self.shape, **self._parameters())

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._source is not None:
            base, taken = self._source
            return rebuild_view, (base, taken)
        return _rebuild, (type(self), self._parts(), self.shape, self._parameters())

    @at_home
    def conj(self) -> Self:
        """The complex conjugate; the array itself where its values are real."""
        return self._conjugated()

    conjugate = conj


def _check_one_argument(cls: type[SparseArray], matrix: Any) -> None:
    """Raise TypeError where a class that takes the arrays of its format is called as a conversion."""
    try:
        inspect.signature(cls.__init__).bind(None, matrix)
    except TypeError:
        raise TypeError(
            f"{cls.__name__} is made from its arrays ({', '.join(cls.components)}) and shape=; to convert a matrix use "
            f"spformats.asarray(A, format={str(cls.format)!r})"
        ) from None


def _copy_array(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return array.copy(order="K")
    copy = getattr(array, "copy", None) or getattr(array, "clone", None)
    return copy() if copy is not None else _arrays.xp_of(array).asarray(array, copy=True)


def _rebuild(
    cls: type[SparseArray], parts: dict[str, Any], shape: tuple[int, int], parameters: dict[str, Any]
) -> SparseArray:
    return cls._build(parts, shape, **parameters)


def format_class(name: str) -> type[SparseArray]:
    """The class of a format by its name; plugins' formats are found too."""
    if name not in FORMATS:
        from spformats.dispatch import load_plugins

        load_plugins()
    try:
        return FORMATS[name]
    except KeyError:
        raise ValueError(f"unknown format {name!r}{_meant(name)}; known: {', '.join(sorted(FORMATS))}") from None


def _meant(name: str) -> str:
    """What somebody who wrote this name may have meant: another spelling, or SciPy's name for a relative."""
    relative = {"dia": "cds", "csc": "csr", "coo": "csr"}.get(name.lower())
    if relative is not None:
        return f" (SciPy's; {relative!r} is the nearest here, A.to{name.lower()}() gives SciPy's own)"
    near = difflib.get_close_matches(name.lower(), FORMATS, 1)
    return f" (did you mean {near[0]!r}?)" if near else ""
