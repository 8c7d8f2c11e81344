"""`direction`: along the arcs from the active vertices, or against them into every vertex."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.analysis.effects import Role, WriteClass
from vgraph.compiler.axes.base import Choice
from vgraph.compiler.axes.per_round import both_directions, claims, may_lack_arcs
from vgraph.schedule import Direction, Exchange

_WHEN: Final = (
    "each round pushes or pulls; it turns to pulling when the frontier grows and its arcs are more than "
    "1/policy.pull_share of those into vertices not yet claimed, and back when the frontier shrinks below "
    "1/policy.push_share of all vertices"
)
_WHEN_GUARDED: Final = (
    "each round pushes or pulls into vertices whose guard is open; it pulls when the arcs of the frontier are more "
    "than 1/policy.gather_share of those not yet walked"
)


def choose(c: Choice, asked: Direction | None) -> Direction:
    """PUSH from a frontier, PULL where all arcs are walked, AUTO where the better one changes with the round."""
    if not c.is_edge:
        if asked is Direction.PUSH:
            reason = "a vertex operator runs at the vertex that it writes"
            c.refuse(reason, c.operator.span, "leave the direction out")
        return Direction.PULL
    if asked is not None:
        found, reason = asked, "asked for"
    elif c.chosen["exchange"] is Exchange.AUTO:
        found, reason = Direction.AUTO, "each round pushes or pulls, as its exchange does"
    elif both_directions(c):
        once = "; none pulls before the transpose of the graph has been built" if may_lack_arcs(c.at) else ""
        found, reason = Direction.AUTO, (_WHEN if claims(c.at) else _WHEN_GUARDED) + once
    elif c.apply.frontier is not None or WriteClass.MERGING in c.effects.classes():
        found, reason = Direction.PUSH, "only arcs that leave the frontier are walked"
    elif all(w.role is Role.EDGE for w in c.effects.writes) and c.effects.writes:
        found, reason = (
            Direction.PUSH,
            "only edges are written, which lie in the order of the arcs that leave",
        )
    else:
        found = Direction.PULL
        reason = "all arcs are walked, and each vertex is written once, without atomics"
    c.because(found, reason)
    return found
