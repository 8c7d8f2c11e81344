"""Why something cannot be done, as resolvers of schedules and transformations of operators tell each other."""

from __future__ import annotations

from typing import NamedTuple

from vgraph.source import Span


class Obstacle(NamedTuple):
    """The reason, the line that forbids it (None: that of the apply), and what to do instead."""

    reason: str
    span: Span | None = None
    way_out: str = "leave it out"


class Blocked(Exception):
    """Leaves a transformation at the first statement that it cannot take."""

    def __init__(self, reason: str, span: Span | None) -> None:
        super().__init__(reason)
        self.obstacle = Obstacle(reason, span)
