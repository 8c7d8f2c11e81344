"""`direction`: along the arcs from the active vertices, or against them into every vertex."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.effects import WriteClass
from vgraph.schedule import Direction


def choose_direction(c: Choice) -> Direction:
    """PUSH from a frontier, PULL where all arcs are walked."""
    asked = c.asked("direction")
    if not c.is_edge:
        if asked is Direction.PUSH:
            reason = "a vertex operator runs at the vertex that it writes"
            c.illegal("direction=PUSH", reason, "leave the direction out", c.operator.span)
        return Direction.PULL
    if asked is not None:
        c.because("direction", asked, "asked for")
        return Direction(asked)
    if c.apply.frontier is not None or WriteClass.MERGING in c.effects.classes():
        c.because("direction", Direction.PUSH, "only arcs that leave the frontier are walked")
        return Direction.PUSH
    c.because(
        "direction", Direction.PULL, "all arcs are walked, and each vertex is written once, without atomics"
    )
    return Direction.PULL
