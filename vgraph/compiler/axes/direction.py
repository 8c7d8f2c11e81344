"""`direction`: along the arcs from the active vertices, or against them into every vertex."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.axes.per_round import both_directions, claims, may_lack_arcs
from vgraph.compiler.axes.phases import FORMS
from vgraph.compiler.effects import WriteClass
from vgraph.schedule import Direction, spelled

_WHEN: Final = (
    "each round pushes or pulls; it turns to pulling when the frontier grows and its arcs are more than "
    "1/policy.pull_share of those into vertices not yet claimed, and back when the frontier shrinks below "
    "1/policy.push_share of all vertices"
)
_WHEN_GUARDED: Final = (
    "each round pushes or pulls into vertices whose guard is open; it pulls when the arcs of the frontier are more "
    "than 1/policy.gather_share of those not yet walked"
)


def choose_direction(c: Choice) -> Direction:
    """PUSH from a frontier, PULL where all arcs are walked, AUTO where the better one changes with the round."""
    asked = c.asked("direction")
    if not c.is_edge:
        if asked is Direction.PUSH:
            reason = "a vertex operator runs at the vertex that it writes"
            c.illegal("direction=PUSH", reason, "leave the direction out", c.operator.span)
        return Direction.PULL
    form = FORMS.get(c.chosen["phases"])
    if form is not None:
        if asked not in (None, form):
            walk = "along in-arcs" if form is Direction.PULL else "along out-arcs"
            reason = (
                f"{c.chosen['phases'].value.replace('_', '-')} walks {walk}: its direction is {form.name}"
            )
            c.illegal(f"direction={spelled(asked)}", reason, "leave out one of direction and phases")
        c.because("direction", form, f"the direction of {c.chosen['phases'].value.replace('_', '-')}")
        return form
    if asked is not None:
        c.because("direction", asked, "asked for")
        return Direction(asked)
    if both_directions(c):
        once = "; none pulls before the transpose of the graph has been built" if may_lack_arcs(c) else ""
        c.because("direction", Direction.AUTO, (_WHEN if claims(c) else _WHEN_GUARDED) + once)
        return Direction.AUTO
    if c.apply.frontier is not None or WriteClass.MERGING in c.effects.classes():
        c.because("direction", Direction.PUSH, "only arcs that leave the frontier are walked")
        return Direction.PUSH
    c.because(
        "direction", Direction.PULL, "all arcs are walked, and each vertex is written once, without atomics"
    )
    return Direction.PULL
