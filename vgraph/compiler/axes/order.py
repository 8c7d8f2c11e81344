"""`order`: which active vertices are taken first."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.schedule import UNORDERED, Order


def choose_order(c: Choice) -> Order:
    """UNORDERED."""
    found = c.only("order", UNORDERED, "only unordered execution exists")
    assert isinstance(found, Order)
    return found
