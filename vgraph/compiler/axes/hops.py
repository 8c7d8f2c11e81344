"""`hops`: how often a block goes on alone with what it finds before the barrier of the grid."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.cascades import cascade
from vgraph.compiler.analysis.effects import WriteClass, any_order_obstacle
from vgraph.compiler.analysis.searches import search
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import BOOL
from vgraph.schedule import UNORDERED

HOPS: Final = 64
"""Chosen where searches are deep. Measured on an H200, road grid of 2048 x 2048: a search 15.3 ms with 1, 4.41 with 48,
4.36 with 64, 4.40 with 96; shortest paths 34.4, 7.3 with 24 and 32, 6.6 with 48, 6.5 with 64; labels of components in
buckets 31.0, 10.1 with 24, 9.7 with 48; without an order they were overwritten so often that 24 took 243."""

CLAIMED: Final = 32
"""The same for searches. On an H200, ms, medians of five sources, with 16, 24, 32, 40, 48 and 64: USA-road-FLA 2.32,
2.21, 2.19, 2.27, 2.30, 2.54, USA-road-NY 0.72, 0.68, 0.68, 0.70, 0.72, 0.82, a road grid of 1024 x 1024 2.18, 2.04,
1.98, 1.94, 1.94, 1.92."""

PEELED: Final = 16
"""Chosen for cascades on large graphs. Core numbers on an H200, ms without, with 16 and with 64 (8 lanes a part): R-MAT
of scale 22 15.5, 13.1 and 13.2, of scale 18 5.64, 4.48 and 4.51; without and with 16 scale 14 1.87 and 1.38, a road
grid of 2048 x 2048 3.78 and 1.92."""


def choose(c: Choice, asked: int | None) -> int:
    """Several where searches take many rounds of few vertices, whose barriers cost more than what is done twice."""
    if peels(c) and c.agrees(PEELED):
        c.because(
            PEELED,
            "a block takes what is left with little, and goes on with it before it waits for the others",
        )
        return PEELED
    if asked == 1 or (asked is None and not c.context.facts.deep):
        return 1
    obstacle = c.at.once(hops_obstacle)
    if asked is not None and obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span, "use hops=1 or leave it out")
    if asked is not None:
        c.because(asked, "asked for")
        return asked
    queued = c.chosen["order"] == UNORDERED  # then a vertex may be queued twice in a round, and must not
    hops = CLAIMED if c.effects.classes() == {WriteClass.CLAIMING} else HOPS
    free = c.agrees(hops) and not (queued and c.asked("deduplicate") is False)
    if obstacle is not None or not free or (queued and not c.at.once(_once)):
        return 1
    c.because(
        hops, "rounds are many and short: a block goes on with what it finds before it waits for the others"
    )
    return hops


def peels(c: Choice) -> bool:
    """Whether blocks take unasked what an update makes pass a filter: not where all pass it together."""
    alone = c.context.abilities.warps and not c.context.distributed
    facts = c.context.facts
    if not alone or not facts.large or facts.long_rounds or c.asked("hops") is not None:
        return False
    return isinstance(c.apply, ir.EdgeApply) and c.apply.only is not None and c.at.once(hops_obstacle) is None


def _once(at: Traversal) -> bool:
    """Whether vertices are reached, no more: what comes from different sides is not overwritten again and again."""
    flags = all(at.program.property(name).type == BOOL for name in at.effects.written)
    return flags or at.effects.classes() == {WriteClass.CLAIMING}


def hops_obstacle(at: Traversal) -> Obstacle | None:
    """Why a block may not go on with what an update changes; what a filter takes it may, in a cascade."""
    if isinstance(at.apply, ir.EdgeApply) and at.apply.only:
        if at.context.deterministic:
            return Obstacle(
                "deterministic=True: in which order vertices are taken would vary", at.operator.span
            )
        found = cascade(at.program, at.apply)
        return found if isinstance(found, Obstacle) else None
    return out_of_rounds(at)


def out_of_rounds(at: Traversal) -> Obstacle | None:
    """Why updates may not be seen and passed on in the same round; None if they may."""
    if at.effects.classes() == {WriteClass.CLAIMING}:
        return no_search(at)
    blocked = any_order_obstacle(at.program, at.apply)
    return None if blocked is None else Obstacle(*blocked)


def no_search(at: Traversal) -> Obstacle | None:
    """Why an operator that claims is not that of a search, whose vertices may be found in any order."""
    found = search(at.program, at.apply)
    return found if isinstance(found, Obstacle) else None
