"""BSR with the block size known to the compiler: a block as one run of SIMD vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define


@cache
def spmv(R: int, C: int, far: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi)`` over block rows, for C up to 8.

    A block is read as one run of vectors that meet the repeated part of x; its rows are summed from their lanes at the
    end of the block row. The last vector of a block may reach into the next one, so the last blocks run one by one.
    ``far`` is how many bytes ahead the blocks are prefetched, 0 for not at all.
    """
    name = f"bsr_vector_spmv_{R}x{C}_{far}"
    size = R * C
    width = 4 if size <= 4 else 8
    part = 1 << (C - 1).bit_length()  # of x, in one vector
    vectors, rest = divmod(size, width)
    if rest > 2:
        vectors, rest = vectors + 1, 0
    sets = 2 if vectors < 3 else 1  # of accumulators, to hide the latency of a multiply-add
    in_registers = vectors == 1 or (vectors == 2 and not rest)  # the rows' sums, by shuffles
    singles = range(vectors * width, vectors * width + rest)

    def block(p: str, k: int) -> list[str]:
        lines = [
            f"j = np.int64(get(indices, {p})) * {C}",
            f"q = ({p}) * {size}",
            *([f"prefetch(data, q + ahead, {size})"] if far else []),
            f"xs = vload_first(x, j, {C}, {part})",
        ]
        for v in range(vectors):
            at = v * width
            factors = f"vload(data, q + {at}, {width}), vrepeat(xs, {C}, {at % C}, {width})"
            lines.append(f"a{k}_{v} = vmuladd(a{k}_{v}, {factors})")
        lines += [f"s{e} += get(data, q + {e}) * get(x, j + {e % C})" for e in singles]
        return [" " * 12 + line for line in lines]

    lines = [
        f"def {name}(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        f"    ahead = {far} // data.itemsize",
        *([] if in_registers else [f"    scratch = np.empty({vectors * width + rest}, y.dtype)"]),
        f"    safe = (data.size - {vectors * width}) // {size} + 1",
        "    p = get(ptr, lo)",
        "    for i in range(lo, hi):",
        "        end = get(ptr, i + 1)",
        "        stop = min(end, safe)",
        *(f"        a{k}_{v} = vzero(y, {width})" for k in range(sets) for v in range(vectors)),
        *(f"        s{e} = y.dtype.type(0)" for e in singles),
    ]
    if sets == 2:
        lines += ["        while p + 2 <= stop:", *block("p", 0), *block("p + 1", 1), "            p += 2"]
    lines += ["        while p < stop:", *block("p", 0), "            p += 1"]
    lines += [f"        a0_{v} = vadd(a0_{v}, a1_{v})" for v in range(vectors) if sets == 2]
    if in_registers:
        wide = 1 << (R - 1).bit_length()
        second = "a0_1" if vectors == 2 else "None"
        lines.append(f"        rows = vstride(a0_0, {second}, 0, {C}, {R}, {wide})")
        lines += [f"        rows = vadd(rows, vstride(a0_0, {second}, {c}, {C}, {R}, {wide}))" for c in range(1, C)]
        sums = [f"vget(rows, {r})" for r in range(R)]
        for e in singles:
            sums[e // C] += f" + s{e}"
    else:
        lines += [f"        vstore(scratch, {v * width}, a0_{v})" for v in range(vectors)]
        lines += [f"        put(scratch, {e}, s{e})" for e in singles]
        sums = [_tree([f"get(scratch, {r * C + c})" for c in range(C)]) for r in range(R)]
    lines += [
        f"        t = i * {R}",
        *(f"        r{r} = {total}" for r, total in enumerate(sums)),
        "        if fresh:",
        *(f"            put(y, t + {r}, alpha * r{r})" for r in range(R)),
        "        else:",
        *(f"            put(y, t + {r}, alpha * r{r} + beta * get(y, t + {r}))" for r in range(R)),
        "        while p < end:",
        f"            j = np.int64(get(indices, p)) * {C}",
        f"            for e in range({size}):",
        f"                r = t + e // {C}",
        f"                put(y, r, get(y, r) + alpha * (get(data, p * {size} + e) * get(x, j + e % {C})))",
        "            p += 1",
    ]
    return define(name, lines)


def _tree(terms: list[str]) -> str:
    """A sum by halves: half the latency of one by one."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({_tree(terms[:half])} + {_tree(terms[half:])})"
