"""`deduplicate`: whether a push looks if the vertex is in the frontier already."""

from __future__ import annotations

from vgraph.compiler.analysis.effects import WriteClass
from vgraph.compiler.analysis.searches import claims_once
from vgraph.compiler.axes.base import Choice
from vgraph.schedule import Direction


def choose(c: Choice, asked: bool | None) -> bool:
    """Needed where a vertex may change several times in a round: a frontier is a set."""
    pushes = c.is_edge and c.apply.out is not None and c.chosen["direction"] is not Direction.PULL
    several = pushes and (
        c.effects.classes() != {WriteClass.CLAIMING}
        or c.chosen["hops"] > 1
        or not claims_once(c.program, c.operator)
    )
    if asked and not pushes:
        c.refuse("no vertex can enter a frontier twice here")
    if asked is False and several:
        reason = "a vertex may change several times in a round, and a frontier is a set"
        update = next((w for w in c.effects.writes if w.kind is not WriteClass.CLAIMING), None)
        c.refuse(reason, update.span if update else c.operator.span)
    return several or bool(asked)
