"""What a device can do: what the resolvers of schedules, the passes and the tests read."""

from __future__ import annotations

from typing import Final

from vgraph.records import dataclass


@dataclass(frozen=True)
class Abilities:
    """The abilities of a device.

    Which schedules it takes stands in the records of the axes. `warps`: threads come in warps, whose lanes can share
    the arcs of a vertex. `copies`: so few threads that each may have a copy of a vertex property of its own.
    `externals`: its backend compiles functions of Numba's. `wide_globals`: its threads fold globals of 128 bits.
    `own_sizes`: each block keeps the sizes of frontiers and lists for itself, so no other changes what it reads.
    """

    device: str
    warps: bool
    copies: bool
    externals: bool
    wide_globals: bool
    own_sizes: bool


CPU: Final = Abilities("cpu", warps=False, copies=True, externals=True, wide_globals=True, own_sizes=False)
CPU_SET: Final = Abilities(
    "set", warps=False, copies=True, externals=True, wide_globals=True, own_sizes=False
)
"""Each of several groups of CPU threads that run a program together."""
CUDA: Final = Abilities("cuda", warps=True, copies=False, externals=True, wide_globals=False, own_sizes=True)
