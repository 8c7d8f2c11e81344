"""Why something cannot be done, as resolvers of schedules and transformations of operators tell each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

from vgraph.source import Span

_P = ParamSpec("_P")
_T = TypeVar("_T")


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


def or_obstacle(find: Callable[_P, _T]) -> Callable[_P, _T | Obstacle]:
    """`find`, which gives the obstacle where it would raise Blocked."""

    @wraps(find)
    def found(*args: _P.args, **how: _P.kwargs) -> _T | Obstacle:
        try:
            return find(*args, **how)
        except Blocked as blocked:
            return blocked.obstacle

    return found
