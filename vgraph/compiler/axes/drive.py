"""`drive`: every vertex looked at, or a queue of active ones."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.axes.per_round import both_directions, both_drives, may_lack_arcs
from vgraph.schedule import Drive

_WHEN: Final = "a queue, or a bitmap in rounds with more than 1/policy.queue_share of all vertices"


def choose(c: Choice, asked: Drive | None) -> Drive:
    """DATA wherever there is a frontier: only its vertices have anything new."""
    if c.apply.frontier is None:
        if asked is Drive.DATA:
            c.refuse("it applies to the whole graph", way_out="pass a frontier to it")
        found, reason = Drive.TOPOLOGY, "no frontier is given, so everything is visited"
    elif asked is not None:
        found, reason = asked, "asked for"
    elif both_directions(c):
        push = _WHEN if may_lack_arcs(c.at) else "a queue"
        found, reason = Drive.AUTO, f"a push takes {push}, a pull looks at every vertex that is still open"
    elif both_drives(c):
        found, reason = Drive.AUTO, _WHEN
    else:
        found, reason = Drive.DATA, "only the frontier's vertices have anything new"
    c.because(found, reason)
    return found
