"""The matrices of the GPU benchmark."""

from __future__ import annotations

import functools
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

NAMES = (
    "cry10000 poisson3Da af23560 g7jac140 fidapm37 bcsstk36 majorbasis bbmat cfd1 ASIC_680ks FEM_3D_thermal2 "
    "parabolic_fem "
    "ecology2 pre2 boneS01 torso1 thermal2 atmosmodl bmw3_2 af_shell8 cage14 nd24k inline_1 ldoor cage15"
).split()
#: Twins on which kernels that add by atomics are timed: even rows, long rows, a power law.
FOR_ATOMICS = ("cfd1", "ASIC_680ks", "ecology2", "pre2", "torso1", "cage14", "inline_1")
#: cage15 at full size needs 5 GB of host memory to build.
SCALES = {"cage15": 0.5}


def stencils() -> Iterator[tuple[str, Any]]:
    import spformats as sf

    for case, A in (("poisson2d 2^20", sf.gallery.poisson2d(1024)), ("poisson2d 2^24", sf.gallery.poisson2d(4096)),
                    ("poisson3d 200^3", sf.gallery.poisson3d(200))):  # fmt: skip
        yield case, A.asformat("cds")


def block_band(rows: int, blocksize: tuple[int, int], blocks_per_row: int) -> Any:
    """BSR on the GPU with a band of full blocks around the diagonal."""
    import cupy as cp

    import spformats as sf

    R, C = blocksize
    start = np.clip(np.arange(rows) - blocks_per_row // 2, 0, rows - blocks_per_row)
    indices = cp.asarray((start[:, None] + np.arange(blocks_per_row)).astype(np.int32).ravel())
    data = cp.random.random((indices.size, R, C))
    indptr = cp.arange(rows + 1, dtype=np.int64) * blocks_per_row
    return sf.BSR._build(
        {"data": data, "indices": indices, "indptr": indptr}, (rows * R, rows * C), blocksize=blocksize
    )


def block_bands() -> Iterator[tuple[str, Any]]:
    """Blocks of many sizes, 27 in a row, 400 000 rows; and the matrix of paper 003."""
    for size in [(b, b) for b in range(2, 9)] + [(3, 2), (2, 3), (6, 3)]:
        yield f"{size[0]}x{size[1]} 27 a row", block_band(400_000 // size[0], size, 27)
    yield "5x5 5% 32000", block_band(6400, (5, 5), 320)


def for_spmm() -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    import spformats as sf

    grid = sf.gallery.poisson2d(1024).asformat("cds").to_device("cuda")
    yield "poisson2d 2^20", grid, ("cds", "hm", "cdm", "csr", "ell", "jad", "pjad")
    for size in ((3, 3), (5, 5)):
        yield f"{size[0]}x{size[1]} 27 a row", block_band(200_000 // size[0], size, 27), ("bsr", "csr")


def twins(folder: Path, names: str | None) -> list[tuple[str, Callable[[], Any]]]:
    """Names and loaders of the twins, built in parallel and kept in memory files."""
    wanted = names.split(",") if names else NAMES
    sys.path.insert(0, str(folder))
    store = Path("/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()) / "spformats-twins"
    store.mkdir(exist_ok=True)
    hardest_first = sorted(wanted, key=NAMES.index, reverse=True)
    with multiprocessing.Pool(min(16, os.cpu_count() or 1)) as pool:
        pool.map(functools.partial(build, store), hardest_first, chunksize=1)
    return [(name, functools.partial(load, store, name)) for name in sorted(wanted, key=NAMES.index)]


def build(store: Path, name: str) -> None:
    done = store / f"{name}.shape.npy"
    if done.exists():
        return
    from twins import twin

    A = twin(name, SCALES.get(name, 1.0)).tocsr()
    A.sort_indices()
    np.save(store / f"{name}.data.npy", A.data)
    np.save(store / f"{name}.indices.npy", A.indices.astype(np.int32))
    np.save(store / f"{name}.indptr.npy", A.indptr.astype(np.int32))
    np.save(done, np.array(A.shape))


def load(store: Path, name: str) -> tuple[Any, Any, Any, tuple[int, int]]:
    data, indices, indptr, shape = (np.load(store / f"{name}.{p}.npy") for p in ("data", "indices", "indptr", "shape"))
    return data, indices, indptr, tuple(shape.tolist())
