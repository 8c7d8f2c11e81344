"""`conflict`: how activations that write both ends of their edges are kept from meeting at a vertex."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.axes.base import Choice
from vgraph.refusals.schedules import NoExclusiveEdges
from vgraph.schedule import EDGE_LOCKED, FREE, SEQUENTIAL, Conflict, spelled

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
    chosen = asked or _by_default(c)
    if asked is None and (c.context.abilities.warps or c.axis.lack(chosen, c.device)):
        several = [v for v in c.axis.candidates if v != FREE and c.axis.lack(v, c.device) is None]
        ask = f"ask for conflict={spelled(several[0], 'vg.')} or for a plan, or " if several else ""
        raise NoExclusiveEdges(write.span, c.device, c.operator.name, f'{ask}use device="cpu"')
    if c.context.deterministic and not chosen.key:
        c.refuse("deterministic=True: which edge comes first depends on the threads", write.span, _WAY_OUT)
    c.because(chosen, "asked for" if asked else _BECAUSE[chosen])
    return chosen


_BECAUSE: Final = {
    SEQUENTIAL: "deterministic=True: one after the other, in the order of the user's edges",
    EDGE_LOCKED: "a lock costs less than a barrier, of which a plan has one for each arc at the vertex with the most",
}


def _by_default(c: Choice) -> Conflict:
    """Locks. A plan takes d_max * (p + b) at the least, locks d_max * (p + l) + b / f, where p is the time of an
    activation, b of a barrier, l of a lock, d_max the most arcs at a vertex, and f the part of them that get their turn
    in a pass (Kaleem 2016, section 4.6). On CPUs b is a microsecond and more, l some 15 ns, and f near 1; and rows are
    walked as they lie in memory.
    """
    return SEQUENTIAL if c.context.deterministic else EDGE_LOCKED
