"""`deduplicate`: whether a push looks if the vertex is in the frontier already."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.effects import WriteClass
from vgraph.schedule import Direction


def choose_deduplicate(c: Choice) -> bool:
    """Needed where a vertex may change several times in a round: a frontier is a set."""
    asked = c.asked("deduplicate")
    pushes = c.is_edge and c.apply.out is not None and c.chosen["direction"] is not Direction.PULL
    several = pushes and c.effects.classes() != {WriteClass.CLAIMING}
    if asked and not pushes:
        c.illegal("deduplicate=True", "no vertex can enter a frontier twice here", "leave it out")
    if asked is False and several:
        reason = "a vertex may change several times in a round, and a frontier is a set"
        update = next((w for w in c.effects.writes if w.kind is not WriteClass.CLAIMING), None)
        c.illegal("deduplicate=False", reason, "leave it out", update.span if update else c.operator.span)
    return several or bool(asked)
