"""What a device can do: what the resolvers of schedules, the passes and the tests read."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from vgraph.records import dataclass


@dataclass(frozen=True)
class Abilities:
    """The abilities of a device.

    Which schedules it takes stands in the records of the axes. `warps`: threads come in warps, whose lanes can share
    the arcs of a vertex. `copies`: so few threads that each may have a copy of a vertex property of its own.
    `externals`: its backend compiles functions of Numba's. `wide_globals`: its threads fold globals of 128 bits.
    `own_sizes`: each block keeps the sizes of frontiers and lists for itself, so no other changes what it reads.
    `distributed`: it is one of several members of a set, each with a part of the graph.
    """

    device: str
    warps: bool
    copies: bool
    externals: bool
    wide_globals: bool
    own_sizes: bool
    distributed: bool = False


CPU: Final = Abilities("cpu", warps=False, copies=True, externals=True, wide_globals=True, own_sizes=False)
CUDA: Final = Abilities("cuda", warps=True, copies=False, externals=True, wide_globals=False, own_sizes=True)
CPU_SET: Final = replace(CPU, device="set", distributed=True)
"""Each of several groups of CPU threads that run a program together."""
CUDA_SET: Final = replace(CUDA, device="cuda set", distributed=True)
"""Each of several GPUs that do."""
OF_SETS: Final = {CPU: CPU_SET, CUDA: CUDA_SET}
"""Of members of a set of one kind of device; `ALONE` is the inverse."""
ALONE: Final = {of_set: one for one, of_set in OF_SETS.items()}
