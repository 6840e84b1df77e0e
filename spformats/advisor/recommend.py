"""Which format suits a matrix: the one whose product moves the fewest bytes, in a memory limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spformats.advisor.bytes import estimate_bytes
from spformats.advisor.features import Features, features, host_csr
from spformats.formats._guard import readable

#: Format, and its layout options as pairs.
Candidate = tuple[str, tuple[tuple[str, Any], ...]]

MARGIN = 0.95
"""A format earlier in PREFERENCE keeps its place unless another needs less than this share of its bytes."""
PREFERENCE = ("cds", "bsr", "csr", "pjad", "cdm", "hm")
"""Regular access first: at equal bytes no index to read, then one index a block, then one an entry."""
HANDICAP = {"hm": 1.2, "cdm": 1.1}
"""Their diagonals begin anywhere in memory, so vector loads are unaligned: they must save more than CDS's padding."""
MAX_GROWTH = 1.25
"""No format that takes more than this times CSR's memory is ever recommended."""


@dataclass(frozen=True)
class Recommendation:
    """A format and layout for a matrix, and why.

    Attributes
    ----------
    format : str
    layout : dict
        Options to pass to :func:`spformats.asarray` beside ``format``.
    bytes : int
        Storage in that format.
    traffic : int
        Bytes one ``A @ x`` moves at least: the storage, x and y.
    csr_bytes : int
    reasons : tuple of str
    candidates : dict
        Storage of every candidate looked at, by a readable name.
    features : Features
    """

    format: str
    layout: dict[str, Any]
    bytes: int
    traffic: int
    csr_bytes: int
    reasons: tuple[str, ...]
    candidates: dict[str, int] = field(repr=False)
    features: Features = field(repr=False)

    def __str__(self) -> str:
        options = "".join(f", {name}={value}" for name, value in self.layout.items())
        lines = [f'format="{self.format}"{options}: {readable(self.bytes)}, CSR {readable(self.csr_bytes)}']
        lines += [f"  {reason}" for reason in self.reasons]
        lines += [f"  candidate {name:<22} {readable(size)}" for name, size in self.candidates.items()]
        return "\n".join(lines)


def recommend(A: Any) -> Recommendation:
    """Recommend a format by the bytes a product has to move.

    Sparse products run at the speed of memory, so the format with the fewest bytes is the fastest its kernel can be.
    Candidates are CSR, PJAD, CDS (and HM, CDM for square matrices) and BSR with the block sizes that fill best.

    Parameters
    ----------
    A : SparseArray, SciPy sparse or 2-D array, shape (n, m)

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> import spformats as sf
    >>> advice = sf.advisor.recommend(sf.gallery.poisson2d(100, format="csr"))
    >>> advice.format
    'cds'
    >>> advice.bytes < advice.csr_bytes
    True
    """
    csr = host_csr(A)
    found = features(csr)
    options: list[Candidate] = [("csr", ())]
    if found.nnz:
        options += [("pjad", ()), ("cds", ())]
        if csr.shape[0] == csr.shape[1]:
            options += [("hm", ()), ("cdm", ())]
        options += [("bsr", (("blocksize", block),)) for block in _promising_blocks(found, csr.data.itemsize)]
    sizes = {(name, layout): estimate_bytes(csr, name, **dict(layout)) for name, layout in options}
    csr_bytes = sizes["csr", ()]
    if found.nnz and found.symmetry == "symmetric" and sizes["cds", ()] <= MAX_GROWTH * csr_bytes:
        # half the memory, but the same arithmetic: only where the full diagonals are filled well enough too
        sizes["cds", (("symmetric", True),)] = estimate_bytes(csr, "cds", symmetric=True)
    fitting = {key: size for key, size in sizes.items() if size <= MAX_GROWTH * csr_bytes}
    cost = {key: size * HANDICAP.get(key[0], 1.0) for key, size in fitting.items()}
    by_preference = sorted(cost, key=lambda key: (PREFERENCE.index(key[0]), cost[key]))
    best = by_preference[0]
    for key in by_preference[1:]:
        if cost[key] < MARGIN * cost[best]:
            best = key
    vectors = sum(csr.shape) * csr.data.itemsize
    return Recommendation(
        format=best[0],
        layout=dict(best[1]),
        bytes=sizes[best],
        traffic=sizes[best] + vectors,
        csr_bytes=csr_bytes,
        reasons=_reasons(best, sizes, found, vectors),
        candidates={_label(key): size for key, size in sorted(sizes.items(), key=lambda item: item[1])},
        features=found,
    )


def _promising_blocks(found: Features, item: int) -> list[tuple[int, int]]:
    """The two block sizes with the fewest bytes an entry that divide the shape and beat CSR's bytes an entry."""
    n, m = found.shape
    cost = {
        block: (item + 4 / (block[0] * block[1])) / fill
        for block, fill in found.block_fill.items()
        if fill and n % block[0] == 0 and m % block[1] == 0
    }
    return sorted((block for block in cost if cost[block] < item + 4), key=cost.__getitem__)[:2]


def _label(key: Candidate) -> str:
    return " ".join([key[0], *(f"{name}={value}" for name, value in key[1])])


def _reasons(best: Candidate, sizes: dict[Candidate, int], found: Features, vectors: int) -> tuple[str, ...]:
    name, layout = best[0], dict(best[1])
    csr = sizes["csr", ()]
    saved = 1 - (sizes[best] + vectors) / max(csr + vectors, 1)
    block = layout.get("blocksize")
    fill = found.block_fill[block] if block else 0.0
    several = found.n_diagonals != 1
    all_on = "hold all entries and are" if several else "holds all entries and is"
    diagonals = f"{found.n_diagonals} diagonal{'s' if several else ''}"
    why = {
        "cds": f"{diagonals} {all_on} filled to {found.diagonal_fill:.0%}",
        "hm": f"{diagonals}, some short: HM stores each at its own length",
        "cdm": f"{diagonals}, some short: CDM packs two short ones in a row",
        "bsr": f"blocks of {block} are filled to {fill:.0%}: one index serves many entries",
        "pjad": f"rows of {found.row_min} to {found.row_max} entries fill {found.pjad_fill:.0%} of blocks of "
        f"{found.pjad_bsize} rows",
        "csr": "no diagonals or blocks are filled well enough to save memory" if found.nnz else "no entries are stored",
    }[name]
    reasons = [why]
    if "symmetric" in layout:
        reasons.append("the matrix is symmetric: the diagonals above the main one are stored for both triangles")
    if name != "csr":
        reasons.append(f"a product moves {saved:.0%} fewer bytes than with CSR")
    too_big = [_label(key) for key, size in sizes.items() if size > MAX_GROWTH * csr]
    if too_big:
        reasons.append(f"ruled out, more than {MAX_GROWTH} times CSR's memory: {', '.join(too_big)}")
    return tuple(reasons)
