"""How many vector registers this CPU has, and how wide they are."""

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
