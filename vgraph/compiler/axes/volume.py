"""`volume`: whether members of a set of devices tell each other all values of a property, or those that changed."""

from __future__ import annotations

from vgraph.compiler.analysis.effects import Role
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.obstacle import Obstacle
from vgraph.schedule import CHANGED, DENSE, Volume


def choose(c: Choice, asked: Volume | None) -> Volume:
    """AUTO, which is chosen per round, where it is known at which vertices values change; else DENSE."""
    if not c.context.distributed:
        return DENSE
    obstacle = c.at.once(_unknown)
    if asked is CHANGED and obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span, "use volume=vg.DENSE or leave it out")
    if asked is not None:
        c.because(asked, "asked for")
        return asked
    if obstacle is not None:
        c.because(DENSE, obstacle.reason)
        return DENSE
    c.because(Volume.AUTO, "each member tells what has changed where that is much less than all")
    return Volume.AUTO


def _unknown(at: Traversal) -> Obstacle | None:
    """Why it is not known where an apply changes values: an edge operator's frontier tells where they do at targets,
    that of a vertex operator whose vertices they are."""
    apply, own = at.apply, Role.DST if at.is_edge else Role.OWN
    elsewhere = next((w for w in at.effects.writes if w.role is not own), None)
    if elsewhere is not None:
        return Obstacle("it writes where no frontier tells what has changed", elsewhere.span)
    if (apply.out if at.is_edge else apply.frontier) is None:
        what = "gives" if at.is_edge else "takes"
        return Obstacle(f"it {what} no frontier, so anything may have changed", apply.span)
    if not at.is_edge and apply.out == apply.frontier:
        return Obstacle("the frontier that it takes is gone when it has ended", apply.span)
    return None
