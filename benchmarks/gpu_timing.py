"""Times calls on the GPU, ours and the peers' in turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy as cp

Calls = dict[str, Callable[[], Any]]
Row = dict[str, Any]

#: Keeps the device busy while the launches of one repeat are queued.
SPIN = """
extern "C" __global__ void spin(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles);
}
"""


class Bench:
    """Copy bandwidth of the device, and medians of repeats."""

    def __init__(self) -> None:
        self.l2 = int(cp.cuda.runtime.getDeviceProperties(0)["l2CacheSize"])
        self.spin = cp.RawKernel(SPIN, "spin")
        self.flood = cp.zeros(256 << 20, dtype=cp.uint8)
        a = cp.random.rand(1 << 28)
        b = cp.empty_like(a)
        self.copy = 2 * a.nbytes / self.times({"copy": lambda: cp.copyto(b, a)}, 20, cold=False)["copy"]

    def times(self, calls: Calls, repeats: int, cold: bool) -> dict[str, float]:
        """Median seconds of each call, one repeat of all of them after the other."""
        for call in calls.values():
            for _ in range(3):
                call()
        cp.cuda.Device().synchronize()
        events: dict[str, list[Any]] = {name: [] for name in calls}
        for _ in range(repeats):
            for name, call in calls.items():
                if cold:
                    self.flood += 1
                else:
                    call()  # the peers before it have used the cache: bring our own data back
                self.spin((1,), (1,), (120_000,))
                start, stop = cp.cuda.Event(), cp.cuda.Event()
                start.record()
                call()
                stop.record()
                events[name].append((start, stop))
        cp.cuda.Device().synchronize()
        taken = {name: sorted(cp.cuda.get_elapsed_time(*e) for e in pairs) for name, pairs in events.items()}
        return {name: float(ordered[len(ordered) // 2]) * 1e-3 for name, ordered in taken.items()}

    def both(self, calls: Calls, nbytes: float, repeats: int = 30) -> dict[str, dict[str, float]]:
        """Warm times, and cold ones where the cache could hold the working set."""
        out = {"warm": self.times(calls, repeats, cold=False)}
        if nbytes < 2 * self.l2:
            out["cold"] = self.times(calls, repeats, cold=True)
        return out

    def row(self, work: str, case: str, times: dict[str, Any], ours: str, nbytes: float, **more: Any) -> Row:
        """One row of the results: times, the best peer, and what fraction of copy bandwidth we reach."""
        row: Row = {"work": work, "case": case, "bytes": int(nbytes), **more}
        for kind, taken in times.items():
            peers = {name: t for name, t in taken.items() if not name.startswith("spformats")}
            best = min(peers, key=lambda name: peers[name])
            row[kind] = {
                "seconds": taken,
                "fraction_of_copy": nbytes / taken[ours] / self.copy,
                "best_peer": best,
                "times_best_peer": peers[best] / taken[ours],
            }
            said = " ".join(f"{name}={t * 1e6:.1f}" for name, t in taken.items() if name != ours)
            fraction, ahead = row[kind]["fraction_of_copy"], row[kind]["times_best_peer"]
            took = f"{taken[ours] * 1e6:9.1f} us {fraction:5.2f} of copy"
            print(f"{work:7s} {case:20s} {kind} {took} x{ahead:.2f} {best} | {said}", flush=True)
        return row


def check(y: Any, expected: Any, what: str) -> None:
    """Stop if a result is wrong: a fast wrong product is worth nothing."""
    error = float(cp.abs(y - expected).max() / (cp.abs(expected).max() + 1e-300))
    if not error < 1e-12:
        raise SystemExit(f"{what}: relative error {error}")


def free() -> None:
    """Give the memory pool back between matrices."""
    cp.get_default_memory_pool().free_all_blocks()
