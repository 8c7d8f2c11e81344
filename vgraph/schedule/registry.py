"""The options of schedules by name: vgraph's axes, and the options that passes of the user's have brought along."""

from __future__ import annotations

from collections.abc import Callable

from vgraph.errors import ScheduleError
from vgraph.schedule.axes import AXES
from vgraph.schedule.record import Axis, Words, is_finite, read_value

_USER_AXES: dict[str, Axis] = {}


def register_option(name: str, accepts: Callable[[object], bool], meant: str) -> None:
    """Let schedules carry option `name`, which belongs to a pass of the user's; `meant` completes "name=x is not ...".

    Values are ints, finite floats, bools or strings. Raises ScheduleError if the name is one of vgraph's own.
    """
    if name in AXES:
        raise ScheduleError(f"{name!r} is an option of vgraph's own")
    if not name.isidentifier():
        raise ScheduleError(f"{name!r} cannot be an option: an option has a name as Python's names are")

    def check(value: object) -> bool:
        return (isinstance(value, bool | int | str) or is_finite(value)) and accepts(value)

    _USER_AXES[name] = Axis(name, Words(None, check, meant, read_value))


def unregister_option(name: str) -> None:
    """Take back `register_option`; nothing happens if there is no such option."""
    _USER_AXES.pop(name, None)


def options() -> dict[str, Axis]:
    """All options by name: vgraph's own, and those of the user's passes."""
    return {**AXES, **_USER_AXES}


def axis(name: str) -> Axis:
    """The axis called `name`. Raises ScheduleError."""
    found = AXES.get(name) or _USER_AXES.get(name)
    if found is None:
        from difflib import get_close_matches

        known = list(options())
        meant = "".join(f" (did you mean {n!r}?)" for n in get_close_matches(name, known, 1))
        raise ScheduleError(f"unknown schedule option {name!r}{meant}; the options are {', '.join(known)}")
    return found


__all__ = ["axis", "options", "register_option", "unregister_option"]
