"""Pieces of transposed BSR products, see `spformats_plugins.numba.scatter`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define
from .scatter_kernels import opened

#: Rows of a block whose x are held in registers.
ROWS = 4
#: Elements of the vectors along a row of a block, the widest first.
WIDTHS = 8, 4, 2, 1
#: Panels of columns of x: vectors, their width, and whether one may follow another.
PANELS = (4, 8, "while"), (1, 8, "while"), (1, 4, "if"), (1, 2, "if"), (1, 1, "if")


def _define(name: str, conj: bool, head: list[str], block_row: list[str]) -> Callable[..., Any]:
    name += "_conj" * conj
    lines = [
        f"def {name}(data, indices, ptr, R, C, cuts, starts, shifts, x, y, sums, k, alpha, beta, lo, hi):",
        "    a = y.dtype.type(alpha)",
        *("    " + line for line in head),
        "    for t in range(lo, hi):",
        "        target, shift = opened(y, sums, starts, t, k, beta), get(shifts, t)",
        "        for i in range(get(cuts, t), get(cuts, t + 1)):",
        "            begin, end = get(ptr, i), get(ptr, i + 1)",
        *(" " * 12 + line for line in block_row),
    ]
    return define(name, lines, opened=opened)


def _value(place: str, conj: bool) -> str:
    return f"np.conj(get(data, {place}))" if conj else f"get(data, {place})"


@cache
def small(R: int, C: int, conj: bool) -> Callable[..., Any]:
    """One right-hand side, the block written out."""
    lines = [
        *(f"x{r} = a * get(x, i * {R} + {r})" for r in range(R)),
        "for p in range(begin, end):",
        f"    j, q = np.int64(get(indices, p)) * {C} + shift, p * {R * C}",
    ]
    for c in range(C):
        total = " + ".join(f"{_value(f'q + {r * C + c}', conj)} * x{r}" for r in range(R))
        lines.append(f"    put(target, j + {c}, get(target, j + {c}) + {total})")
    return _define(f"bsr_scatter_{R}x{C}", conj, [], lines)


@cache
def large(rest: int, conj: bool) -> Callable[..., Any]:
    """One right-hand side, blocks of ``rest`` rows beside fours; vectors along the rows."""
    lines = [
        "for p in range(begin, end):",
        "    j = np.int64(get(indices, p)) * C + shift",
    ]
    groups = [(f"range(0, R - {rest}, {ROWS})", ROWS)] + [(f"range(R - {rest}, R, {rest})", rest)] * (rest > 0)
    for some, rows in groups:
        lines += [
            f"    for r in {some}:",
            "        q, c = (p * R + r) * C, 0",
            *(f"        x{r} = a * get(x, i * R + r + {r})" for r in range(rows)),
        ]
        for width in WIDTHS:
            lines += [
                f"        while c + {width} <= C:",
                f"            s = vload(target, j + c, {width})",
            ]
            for r in range(rows):
                value = f"vload(data, q + {r} * C + c, {width})"
                lines.append(f"            s = vmuladd(s, x{r}, {f'vconj({value})' if conj else value})")
            lines += ["            vstore(target, j + c, s)", f"            c += {width}"]
    return _define(f"bsr_scatter_large_{rest}", conj, [], lines)


@cache
def panels(R: int | None, C: int | None, conj: bool) -> Callable[..., Any]:
    """k right-hand sides, a panel of columns after the other; R and C where the compiler shall know them."""
    wide = max(v * w for v, w, _ in PANELS)
    lines = ["c = 0"]
    for vectors, width, loop in PANELS:
        panel = vectors * width
        lines += [
            f"{loop} c + {panel} <= k:",
            "    for r in range(R):",
        ]
        for v in range(0, panel, width):
            scaled = f"vmuladd(vzero(y, {width}), a, vload(x, (i * R + r) * k + c + {v}, {width}))"
            lines.append(f"        vstore(part, r * {panel} + {v}, {scaled})")
        lines += [
            "    for p in range(begin, end):",
            "        j = np.int64(get(indices, p)) * C + shift",
            f"        for b in range({C or 'C'}):",
            "            to = (j + b) * k + c",
            *(f"            s{v} = vload(target, to + {v * width}, {width})" for v in range(vectors)),
            f"            for r in range({R or 'R'}):",
            f"                value = {_value('(p * R + r) * C + b', conj)}",
        ]
        for v in range(vectors):
            lines.append(
                f"                s{v} = vmuladd(s{v}, value, vload(part, r * {panel} + {v * width}, {width}))"
            )
        lines += [
            *(f"            vstore(target, to + {v * width}, s{v})" for v in range(vectors)),
            f"    c += {panel}",
        ]
    return _define(
        f"bsr_scatter_panels_{R or 'any'}x{C or 'any'}", conj, [f"part = np.empty(R * {wide}, y.dtype)"], lines
    )
