"""`segments`, `prefetch` and `vectorize`: what makes a loop over arcs kinder to caches."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice


def choose_segments(c: Choice) -> int:
    """One segment: the graph as it is."""
    return int(c.only("segments", 1, "only whole graphs are walked"))


def choose_prefetch(c: Choice) -> int:
    """None."""
    return int(c.only("prefetch", 0, "nothing is fetched ahead"))


def choose_vectorize(c: Choice) -> bool:
    """No."""
    return bool(c.only("vectorize", False, "arcs are walked one by one"))
