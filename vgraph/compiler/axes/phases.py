"""`phases`: one loop, or a producer and a consumer with a buffer between them."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.axes.payload import undivided
from vgraph.schedule import FUSED, GATHER_APPLY, Payload, Phases


def choose(c: Choice, asked: Phases | None) -> Phases:
    """FUSED, unless two phases are asked for."""
    if asked in (None, FUSED):
        return FUSED
    if not c.is_edge:
        c.refuse(
            "a vertex operator writes its own vertex: there are no arcs between two phases", c.operator.span
        )
    arcs = asked is GATHER_APPLY
    found = [c.at.once(undivided(p, arcs)) for p in (Payload.COMPUTED, Payload.RAW)]
    if found[0] is not None and found[1] is not None:
        c.refuse(found[0].reason, found[0].span, "use phases=vg.FUSED or leave it out")
    c.because(asked, "asked for")
    return asked
