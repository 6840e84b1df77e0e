"""How a warp shares out the blocks of a BSR matrix: the numbers ``blocks.cuh`` is compiled with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: More values a block than this, and the block size is read at run time.
LARGEST_BLOCK = 512


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

    def macros(self) -> tuple[tuple[str, int], ...]:
        return tuple(self._asdict().items())


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
    lanes, slots, unroll, warps, block
        Fix one of the numbers instead of choosing it: lanes per block row (8, 16, 32), units per lane and block, blocks
        in flight per lane, warps per block row, threads per thread block.

    Returns
    -------
    Geometry
    """
    height, width = blocksize
    vector = values_per_load(width, dtype)
    units = height * width // vector
    if lanes is None:
        # a lane should meet a few blocks: short block rows take part of a warp
        lanes = next((g for g in (8, 16) if units <= g and blocks_per_row * units <= 6 * g), 32)
    slots = best_slots(units, lanes) if slots is None else slots
    per_team = -(-units // slots)
    teams = lanes // per_team
    if warps is None:
        warps = 1
        while lanes == 32 and warps < 4 and blocks_per_row / (teams * warps) >= 64 and rows * warps < 1 << 15:
            warps *= 2
    if unroll is None:
        unroll = max(1, min(4, 8 // (slots * max(1, vector // 2)), round(blocks_per_row / (teams * warps))))
    return Geometry(lanes, per_team, slots, teams, vector, unroll, warps, block)


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
        for slots in range(-(-units // lanes), min(units, 8) + 1):
            used = (lanes // -(-units // slots)) * units / (lanes * slots)
            if used < 0.7:
                continue
            for unroll in (1, 2, 4):
                for warps in (1, 2, 4) if lanes == 32 and blocks_per_row >= 64 else (1,):
                    fixed = {"lanes": lanes, "slots": slots, "unroll": unroll, "warps": warps}
                    out[geometry(blocksize, dtype, blocks_per_row, rows, **fixed)] = None
    return list(out)
