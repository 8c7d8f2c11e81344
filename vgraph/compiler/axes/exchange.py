"""`exchange`: what members of a set of devices tell each other about a round."""

from __future__ import annotations

from vgraph.compiler.analysis.effects import Role, WriteClass, any_order_obstacle
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.axes.per_round import both_exchanges
from vgraph.compiler.obstacle import Obstacle
from vgraph.schedule import (
    APPLY_SCATTER,
    BASE,
    COMBINE,
    DELAYED,
    FREE,
    GATHER_APPLY,
    LOCAL,
    PULL,
    PUSH,
    UNORDERED,
    Exchange,
)


def choose(c: Choice, asked: Exchange | None) -> Exchange:
    """On a set of devices BASE for what is pulled, COMBINE for what is pushed, as on one device; else LOCAL.

    DELAYED on deep graphs, where it is legal: two groups of one thread, shortest paths on a grid of 512 x 512, took
    79 ms instead of 1386 (and 63 in buckets on one group of two); on a power-law graph, of few rounds, 31 not 29.
    """
    if not c.context.distributed:
        return LOCAL
    if asked is DELAYED:
        obstacle = c.at.once(_obstacle)
        if obstacle is not None:
            c.refuse(obstacle.reason, obstacle.span, "use exchange=vg.COMBINE or leave it out")
    if c.chosen["conflict"] != FREE:
        if asked not in (None, LOCAL, COMBINE):
            c.refuse(
                "members deal blocks of the matrix among them and hand over columns",
                c.operator.span,
                "leave it out",
            )
        return COMBINE
    if asked not in (None, LOCAL):
        c.because(asked, "asked for")
        return asked
    if asked is None and both_exchanges(c):
        reason = (
            "members pull, and are told who is active, where that is more than 1/policy.set_share of all vertices; "
            "else they push"
        )
        c.because(Exchange.AUTO, reason)
        return Exchange.AUTO
    found, reason = (BASE if _pulls(c) else COMBINE), "as it walks arcs on one device"
    ordered = c.asked("order") not in (None, UNORDERED)
    if (
        found is COMBINE
        and not ordered
        and c.context.facts.deep
        and c.agrees(DELAYED)
        and c.at.once(_obstacle) is None
    ):
        found, reason = DELAYED, "rounds are many and short, and any order of updates ends the same"
    c.because(found, reason)
    return found


def _pulls(c: Choice) -> bool:
    """Whether arcs are walked into vertices: it is asked for, or all of them are and vertices are written."""
    if c.asked("direction") is PULL or c.asked("phases") is GATHER_APPLY:
        return True
    if c.asked("direction") is PUSH or c.asked("phases") is APPLY_SCATTER or c.apply.frontier is not None:
        return False
    at_edges = all(w.role is Role.EDGE for w in c.effects.writes)
    return not at_edges and WriteClass.MERGING not in c.effects.classes()


def _obstacle(at: Traversal) -> Obstacle | None:
    if at.context.cut:
        reason = "others have arcs of a vertex that changes, too, and go on when they are told"
        return Obstacle(reason, at.operator.span)
    found = any_order_obstacle(at.program, at.apply)
    return None if found is None else Obstacle(*found)
