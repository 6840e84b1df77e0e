"""The body of a Matrix Market file: a vectorised check of every line, and the words for the first bad one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from spformats.interop.matrix_market import Header

CHUNK = 1 << 18
SPACE = b" \t\n\v\f"
DIGITS = b"0123456789"
INTEGER = re.compile(rb"[+-]?\d+")
REAL = re.compile(rb"[+-]?(\d+\.?\d*([edED][+-]?\d+)?|\.\d+([edED][+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE)


class EntryError(ValueError):
    """Entry number `entry` (0-based, in file order) is wrong in a way that only its meaning shows."""

    def __init__(self, entry: int, reason: str) -> None:
        super().__init__(reason)
        self.entry = entry


def values_per_line(header: Header) -> int:
    """How many words an entry's line has."""
    values = {"complex": 2, "pattern": 0}.get(header.field, 1)
    return values + (2 if header.layout == "coordinate" else 0)


def quote(line: bytes) -> str:
    """A line for an error message: decoded, without its end, not too long."""
    text = line.decode("utf-8", "replace").strip("\r\n")
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _pair_table(real: bool) -> np.ndarray:
    """Which byte may follow which inside numbers and white space, as a flat 256x256 table."""
    ok = np.zeros((256, 256), dtype=bool)

    def allow(first: bytes, then: bytes) -> None:
        ok[np.ix_(list(first), list(then))] = True

    start = DIGITS + b"+-" + (b".nNiI" if real else b"")
    allow(SPACE, SPACE + start)
    allow(DIGITS, DIGITS + SPACE)
    allow(b"+-", DIGITS)
    if real:
        allow(DIGITS, b".eEdD")
        allow(b".", DIGITS + SPACE + b"eEdD")
        allow(b"+-", b".nNiI")
        allow(b"eEdD", DIGITS + b"+-")
        letters = b"nNaAiIfFtTyY"
        allow(letters, letters + SPACE)
    return ok.ravel()


def find_fault(body: bytes, header: Header) -> str:
    """What is wrong with the body, judged from its bytes only; empty if it may go to the parser.

    Every pair of neighbouring bytes must be able to stand in a number, no number has two points or exponents, and the
    words add up to the stated entries.
    """
    expected = header.stored * values_per_line(header)
    if 2 * expected > len(body) + 1:
        return "too few entries"
    real = header.field in ("real", "complex")
    pairs = _pair_table(real)
    space = np.zeros(256, dtype=bool)
    space[list(SPACE)] = True
    marks = np.zeros(256, dtype=np.uint8)
    marks[list(SPACE)] = ord(" ")
    marks[list(b".")] = ord(".")
    marks[list(b"eEdD")] = ord("e")
    text = np.frombuffer(b"\n" + body + b"\n", dtype=np.uint8)
    words = 0
    for begin in range(0, text.size - 1, CHUNK):
        part = text[begin : begin + CHUNK + 1]
        if not pairs[(part[:-1].astype(np.uint16) << 8) | part[1:]].all():
            return "not a number"
        gap = space[part]
        words += int(np.count_nonzero(gap[:-1] & ~gap[1:]))
    if real and any(mark in body for mark in (b".", b"e", b"E", b"d", b"D")):
        for begin in range(0, text.size, CHUNK):
            # numbers are shorter than 64 bytes in any sane file; the overlap keeps one cut by a chunk in view
            kept = marks[text[begin : begin + CHUNK + 64]]
            shape = kept[kept != 0].tobytes()
            if b".." in shape or b"ee" in shape or b"e." in shape:
                return "not a number"
    if words == expected:
        return ""
    return "too few entries" if words < expected else "too many entries"


def normalise(body: bytes) -> bytes:
    """Spell numbers as SciPy's parser knows them: Fortran's D exponent becomes E, a leading plus goes."""
    if b"d" in body or b"D" in body:
        body = body.translate(bytes.maketrans(b"dD", b"eE"))
    if b"+" in body:
        body = re.sub(rb"(?m)(^|[ \t])\+", rb"\1", body)
    return body


def explain(body: bytes, header: Header, fault: str | Exception) -> str:
    """Number and text of the first line that is wrong, and why; `fault` is the answer when no line stands out."""
    last, count = header.size_line, 0
    for number, line in enumerate(body.split(b"\n"), header.size_line[0] + 1):
        if not line.strip():
            continue
        last, count = (number, line), count + 1
        if isinstance(fault, EntryError):
            why = str(fault) if fault.entry == count - 1 else ""
        else:
            why = _line_fault(line.split(), header, count)
        if why:
            return f"line {number}: {quote(line)}: {why}"
    number, line = last
    if count < header.stored:
        return (
            f"the file ends after line {number} ({quote(line)}) with {count} entries, but the size line "
            f"(line {header.size_line[0]}: {quote(header.size_line[1])}) announces {header.stored}"
        )
    return f"line {number}: {quote(line)}: {fault}"


def _line_fault(words: list[bytes], header: Header, count: int) -> str:
    if count > header.stored:
        return f"too many entries: the size line (line {header.size_line[0]}) announces {header.stored}"
    want = values_per_line(header)
    if len(words) != want:
        return f"{len(words)} words, but an entry of this {header.layout} {header.field} file has {want}"
    if header.layout == "coordinate":
        for word, size, axis in zip(words, header.shape, ("row", "column"), strict=False):
            if not INTEGER.fullmatch(word):
                return f"{axis} index {quote(word)} is not an integer"
            if not 1 <= int(word) <= size:
                return f"{axis} index {int(word)} is outside 1..{size}"
        words = words[2:]
    number = REAL if header.field in ("real", "complex") else INTEGER
    for word in words:
        if not number.fullmatch(word):
            return f"{quote(word)} is not a valid {header.field} number"
        if header.field == "integer" and not -(2**63) <= int(word) < 2**63:
            return f"{quote(word)} does not fit a 64-bit integer"
    return ""
