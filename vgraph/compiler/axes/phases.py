"""`phases`, `payload` and `pipeline`: one loop, or a producer and a consumer with a buffer between them."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.schedule import Payload, Phases


def choose_phases(c: Choice) -> Phases:
    """FUSED."""
    return Phases(c.only("phases", Phases.FUSED, "only fused phases exist"))


def choose_payload(c: Choice) -> Payload:
    """Meaningful with two phases only."""
    return Payload(c.only("payload", Payload.COMPUTED, "a fused loop has no buffer"))


def choose_pipeline(c: Choice) -> int:
    """Meaningful with two phases only."""
    return int(c.only("pipeline", 0, "a fused loop has no producer and consumer"))
