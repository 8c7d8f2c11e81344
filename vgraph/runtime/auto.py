"""`device="auto"`: the CPU, the GPU, or both as a set, whichever took the least time for runs like this one.

The first runs go where the size of the graph, and where it lies, say. Then what else may be faster is tried, twice
each, for a first run copies the graph and makes what it keeps; from then on the fastest is taken, and what is near is
looked at again now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vgraph.records import dataclass
from vgraph.runtime import policy
from vgraph.runtime.devices.cuda.executor import resident_on
from vgraph.runtime.devices.cuda.registry import candidate

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.language.decorators import AlgorithmDef
    from vgraph.runtime.devices.cuda.device import Device
    from vgraph.sharing import Policy

TRIALS: Final = 2
"""Runs after which it is known how long a device takes."""
NEAR: Final = 4.0
"""What took less than so many times as long as the fastest is tried again in the 8th run, the 16th, the 32nd, and so
on: it may have been hindered."""
SHORT: Final = 1e-3
"""Seconds of a run on the CPU below which no GPU is tried: a launch, its barriers and the copies back take as long."""
GAIN: Final = 0.9
"""Both as a set are tried where they could take so much of the time of the faster one, and that is LONG seconds."""
LONG: Final = 0.02


@dataclass(frozen=True)
class Chosen:
    """What was chosen, as `run` takes it, and why; `like`: what runs it is one of, None where there is no choice."""

    device: str | list[str]
    share: Policy | None
    why: str
    like: Hashable = None


def choose(
    algorithm: AlgorithmDef,
    graph: Graph,
    params: Mapping[str, Any],
    divides: Callable[[], bool],
    *,
    only_known: bool,
) -> Chosen:
    """The device of a run. `divides`: whether members of a set can divide its loops; `only_known`: nothing is tried."""
    gpu = candidate()
    if gpu is None:
        return Chosen("cpu", None, "there is no GPU that can be used")
    like = (algorithm.function, *((name, _kind(value)) for name, value in sorted(params.items())))
    seen = policy.seconds_seen(graph, like)
    best = {arm: least for arm, (runs, least) in seen.items() if runs >= TRIALS}
    untried, why = [], ""
    if not best.keys() >= {"cpu", "cuda"} and not best.get("cpu", SHORT) < SHORT:
        usual, why = _usual(graph, gpu)
        untried.append(usual)
        if usual in best and policy.fits_on_gpu(graph, _total(gpu)):
            untried.append({"cpu": "cuda", "cuda": "cpu"}[usual])
    if best.keys() == {"cpu", "cuda"}:
        both = 1 / sum(1 / seconds for seconds in best.values())
        alone = min(best.values())
        if alone >= LONG and both <= GAIN * alone:
            untried.append("set")
            if not divides():
                seen["set"] = TRIALS, np.inf  # so that nobody asks again
                untried.clear()
    tried = [] if only_known and best else [arm for arm in untried if arm not in best]
    if not (tried or only_known):
        tried = _once_more(seen, best)
    arm = tried[0] if tried else min(best, key=best.__getitem__)
    if best:
        shown = ", ".join(
            f"{name} {seconds * 1e3:.3g} ms" for name, seconds in sorted(best.items()) if seconds < np.inf
        )
        why = f"runs like it took: {shown}" + (f"; {arm} is tried" if tried else "")
    if arm == "set":
        from vgraph.sharing import AFFINITY_STEALING  # came nearest to the best ratio: docs/devices.md

        return Chosen(["cpu", "cuda"], AFFINITY_STEALING, why, like)
    return Chosen(arm, None, why, like)


def _once_more(seen: Mapping[str, tuple[int, float]], best: Mapping[str, float]) -> list[str]:
    """The one that was near the fastest, if it is time to try it again."""
    runs, least = 1 + sum(runs for runs, _ in seen.values()), min(best.values())
    again = runs >= 8 and runs & (runs - 1) == 0
    return [arm for arm, taken in sorted(best.items()) if again and least < taken < NEAR * least][:1]


def _kind(value: Any) -> object:
    """What of a parameter runs have in common that take about as long."""
    if isinstance(value, bool | float | str) or value is None:
        return value
    if isinstance(value, int | np.integer):
        return int(value).bit_length()  # a source may be any vertex
    return type(value).__name__, np.shape(value)


def _total(gpu: Device) -> int:
    with gpu.current():
        return gpu.memory()[1]


def _usual(graph: Graph, gpu: Device) -> tuple[str, str]:
    """Where a run goes of which nothing is known."""
    sides = [graph.out, *([graph.in_] if graph.has_transpose else [])]
    resident = resident_on(gpu)
    there = any(resident.has(side.columns) for side in sides)
    least = policy.CUDA_ARCS_THERE if there else policy.CUDA_ARCS
    size = f"{graph.num_arcs:,} arcs{', which are on the GPU' if there else ''}"
    if graph.num_arcs < least:
        return "cpu", f"{size}; a GPU pays from {least:,} on"
    if not policy.fits_on_gpu(graph, _total(gpu)):
        return "cpu", f"{size}; they take more than half of the GPU's memory"
    return "cuda", f"{size}; a GPU pays from {least:,} on"
