"""What a device can do: the table that the resolvers of schedules, the passes and the tests read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Abilities:
    """The abilities of a device.

    `balances`, `orders`: the kinds of load balance and of order that its backend emits. `pipelines`: a producer and a
    consumer at the same time. `hints`: `prefetch` and `vectorize` mean something. `copies`: so few threads that
    each may have a copy of a vertex property of its own. `externals`: its backend compiles functions of Numba's.
    """

    device: str
    balances: frozenset[str]
    orders: frozenset[str]
    pipelines: bool
    hints: bool
    copies: bool
    externals: bool

    @property
    def warps(self) -> bool:
        """Whether threads come in warps, whose lanes can share the arcs of a vertex."""
        return "warp" in self.balances


CPU: Final = Abilities(
    "cpu",
    balances=frozenset({"vertex", "edge", "split"}),
    orders=frozenset({"unordered", "delta", "strict"}),
    pipelines=True,
    hints=True,
    copies=True,
    externals=True,
)
CUDA: Final = Abilities(
    "cuda",
    balances=frozenset({"vertex", "warp", "block", "twc", "edge", "split"}),
    orders=frozenset({"unordered", "delta"}),
    pipelines=False,
    hints=False,
    copies=False,
    externals=True,
)
