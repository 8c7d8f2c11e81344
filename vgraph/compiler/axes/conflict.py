"""`conflict`: how activations that write both ends of their edges are kept from meeting at a vertex."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.axes.base import Choice
from vgraph.refusals.schedules import NoExclusiveEdges
from vgraph.schedule import FREE, SEQUENTIAL, Conflict

_WAY_OUT: Final = "use conflict=vg.SEQUENTIAL or leave it out"


def choose(c: Choice, asked: Conflict | None) -> Conflict:
    """FREE where nothing conflicts."""
    write = c.effects.exclusive
    if write is None:
        if asked not in (None, FREE):
            c.refuse("it does not write both ends of its edge: no two activations conflict", c.operator.span)
        return FREE
    assert write.span is not None
    if asked == FREE:
        c.refuse("it writes both ends of its edge, and two edges may meet at a vertex", write.span, _WAY_OUT)
    chosen = asked or SEQUENTIAL
    if c.axis.lack(chosen, c.device) is not None:
        raise NoExclusiveEdges(write.span, c.device, c.operator.name)
    if c.context.deterministic and not chosen.key:
        c.refuse("deterministic=True: which edge comes first depends on the threads", write.span, _WAY_OUT)
    c.because(chosen, "asked for" if asked else "one after the other, in the order of the user's edges")
    return chosen
