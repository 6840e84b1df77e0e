"""Refuse conversions whose padding would take absurd memory, before anything is allocated."""

from __future__ import annotations

#: A conversion is refused above both this many bytes and this many times the bytes of CSR.
BYTES, TIMES = 64 * 2**20, 16


class StorageError(ValueError):
    """A format would need far more memory for this matrix than CSR does."""


def readable(nbytes: float) -> str:
    """``1536`` → ``"1.5 KiB"``."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if nbytes < 1024 or unit == "TiB":
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    raise AssertionError


def fits(nbytes: int, csr_bytes: int) -> bool:
    """Whether this many bytes are none too many for a matrix of which CSR takes ``csr_bytes``."""
    return nbytes <= BYTES or nbytes <= TIMES * csr_bytes


def check_storage(format: str, nbytes: int, csr_bytes: int, why: str, better: str, force: bool) -> None:
    """Raise `StorageError` if ``nbytes`` is absurd beside CSR's, unless ``force``."""
    if force or fits(nbytes, csr_bytes):
        return
    raise StorageError(
        f"{format.upper()} would need {nbytes} bytes ({readable(nbytes)}) for this matrix: {why}. CSR needs "
        f"{csr_bytes} bytes "
        f"({readable(csr_bytes)}); {better} fits. Pass force=True to convert all the same."
    )
