"""`drive`: every vertex looked at, or a queue of active ones."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.axes.per_round import both_directions, both_drives, may_lack_arcs
from vgraph.schedule import Drive

_WHEN: Final = "a queue, or a bitmap in rounds with more than 1/policy.queue_share of all vertices"


def choose_drive(c: Choice) -> Drive:
    """DATA wherever there is a frontier: only its vertices have anything new."""
    asked = c.asked("drive")
    if c.apply.frontier is None:
        if asked is Drive.DATA:
            c.illegal("drive=DATA", "it applies to the whole graph", "pass a frontier to it")
        c.because("drive", Drive.TOPOLOGY, "no frontier is given, so everything is visited")
        return Drive.TOPOLOGY
    if asked is not None:
        c.because("drive", asked, "asked for")
        return Drive(asked)
    if both_directions(c):
        push = _WHEN if may_lack_arcs(c) else "a queue"
        reason = f"a push takes {push}, a pull looks at every vertex that is still open"
        c.because("drive", Drive.AUTO, reason)
        return Drive.AUTO
    if both_drives(c):
        c.because("drive", Drive.AUTO, _WHEN)
        return Drive.AUTO
    c.because("drive", Drive.DATA, "only the frontier's vertices have anything new")
    return Drive.DATA
