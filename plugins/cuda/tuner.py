"""A small tuner for the block kernel: time a few launch parameters on the device at hand, remember the fastest.

`tune` is asked for by name, because it compiles a few dozen kernels; products never start it. What it chose is kept in
a file in the user's cache folder and used by later products of like matrices; `explain` tells what is used and why.
"""

from __future__ import annotations

import functools
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from spformats_plugins.cuda import runtime
from spformats_plugins.cuda.geometry import LARGEST_BLOCK, Geometry, candidates, geometry


def cache_file() -> Path:
    """Where choices are kept; the environment variable ``SPFORMATS_CACHE_DIR`` moves it."""
    folder = os.environ.get("SPFORMATS_CACHE_DIR") or Path.home() / ".cache" / "spformats"
    return Path(folder) / "cuda_geometry.json"


@functools.cache
def choices() -> dict[str, list[int]]:
    """Every choice made so far, by `key`."""
    try:
        return json.loads(cache_file().read_text())
    except FileNotFoundError:
        return {}


def key(device: str, blocksize: tuple[int, int], dtype: Any, blocks_per_row: float, rows: int) -> str:
    """What choices are remembered by: block rows and their lengths count by powers of two."""
    length, number = (round(math.log2(max(1, v))) for v in (blocks_per_row, rows))
    return f"{device}/{blocksize[0]}x{blocksize[1]}/{np.dtype(dtype)}/{length}/{number}"


def chosen(blocks: Any) -> tuple[Geometry, str]:
    """The launch parameters for a BSR matrix (`blocks.Blocks`), and where they come from."""
    case = ((blocks.height, blocks.width), blocks.data.dtype, blocks.per_row, blocks.block_rows)
    known = choices().get(key(runtime.device_name(blocks.data), *case)) if choices() else None
    if known is not None:
        return Geometry(*known), f"timed on this device by tune(), kept in {cache_file()}"
    return geometry(*case), "the default for this block size; spformats_plugins.cuda.tuner.tune(A) times others"


def tune(A: Any, dtype: Any = None, repeats: int = 20) -> Geometry:
    """Time launch parameters for products of A with a vector, and keep the fastest for later ones.

    Parameters
    ----------
    A : BSR on a GPU
    dtype : dtype, optional
        Of the vector; A's own by default.
    repeats : int
        Products timed for each.

    Returns
    -------
    Geometry

    Raises
    ------
    TypeError
        If A is not BSR on a GPU.
    """
    timed = timings(A, dtype, repeats)
    best = min(timed, key=lambda shape: timed[shape])
    blocks = _blocks(A)
    case = ((blocks.height, blocks.width), blocks.data.dtype, blocks.per_row, blocks.block_rows)
    choices()[key(runtime.device_name(blocks.data), *case)] = list(best)
    cache_file().parent.mkdir(parents=True, exist_ok=True)
    cache_file().write_text(json.dumps(choices(), indent=1, sort_keys=True))
    for made in [k for k in A._plans if isinstance(k, tuple) and k[0] == "spmv"]:
        del A._plans[made]  # prepared with the old parameters
    return best


def timings(A: Any, dtype: Any = None, repeats: int = 20) -> dict[Geometry, float]:
    """Seconds of a product for each of the launch parameters that `tune` would try."""
    from spformats_plugins.cuda.blocks import with_geometry

    blocks = _blocks(A)
    dtype = np.dtype(A.dtype if dtype is None else dtype)
    shapes = candidates((blocks.height, blocks.width), blocks.data.dtype, blocks.per_row, blocks.block_rows)
    x = blocks.data.reshape(-1)[:1].repeat(blocks.cols).astype(dtype)
    with ThreadPoolExecutor() as pool:  # the compiler runs outside Python's lock
        runs = list(pool.map(lambda shape: with_geometry(blocks, dtype, shape), shapes))
    times = [runtime.seconds(functools.partial(run, A, x, None, 1, 0), repeats) for run in runs]
    return dict(zip(shapes, times, strict=True))


def explain(A: Any) -> str:
    """One line: the launch parameters that products of A use, and where they come from."""
    shape, why = chosen(_blocks(A))
    numbers = ", ".join(f"{name.lower()} {value}" for name, value in shape._asdict().items())
    return f"{numbers}: {why}"


def _blocks(A: Any) -> Any:
    from spformats_plugins.cuda.blocks import Blocks

    if getattr(A, "format", None) != "bsr" or A._namespace != "cupy":
        raise TypeError(f"the tuner times BSR arrays on a GPU, got {A!r}; use A.asformat('bsr').to_device('cuda')")
    if A.blocksize[0] * A.blocksize[1] > LARGEST_BLOCK:
        raise TypeError(f"blocks of {A.blocksize} are read by a kernel without launch parameters to choose")
    return Blocks(A, "N")
