"""`frontier`: the layout of the frontier that a round gives."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.schedule import Direction, Drive, FrontierLayout


def choose_frontier(c: Choice) -> FrontierLayout:
    """BITMAP where membership is asked for, else a queue."""
    asked = c.asked("frontier")
    if c.apply.frontier is None and c.apply.out is None:
        if asked is not None:
            reason = "it neither takes nor gives a frontier"
            c.illegal(f"frontier={asked.name}", reason, "leave it out")
        return FrontierLayout.SPARSE
    if asked is not None:
        c.because("frontier", asked, "asked for")
        return FrontierLayout(asked)
    if c.chosen["drive"] is Drive.AUTO:
        c.because("frontier", FrontierLayout.AUTO, "each round fills what it takes: a queue or a bitmap")
        return FrontierLayout.AUTO
    pulls = c.chosen["direction"] is Direction.PULL and c.is_edge
    if pulls or c.chosen["drive"] is Drive.TOPOLOGY:
        return FrontierLayout.BITMAP
    return FrontierLayout.SPARSE
