"""`parts`: the arcs of a pull by the parts of an edge partition, part after part."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice


def choose(c: Choice, asked: int | str | None) -> int | str:
    """None, unless asked for: the partition takes as long as hundreds of rounds."""
    if asked:
        c.because(asked, "asked for; it pays where few vertices have edges in several parts, in their order")
    return asked or 0
