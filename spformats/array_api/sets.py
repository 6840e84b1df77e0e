"""Unique elements, the zeros that are not stored included."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spformats.array_api.densify import densified
from spformats.array_api.namespaces import Array, is_sparse, storage, structural


class UniqueCounts(NamedTuple):
    """Elements, and how often each occurs."""

    values: Any
    counts: Any


@structural
def _counted(x: Any) -> tuple[Any, Any]:
    xp = x._xp
    data = x.to_csr().data
    unstored = x.size - data.shape[0]
    values, counts = xp.unique(data, return_counts=True, equal_nan=False)
    if unstored:
        found = xp.flatnonzero(values == 0)
        if found.shape[0]:
            counts[found] += unstored
        else:
            at = int(xp.searchsorted(values, xp.zeros((), dtype=values.dtype)))
            values = xp.concatenate([values[:at], xp.zeros(1, dtype=values.dtype), values[at:]])
            counts = xp.concatenate([counts[:at], xp.asarray([unstored]), counts[at:]])
    return values, counts.astype(np.int64)


def unique_values(x: Array, /) -> Array:
    """The different elements, a dense vector; every NaN is different."""
    return _counted(x)[0] if is_sparse(x) else storage(x).unique_values(x)


def unique_counts(x: Array, /) -> Any:
    """The different elements and how often each occurs."""
    return UniqueCounts(*_counted(x)) if is_sparse(x) else storage(x).unique_counts(x)


def unique_inverse(x: Array, /) -> Any:
    """The different elements, and for every element which it is: dense, where `spformats.config` allows it."""
    return storage(x).unique_inverse(densified(x, "unique_inverse", "every element has a number"))


def unique_all(x: Array, /) -> Any:
    """`unique_counts` and `unique_inverse` together: dense, where `spformats.config` allows it."""
    return storage(x).unique_all(densified(x, "unique_all", "every element has a number"))


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Whether each element of x1 is one of x2's; sparse where a zero is not among those asked for."""
    xp = storage(x1, x2)
    if is_sparse(x2):
        x2 = unique_values(x2)
    if not is_sparse(x1):
        return xp.isin(x1, x2, invert=invert)
    from spformats.array_api.densify import permit
    from spformats.array_api.elementwise_unary import over_stored

    def test(values: Any) -> Any:
        return xp.isin(values, x2, invert=invert)

    if bool(test(xp.zeros((1,), dtype=x1.dtype))[0]):
        permit("isin of a sparse array", "0 is among the elements asked for", x1.shape, xp.bool)
        return test(x1.todense())
    return over_stored(x1, test)
