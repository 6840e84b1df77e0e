"""The name of a format, and what SciPy is to think of it."""

from __future__ import annotations

from spformats.mixins.scipy_protocol import asked_by_scipy

#: What two of SciPy's modules take every format for: the ones they turn into CSR before they look inside.
TAKEN_FOR = {
    "scipy.sparse.linalg._norm": "dia",  # of others it takes abs() by a ufunc, from SciPy 1.18 on
    "scipy.sparse.csgraph._validation": "csr",  # others it refuses to make dense
}


class FormatName(str):
    """The name of a format; to SciPy's own code it is a format SciPy does not know.

    SciPy takes an array whose format is ``"csr"`` for one of its own and reaches into its insides; of an unknown
    format it asks `SciPyProtocol.tocsr`. So inside ``scipy.sparse`` the name equals none of SciPy's, `TAKEN_FOR` apart.
    Where SciPy wants its result "in A's format" it makes a method name of it, ``'to' + A.format``: that is the method
    of BSR or, for any other, of CSR.
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if type(other) is str and (module := asked_by_scipy()):
            return other == TAKEN_FOR.get(module)
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        if type(other) is str and (module := asked_by_scipy()):
            return other != TAKEN_FOR.get(module)
        return str.__ne__(self, other)

    def __radd__(self, prefix: str) -> str:
        return prefix + ("csr" if prefix == "to" and str.__ne__(self, "bsr") else str(self))
