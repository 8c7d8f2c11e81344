"""`exchange`: what members of a set of devices tell each other about a round."""

from __future__ import annotations

from vgraph.compiler.analysis.effects import Role, WriteClass, any_order_obstacle
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.obstacle import Obstacle
from vgraph.schedule import APPLY_SCATTER, BASE, COMBINE, DELAYED, GATHER_APPLY, LOCAL, PULL, PUSH, Exchange


def choose(c: Choice, asked: Exchange | None) -> Exchange:
    """On a set of devices BASE for what is pulled, COMBINE for what is pushed, as on one device; else LOCAL."""
    if not c.context.distributed:
        return LOCAL
    if asked is DELAYED:
        obstacle = c.at.once(_obstacle)
        if obstacle is not None:
            c.refuse(obstacle.reason, obstacle.span, "use exchange=vg.COMBINE or leave it out")
    found = asked if asked not in (None, LOCAL) else BASE if _pulls(c) else COMBINE
    assert found is not None
    c.because(found, "asked for" if asked is found else "as it walks arcs on one device")
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
    found = any_order_obstacle(at.program, at.apply)
    return None if found is None else Obstacle(*found)
