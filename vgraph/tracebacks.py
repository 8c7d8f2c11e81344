"""What an error of the user's shows when it leaves vgraph: the user's own frames, and none of ours.

`public` goes on every function and class that a user calls. Bugs of vgraph's (`InternalError`, failed assertions) keep
all frames, and so does everything under the knob `all_frames`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, TracebackType
from typing import Any, Final, TypeVar

from vgraph.config import knobs
from vgraph.errors import InternalError, VGraphError

T = TypeVar("T", bound=Callable[..., Any])

_OURS: Final = frozenset({"vgraph", *sys.stdlib_module_names})
"""Packages whose frames tell a user nothing: vgraph, and what it calls itself through."""


def public(entry: T) -> T:
    """Let a user's errors leave a function, or the public methods of a class, with the user's frames only."""
    if not isinstance(entry, type):
        return _door(entry)
    getattr(entry, "__init__", None)  # that of a record is made when it is asked for
    for name, member in list(vars(entry).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(member, FunctionType):
            setattr(entry, name, _door(member))
        elif isinstance(member, (classmethod, staticmethod)):
            setattr(entry, name, type(member)(_door(member.__func__)))
    return entry


def _door(function: T) -> T:
    @functools.wraps(function)
    def door(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except VGraphError as error:
            if not isinstance(error, InternalError) and not knobs().all_frames:
                trim(error)
            raise  # without a name: that adds no frame of this function's

    return door  # type: ignore[return-value]


def trim(error: BaseException) -> None:
    """Leave the user's frames of an error and of those that it is chained to; hide one that was ours alone."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _without_ours(error.__traceback__)
        before = error.__cause__ or error.__context__
        if before is None:
            return
        if error.__cause__ is None and _without_ours(before.__traceback__) is None:
            error.__suppress_context__ = True
        error = before


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    frames: list[TracebackType] = []
    while traceback is not None:
        if str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0] not in _OURS:
            frames.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for frame in reversed(frames):
        kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept
