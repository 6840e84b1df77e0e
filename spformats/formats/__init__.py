"""Storage formats, one a file: layout, invariants, conversions. No kernels here."""

from spformats.formats._guard import StorageError
from spformats.formats.base import FORMATS, SparseArray, format_class
from spformats.formats.bsr import BSR
from spformats.formats.cdm import CDM
from spformats.formats.cds import CDS
from spformats.formats.csr import CSR
from spformats.formats.diagonal import DiagonalArray
from spformats.formats.ell import ELL
from spformats.formats.hm import HM
from spformats.formats.jad import JAD
from spformats.formats.pjad import PJAD

__all__ = [
    "BSR",
    "CDM",
    "CDS",
    "CSR",
    "ELL",
    "FORMATS",
    "HM",
    "JAD",
    "PJAD",
    "DiagonalArray",
    "SparseArray",
    "StorageError",
    "format_class",
]
