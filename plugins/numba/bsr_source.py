"""Kernels of BSR with the block size known to the compiler, from generated source.

Small blocks are written out: one accumulator per row of the block, no loop inside it. The source is compiled under this
file's name, so numba keeps the machine code on disk like that of any other function of this module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .jit import kernel
from .simd import get, put, vload, vmuladd, vupdate, vzero

#: Blocks of up to this many entries are written out; larger ones run in loops.
LARGEST = 64


def _define(name: str, source: str) -> Callable[..., Any]:
    # Loading a cached kernel imports the module it names: this one.
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "get": get, "put": put}
    scope |= {"vload": vload, "vmuladd": vmuladd, "vupdate": vupdate, "vzero": vzero}
    exec(compile(source, __file__, "exec"), scope)
    return kernel(scope[name])


@cache
def spmv(R: int, C: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi)`` over block rows."""
    name = f"bsr_spmv_{R}x{C}"
    lines = [
        f"def {name}(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        "    p = get(ptr, lo)",
        "    for i in range(lo, hi):",
        "        end = get(ptr, i + 1)",
        *(f"        s{r} = y.dtype.type(0)" for r in range(R)),
        "        while p < end:",
        f"            j = np.int64(get(indices, p)) * {C}",
        f"            q = p * {R * C}",
        *(f"            x{c} = get(x, j + {c})" for c in range(C)),
        *(
            f"            s{r} += " + " + ".join(f"get(data, q + {r * C + c}) * x{c}" for c in range(C))
            for r in range(R)
        ),
        "            p += 1",
        f"        t = i * {R}",
        "        if fresh:",
        *(f"            put(y, t + {r}, alpha * s{r})" for r in range(R)),
        "        else:",
        *(f"            put(y, t + {r}, alpha * s{r} + beta * get(y, t + {r}))" for r in range(R)),
    ]
    return _define(name, "\n".join(lines))


@cache
def scatter(R: int, C: int, conj: bool) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, sums, first, k, lo, hi)``: sums += op(block rows lo to hi) @ x, k = 1."""
    name = f"bsr_scatter_{R}x{C}" + "_conj" * conj
    value = "np.conj(get(data, q + {}))" if conj else "get(data, q + {})"
    lines = [
        f"def {name}(data, indices, ptr, R, C, x, sums, first, k, lo, hi):",
        "    for q in range(sums.size):",
        "        put(sums, q, 0)",
        "    p = get(ptr, lo)",
        "    for i in range(lo, hi):",
        "        end = get(ptr, i + 1)",
        *(f"        x{r} = get(x, i * {R} + {r})" for r in range(R)),
        "        while p < end:",
        f"            j = np.int64(get(indices, p)) * {C} - first",
        f"            q = p * {R * C}",
        *(
            f"            put(sums, j + {c}, get(sums, j + {c}) + "
            + " + ".join(f"{value.format(r * C + c)} * x{r}" for r in range(R))
            + ")"
            for c in range(C)
        ),
        "            p += 1",
    ]
    return _define(name, "\n".join(lines))


@cache
def spmm(rest: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, y, k, alpha, beta, lo, hi)`` for blocks with R % 4 == ``rest``.

    Four rows of a block share each load of x: panels of 16, 8, 4 columns, then single ones.
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
    return _define(name, "\n".join(lines))


def _panels(rows: int, indent: str) -> list[str]:
    lines = ["c = 0", *_panel(rows, 2, 8, "while"), *_panel(rows, 1, 8, "while"), *_panel(rows, 1, 4, "if")]
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
    lines += [
        f"    vupdate(y, (i * R + r + {r}) * k + c + {v * width}, {s}, alpha, beta, fresh)" for r, v, s in names
    ]
    lines.append(f"    c += {vectors * width}")
    return lines
