"""`hops`: how often a block goes on alone with what it finds before the barrier of the grid."""

from __future__ import annotations

from vgraph.compiler.analysis.effects import WriteClass, any_order_obstacle
from vgraph.compiler.analysis.searches import search
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import BOOL
from vgraph.schedule import UNORDERED

HOPS, IN_BUCKETS = 48, 24
"""Chosen where searches are deep, without an order and inside a bucket."""


def choose(c: Choice, asked: int | None) -> int:
    """Several where searches take many rounds of few vertices, whose barriers cost more than what is done twice.

    Measured on an H200, road grid of 2048 x 2048: a search 15.6 ms with 1, 7.4 with 8, 6.2 with 24, 5.9 with 48;
    shortest paths 35.6, 11.7 with 8, 9.4 with 24; labels of components in buckets 31.0, 13.0 with 16; without an order
    they were overwritten so often that 24 took 243 ms.
    """
    if asked == 1 or (asked is None and not c.context.facts.deep):
        return 1
    obstacle = c.at.once(_obstacle)
    if asked is not None and obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span, "use hops=1 or leave it out")
    if asked is not None:
        c.because(asked, "asked for")
        return asked
    queued = c.chosen["order"] == UNORDERED  # then a vertex may be queued twice in a round, and must not
    found = HOPS if queued else IN_BUCKETS
    free = c.agrees(found) and not (queued and c.asked("deduplicate") is False)
    if obstacle is not None or not free or (queued and not c.at.once(_once)):
        return 1
    c.because(
        found, "rounds are many and short: a block goes on with what it finds before it waits for the others"
    )
    return found


def _once(at: Traversal) -> bool:
    """Whether vertices are reached, no more: what comes from different sides is not overwritten again and again."""
    flags = all(at.program.property(name).type == BOOL for name in at.effects.written)
    return flags or at.effects.classes() == {WriteClass.CLAIMING}


def _obstacle(at: Traversal) -> Obstacle | None:
    """Why updates may not be seen and passed on in the same round; None if they may."""
    if at.effects.classes() == {WriteClass.CLAIMING}:
        found = search(at.program, at.apply)
        return found if isinstance(found, Obstacle) else None
    blocked = any_order_obstacle(at.program, at.apply)
    return None if blocked is None else Obstacle(*blocked)
