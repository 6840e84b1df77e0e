"""BSR times a matrix of k columns: panels of columns, rows of a block four at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define


@cache
def spmm(rest: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, y, k, alpha, beta, lo, hi)`` for blocks with R % 4 == ``rest``.

    Four rows of a block share each load of x: panels of 32, 16, 8, 4 columns, then single ones.
    """
    name = f"bsr_spmm_{rest}"
    lines = [
        f"def {name}(data, indices, ptr, R, C, x, y, k, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        "    for i in range(lo, hi):",
        "        begin, end = get(ptr, i), get(ptr, i + 1)",
        f"        for r in range(0, R - {rest}, 4):",
        *_panels(4, " " * 12),
    ]
    if rest:
        lines += [f"        r = R - {rest}", *_panels(rest, " " * 8)]
    return define(name, lines)


def _panels(rows: int, indent: str) -> list[str]:
    lines = ["c = 0"]
    for vectors, width, loop in ((4, 8, "while"), (2, 8, "if"), (1, 8, "if"), (1, 4, "if")):
        lines += _panel(rows, vectors, width, loop)
    lines += [
        "while c < k:",
        *(f"    u{r} = y.dtype.type(0)" for r in range(rows)),
        "    for p in range(begin, end):",
        "        j = np.int64(get(indices, p)) * C",
        "        for b in range(C):",
        "            xb = get(x, (j + b) * k + c)",
        *(f"            u{r} += get(data, (p * R + r + {r}) * C + b) * xb" for r in range(rows)),
    ]
    for r in range(rows):
        at = f"(i * R + r + {r}) * k + c"
        lines.append(f"    put(y, {at}, alpha * u{r} if fresh else alpha * u{r} + beta * get(y, {at}))")
    lines.append("    c += 1")
    return [indent + line for line in lines]


def _panel(rows: int, vectors: int, width: int, loop: str) -> list[str]:
    names = [(r, v, f"s{r}_{v}_{width}") for r in range(rows) for v in range(vectors)]
    lines = [
        f"{loop} c + {vectors * width} <= k:",
        *(f"    {s} = vzero(y, {width})" for _, _, s in names),
        "    for p in range(begin, end):",
        "        j = np.int64(get(indices, p)) * C",
        "        for b in range(C):",
        "            at = (j + b) * k + c",
        *(f"            x{v}_{width} = vload(x, at + {v * width}, {width})" for v in range(vectors)),
    ]
    for r in range(rows):
        lines.append(f"            v{r} = get(data, (p * R + r + {r}) * C + b)")
        lines += [f"            {s} = vmuladd({s}, v{r}, x{v}_{width})" for q, v, s in names if q == r]
    lines += [f"    vupdate(y, (i * R + r + {r}) * k + c + {v * width}, {s}, alpha, beta, fresh)" for r, v, s in names]
    lines.append(f"    c += {vectors * width}")
    return lines
