"""BSR with the block size known to the compiler: blocks written out, one accumulator per row, no loop inside."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .generated import define


@cache
def spmv(R: int, C: int, far: int) -> Callable[..., Any]:
    """``kernel(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi)`` over block rows.

    ``far`` is how many bytes ahead the blocks are prefetched, 0 for not at all.
    """
    name = f"bsr_spmv_{R}x{C}_{far}"
    lines = [
        f"def {name}(data, indices, ptr, R, C, x, y, alpha, beta, lo, hi):",
        "    fresh = beta == 0",
        f"    ahead = {far} // data.itemsize",
        "    p = get(ptr, lo)",
        "    for i in range(lo, hi):",
        "        end = get(ptr, i + 1)",
        *(f"        s{r} = y.dtype.type(0)" for r in range(R)),
        "        while p < end:",
        f"            j = np.int64(get(indices, p)) * {C}",
        f"            q = p * {R * C}",
        *([f"            prefetch(data, q + ahead, {R * C})"] if far else []),
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
    return define(name, lines)
