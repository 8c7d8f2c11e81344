"""`balance`: how a loop's work is cut for threads."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.schedule import VERTEX, Balance


def choose_balance(c: Choice) -> Balance:
    """By vertex."""
    found = c.only("balance", VERTEX, "only chunks of vertices exist")
    assert isinstance(found, Balance)
    return found
