"""BSR times a matrix of k columns: panels of columns, rows of a block four at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from .generated import define

#: Rows of a block that share each load of x.
ROWS = 4
#: Panels of columns: vectors, their width, and whether one may follow another.
PANELS = (4, 8, "while"), (2, 8, "if"), (1, 8, "if"), (1, 4, "if"), (1, 2, "if"), (1, 1, "if")
#: Sums that hide the latency of a multiply-add: where there are fewer, of vectors up to SHORT, several blocks are taken
#: at a time.
SUMS, SHORT = 4, 4


@cache
def spmm(fours: bool, rest: int, C: int | None, high: bool) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, y, k, alpha, beta, lo, hi)`` for blocks of ``rest`` rows beside fours.

    Parameters
    ----------
    fours : bool
        Whether the blocks have four rows or more.
    rest : int
    C : int or None
        Columns of a block where the compiler shall know them.
    high : bool
        Read the blocks in order, once for each panel, while the sums of their rows wait in the first-level cache. Else
        four rows are summed in registers over all blocks of a block row, then the next four.
    """
    name = f"bsr_spmm_{'fours_' * fours}{rest}_{C or 'any'}" + "_high" * high
    groups = [(f"for r in range(0, R - {rest}, {ROWS}):", ROWS)] * fours + [
        (f"for r in range(R - {rest}, R - {rest} + 1):", rest)
    ] * (rest > 0)
    lines = [
        f"def {name}(data, indices, ptr, R, C, x, y, k, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        *([f"    sums = np.empty(R * {max(v * w for v, w, _ in PANELS)}, y.dtype)"] if high else []),
        "    for i in range(lo, hi):",
        "        begin, end = get(ptr, i), get(ptr, i + 1)",
    ]
    if high:
        lines += _panels(partial(_high, groups), " " * 8)
    else:
        for loop, rows in groups:
            lines += ["        " + loop, *_panels(partial(_low, rows), " " * 12)]
    return define(name, [line.replace("range(C)", f"range({C})") if C else line for line in lines])


def _panels(sums: Callable[[int, int], list[str]], indent: str) -> list[str]:
    lines = ["c = 0"]
    for vectors, width, loop in PANELS:
        lines += [
            f"{loop} c + {vectors * width} <= k:",
            *("    " + line for line in sums(vectors, width)),
            f"    c += {vectors * width}",
        ]
    return [indent + line for line in lines]


def _low(rows: int, vectors: int, width: int) -> list[str]:
    """Blocks of so many rows, one after the other, or several at a time where one has few sums."""
    together = max(1, SUMS // (rows * vectors)) if width <= SHORT else 1
    names = [_names(rows, vectors, t) for t in range(together)]
    lines = [f"{s} = vzero(y, {width})" for t in names for row in t for s in row]
    lines += ["p = begin"]
    for count in sorted({together, 1}, reverse=True):
        lines += [
            f"while p + {count} <= end:",
            *(f"    j{t} = np.int64(get(indices, p + {t})) * C" for t in range(count)),
            "    for b in range(C):",
        ]
        for t in range(count):
            lines += [" " * 8 + line for line in _column(names[t], f"p + {t}", "r", f"j{t}", width)]
        lines += [f"    p += {count}"]
    for r in range(rows):
        for v in range(vectors):
            total = names[0][r][v]
            for t in range(1, together):
                total = f"vadd({total}, {names[t][r][v]})"
            at = f"(i * R + r + {r}) * k + c + {v * width}"
            lines.append(f"vupdate(y, {at}, {total}, alpha, beta, fresh)")
    return lines


def _high(groups: list[tuple[str, int]], vectors: int, width: int) -> list[str]:
    """Blocks of any number of rows, their sums kept in ``sums``."""
    wide = vectors * width
    lines = [
        f"for e in range(0, R * {wide}, {width}):",
        f"    vstore(sums, e, vzero(y, {width}))",
        "for p in range(begin, end):",
        "    j = np.int64(get(indices, p)) * C",
    ]
    for loop, rows in groups:
        lines += ["    " + loop, *(" " * 8 + line for line in _some_rows(rows, vectors, width))]
    lines += ["for r in range(R):"]
    for v in range(0, wide, width):
        total = f"vload(sums, r * {wide} + {v}, {width})"
        lines.append(f"    vupdate(y, (i * R + r) * k + c + {v}, {total}, alpha, beta, fresh)")
    return lines


def _some_rows(rows: int, vectors: int, width: int) -> list[str]:
    names = _names(rows, vectors, 0)
    place = {
        s: f"sums, (r + {r}) * {vectors * width} + {v * width}" for r, n in enumerate(names) for v, s in enumerate(n)
    }
    return [
        *(f"{s} = vload({at}, {width})" for s, at in place.items()),
        "for b in range(C):",
        *("    " + line for line in _column(names, "p", "r", "j", width)),
        *(f"vstore({at}, {s})" for s, at in place.items()),
    ]


def _names(rows: int, vectors: int, of_block: int) -> list[list[str]]:
    return [[f"s{r}_{v}_{of_block}" for v in range(vectors)] for r in range(rows)]


def _column(names: list[list[str]], p: str, r: str, j: str, width: int) -> list[str]:
    """Column ``b`` of block ``p``, from row ``r`` on, times the row of x."""
    lines = [f"at = ({j} + b) * k + c"]
    lines += [f"x{v} = vload(x, at + {v * width}, {width})" for v in range(len(names[0]))]
    for row, sums in enumerate(names):
        lines.append(f"value = get(data, (({p}) * R + {r} + {row}) * C + b)")
        lines += [f"{s} = vmuladd({s}, value, x{v})" for v, s in enumerate(sums)]
    return lines
