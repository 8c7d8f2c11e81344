"""Schedules as a user asks for them: frozen values, options by label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, make_dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from vgraph.cache import key_text
from vgraph.records import dataclass
from vgraph.schedule.axes import AXES, ApplySchedule
from vgraph.schedule.record import show, show_value
from vgraph.schedule.registry import axis
from vgraph.tracebacks import public

_AUTO: Final = [(a.name, a.auto) for a in AXES.values()]
_Asked: Any = make_dataclass("_Asked", [(name, Any, auto) for name, auto in _AUTO])
_UNSAID: Final = {a.name: a.rest for a in AXES.values() if a.rest is not None and a.unsaid}


@dataclass(frozen=True)
class Options(_Asked):  # type: ignore[misc]
    """What a user asks for at one label: an attribute for each axis, which is the axis's `auto` where it is left out.

    `extra` holds the options that belong to passes of the user's, sorted.
    """

    extra: tuple[tuple[str, Any], ...] = ()

    def given(self) -> dict[str, object]:
        """The options that are asked for, by name."""
        own = {name: value for name, auto in _AUTO if (value := getattr(self, name)) != auto}
        return own | dict(self.extra)

    def __str__(self) -> str:
        """What is given, as text; where every axis is settled, without what goes without saying."""
        given = self.given()
        if given.keys() >= _UNSAID.keys():
            given = {k: v for k, v in given.items() if k not in _UNSAID or v != _UNSAID[k]}
            left = {k: getattr(self, k) for k in ("direction", "drive") if k not in given}
            given = left | given
        return text_of(given)

    def to_json(self) -> dict[str, Any]:
        """What is given, as `from_json` takes it."""
        return {k: show(v) if k in AXES else v for k, v in self.given().items()}

    @staticmethod
    def from_json(row: Mapping[str, Any]) -> Options:
        """The inverse of `to_json`; KeyError or ValueError on other data."""
        own: dict[str, Any] = {k: AXES[k].read(v) for k, v in row.items() if k in AXES}
        return Options(**own, extra=tuple(sorted((k, v) for k, v in row.items() if k not in AXES)))

    @staticmethod
    def of(chosen: ApplySchedule, frontier: bool) -> Options:
        """What asks for a resolved schedule, without what means nothing: the layout where there is no `frontier`."""
        own: dict[str, Any] = {name: getattr(chosen, name) for name in AXES}
        for a in AXES.values():
            idle = not a.unsaid and any(own[need.axis] not in need.values for need in a.needs)
            if idle or (a.name == "frontier" and not frontier):
                own[a.name] = a.auto
        return Options(**own, extra=chosen.extra)


def text_of(given: Mapping[str, object]) -> str:
    """Options as the command line takes them: `direction=push, order=delta(64)`."""
    return ", ".join(f"{k}={show(v) if k in AXES else show_value(v)}" for k, v in given.items()) or "auto"


@public
@dataclass(frozen=True)
class Schedule:
    """A performance plan: `Schedule().at("relax", direction=vg.PUSH, drive=vg.DATA)`.

    `labels` maps each label to its `Options`. The value is immutable; `at` returns a new one.
    """

    labels: Mapping[str, Options] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))

    def __hash__(self) -> int:
        return hash(tuple(sorted((k, key_text(v)) for k, v in self.labels.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and dict(self.labels) == dict(other.labels)

    def __reduce__(self) -> tuple[type[Schedule], tuple[dict[str, Options]]]:
        return Schedule, (dict(self.labels),)

    def at(self, label: str, **options: object) -> Schedule:
        """A schedule with `options` set for `label` (a traversal's label: by default its operator's name).

        Options: {axes}, each also AUTO; and those of the user's own passes.
        Raises ScheduleError for an unknown option or a value of the wrong kind; that the label exists and the choice is
        legal is checked where the program is compiled.
        """
        checked = {name: axis(name).check(value) for name, value in options.items()}
        before = self.labels.get(label, Options())
        extra = dict(before.extra) | {k: v for k, v in checked.items() if k not in AXES}
        kept = tuple(sorted((k, v) for k, v in extra.items() if v is not None))
        own: dict[str, Any] = {k: v for k, v in checked.items() if k in AXES}
        return Schedule({**self.labels, label: replace(before, **own, extra=kept)})

    def __str__(self) -> str:
        """A line per label, as the command line takes it: `relax: direction=push, order=delta(64)`."""
        rows = [f"{label}: {options}" for label, options in self.labels.items()]
        return "\n".join(rows) or "auto"


_LISTED: Final = ", ".join(f"{a.name} ({a.words.takes})" for a in AXES.values())
Schedule.at.__doc__ = (Schedule.at.__doc__ or "").replace("{axes}", _LISTED)

__all__ = ["Options", "Schedule", "text_of"]
