"""What an order and a conflict schedule need of the other axes, which are at rest beside them but for a few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from vgraph.schedule.names import *
from vgraph.schedule.record import Axis, Need, spelled
from vgraph.schedule.values import *

_IN_BUCKETS: Final[Mapping[str, object]] = {
    "drive": DATA,
    "phases": FUSED,
    "direction": PUSH,
    "frontier": SPARSE,
    "sync": ASYNC,
    "deduplicate": False,
}
"""What the other axes are wherever there is an order, as buckets are the queue and updates are seen at once; all that
are not named are at rest."""


def of_an_order(axes: Mapping[str, Axis]) -> tuple[Need, ...]:
    """The needs of `order`. Where a bucket is a queue of its own, as on GPUs, its loop can be balanced, and what no CPU
    has is free."""
    reason = "vertices taken by priority stand in buckets, which is always {}={}"
    found = []
    for name in axes:
        value = _IN_BUCKETS.get(name, axes[name].rest)
        if name not in ("order", "tiles") and axes[name].lack(None, "cpu") is None:
            assert value is not None, f"what is {name} where there is an order?"
            why, on = reason.format(name, spelled(value)), "cpu" if name == "balance" else None
            found.append(Need(name, (value,), why, "leave it out, or leave the order out", on=on))
    whole = "a heap has all vertices in one order, so no tile can go on alone"
    return (*found, Need("tiles", (0,), whole, "use order=vg.delta_stepping() or leave it out", of=(STRICT,)))


_ALONE: Final[Mapping[str, object]] = {"direction": PUSH, "phases": FUSED}
"""What the other axes are wherever activations exclude each other: each arc is visited once, in one loop. Which
vertices are active, the frontier that comes out, and the balance of a loop with locks are free; others are at rest."""
_BY_PLAN: Final[Mapping[str, object]] = {"drive": TOPOLOGY, "balance": VERTEX}
"""What they are where arcs are taken in the order of a plan, too."""


def of_a_conflict(axes: Mapping[str, Axis]) -> tuple[Need, ...]:
    """The needs of `conflict`, but that of no order, which is one of `order`'s."""
    reason, way_out = "activations that exclude each other have {}={}", "leave it out"
    rest = {name: axis.rest for name, axis in axes.items() if axis.rest is not None}
    planned = tuple(map(Conflict, (*PLANNED, "blocked_diagonals", "dealt_blocks", "even_blocks")))
    found = [
        Need(
            name,
            (value,),
            reason.format(name, spelled(value)),
            way_out,
            on="cuda" if name == "balance" else None,
        )
        for name, value in {**rest, **_ALONE}.items()
        if name not in ("conflict", "order", "exchange", "volume")
    ]
    by_plan = "a plan says which arcs come next, which is {}={}"
    for name, value in _BY_PLAN.items():
        found.append(Need(name, (value,), by_plan.format(name, spelled(value)), way_out, of=planned))
    return tuple(found)
