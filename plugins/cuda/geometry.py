"""How a warp shares out the blocks of a BSR matrix: the numbers ``blocks.cuh`` is compiled with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: More values a block than this, and the block size is read at run time.
LARGEST_BLOCK = 512
#: Units in a block row from which on it counts as long.
LONG_ROW = 4096


class Geometry(NamedTuple):
    """Launch parameters of the block kernel; the names are the macros of ``blocks.cuh``."""

    GROUP: int
    TEAM: int
    SLOTS: int
    TEAMS: int
    RUN: int
    DEPTH: int
    WARPS: int
    BLOCK: int
    TAIL: int

    def macros(self) -> tuple[tuple[str, int], ...]:
        return tuple(self._asdict().items())


#: Lanes per block row, units per lane and block, blocks in flight, and whether the last blocks come in one batch: what
#: was fastest at 27 blocks a row (H200, float64), by units per block and values per unit.
MEASURED = {
    (2, 2): (8, 1, 4, 1), (3, 2): (8, 3, 2, 1), (6, 1): (8, 3, 3, 1), (8, 2): (16, 2, 3, 1), (9, 1): (8, 9, 2, 1),
    (18, 1): (32, 2, 3, 1), (18, 2): (32, 2, 2, 1), (25, 1): (16, 5, 3, 1), (32, 2): (32, 4, 1, 0),
    (49, 1): (32, 5, 3, 1),
}  # fmt: skip


def geometry(
    blocksize: tuple[int, int],
    dtype: Any,
    blocks_per_row: float,
    rows: int = 1 << 20,
    *,
    lanes: int | None = None,
    slots: int | None = None,
    unroll: int | None = None,
    warps: int | None = None,
    block: int = 128,
    tail: int | None = None,
) -> Geometry:
    """Launch parameters for one block size.

    Parameters
    ----------
    blocksize : (int, int)
    dtype : dtype
        Of the matrix.
    blocks_per_row : float
        Blocks in an average block row.
    rows : int
        Block rows; where they are few and long, several warps share one.
    lanes, slots, unroll, warps, block, tail
        Fix one of the numbers instead of choosing it: lanes per block row (8, 16, 32), units per lane and block,
        blocks in flight per lane, warps per block row, threads per thread block, whether the last blocks are one batch.

    Returns
    -------
    Geometry
    """
    height, width = blocksize
    vector = values_per_load(width, dtype)
    units = height * width // vector
    usual = MEASURED.get((units, vector), (8 if units <= 6 else 16 if units <= 25 else 32, None, 2, 1))
    if blocks_per_row * units >= LONG_ROW:
        usual = (32, -(-units // 32), 1, 0)  # long block rows: blocks side by side, read front to back
    if lanes is None and slots is None:
        lanes, slots = usual[:2]
    lanes = usual[0] if lanes is None else lanes
    slots = best_slots(units, lanes) if slots is None else slots
    per_team = -(-units // slots)
    teams = lanes // per_team
    if warps is None:
        warps = 1
        while lanes == 32 and warps < 4 and blocks_per_row / (teams * warps) >= 32 and rows * warps < 12_000:
            warps *= 2
    unroll = usual[2] if unroll is None else unroll
    tail = usual[3] if tail is None else tail
    return Geometry(lanes, per_team, slots, teams, vector, unroll, warps, block, tail)


def values_per_load(width: int, dtype: Any) -> int:
    """Neighbouring values of one row of a block that come in one load of up to 16 bytes."""
    most = max(1, 16 // np.dtype(dtype).itemsize)
    while width % most:
        most //= 2
    return most


def best_slots(units: int, lanes: int) -> int:
    """Units per lane and block that leave the fewest lanes idle; few of them where that costs little."""
    best, share = None, 0.0
    for slots in range(-(-units // lanes), min(units, max(8, -(-units // lanes))) + 1):
        per_team = -(-units // slots)
        used = (lanes // per_team) * units / (lanes * slots)
        if used > share + 0.08:
            best, share = slots, used
    assert best is not None
    return best


def candidates(blocksize: tuple[int, int], dtype: Any, blocks_per_row: float, rows: int) -> list[Geometry]:
    """Launch parameters worth timing for one matrix; the default comes first."""
    units = blocksize[0] * blocksize[1] // values_per_load(blocksize[1], dtype)
    default = geometry(blocksize, dtype, blocks_per_row, rows)
    out = {default: None}
    for lanes in (8, 16, 32):
        for slots in range(-(-units // lanes), min(units, 9) + 1):
            used = (lanes // -(-units // slots)) * units / (lanes * slots)
            if used < 0.7:
                continue
            for unroll, tail in ((1, 0), (2, 0), (2, 1), (3, 1), (4, 1)):
                for warps in (1, 2, 4) if lanes == 32 and blocks_per_row >= 64 else (1,):
                    fixed = {"lanes": lanes, "slots": slots, "unroll": unroll, "warps": warps, "tail": tail}
                    out[geometry(blocksize, dtype, blocks_per_row, rows, **fixed)] = None
    return list(out)
