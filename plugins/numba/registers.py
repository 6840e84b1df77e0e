"""What this CPU is: how many vector registers it has, how wide they are, what its prefetchers do by themselves."""

from __future__ import annotations

from functools import cache

from llvmlite import binding


@cache
def vector_registers() -> tuple[int, int]:
    """``(count, bytes of each)``."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 32, 64
    if features.get("avx"):
        return 16, 32
    return (32 if features.get("neon") else 16), 16


@cache
def works_by_halves() -> bool:
    """Whether registers of 64 bytes are worked on by halves, as on Zen 4."""
    return binding.get_host_cpu_name() == "znver4"


@cache
def foresees_rows() -> bool:
    """Whether asking for the entries of rows ahead costs more than it gains: up to two fifths of a product on Zen 4.

    Blocks of two lines lose a tenth to a fifth there. On Zen 5 and on Intel rows gain that much and more, blocks too.
    """
    return binding.get_host_cpu_name() == "znver4"


@cache
def run_bytes() -> int:
    """Bytes of the results for which the diagonals of a pass are read on before others have their turn.

    Incomplete sums of so many rows wait in the second-level cache. With twice as many two threads gain a twentieth on
    Zen 4, one thread loses as much on Intel.
    """
    return 1 << (19 if binding.get_host_cpu_name() == "znver4" else 18)
