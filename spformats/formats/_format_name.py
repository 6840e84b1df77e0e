"""The name of a format, and what SciPy is to think of it."""

from __future__ import annotations

from spformats.mixins.scipy_protocol import asked_by_scipy


class FormatName(str):
    """The name of a format; to SciPy's own code it is a format SciPy does not know.

    SciPy takes an array whose format is ``"csr"`` for one of its own and reaches into its insides; of an unknown
    format it asks `SciPyProtocol.tocsr`. So inside ``scipy.sparse`` the name equals none of SciPy's. Where SciPy
    wants its result "in A's format" it makes a method name of it, ``'to' + A.format``: that is the method of BSR or,
    for any other, of CSR.
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if type(other) is not str:
            return str.__eq__(self, other)
        if other == "dia" and asked_by_scipy("scipy.sparse.linalg._norm"):
            return True  # the one format `norm` turns into CSR; of others it takes abs() by a ufunc, from SciPy 1.18 on
        return str.__eq__(self, other) and not asked_by_scipy()

    def __ne__(self, other: object) -> bool:
        return not str.__eq__(self, other) or (type(other) is str and asked_by_scipy())

    def __radd__(self, prefix: str) -> str:
        return prefix + ("csr" if prefix == "to" and str.__ne__(self, "bsr") else str(self))
