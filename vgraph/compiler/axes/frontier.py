"""`frontier`: the layout of the frontier that a round gives."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.schedule import Direction, Drive, FrontierLayout


def choose(c: Choice, asked: FrontierLayout | None) -> FrontierLayout:
    """BITMAP where membership is asked for, else a queue."""
    if c.apply.frontier is None and c.apply.out is None:
        if asked is not None:
            c.refuse("it neither takes nor gives a frontier")
        return FrontierLayout.SPARSE
    if asked is not None:
        c.because(asked, "asked for")
        return asked
    if c.chosen["drive"] is Drive.AUTO:
        c.because(FrontierLayout.AUTO, "each round fills what it takes: a queue or a bitmap")
        return FrontierLayout.AUTO
    pulls = c.chosen["direction"] is Direction.PULL and c.is_edge
    if pulls or c.chosen["drive"] is Drive.TOPOLOGY:
        return FrontierLayout.BITMAP
    return FrontierLayout.SPARSE
