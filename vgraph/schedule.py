"""Schedules: how a program runs, apart from what it says.

A `Schedule` is a frozen value addressed by label (the operator's name, or the `label=` of an apply). Every axis that is
left out is AUTO. `ApplySchedule` is its resolved form for one apply, with the reason of every choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from types import MappingProxyType

from vgraph.errors import ScheduleError


class Direction(Enum):
    """Which end of the arcs the loop runs over."""

    PUSH = "push"
    """for v in active: for u in out(v): update u (atomically)."""
    PULL = "pull"
    """for v in vertices: for u in in(v), if u is active: update v, written once."""
    AUTO = "auto"
    """The policy chooses."""


class Phases(Enum):
    """How gathering and applying are split."""

    FUSED = "fused"
    """Read, compute and write in one loop."""
    AUTO = "auto"
    """The policy chooses."""


class Drive(Enum):
    """Who is visited in a round."""

    TOPOLOGY = "topology"
    """for v in vertices: if v is active: ... (no queue is kept)."""
    DATA = "data"
    """for v in queue of active vertices: ..."""
    AUTO = "auto"
    """The policy chooses."""


class FrontierLayout(Enum):
    """How a frontier is stored."""

    SPARSE = "sparse"
    """A queue of vertex ids."""
    BITMAP = "bitmap"
    """One bit per vertex, in 64-bit words."""
    AUTO = "auto"
    """The policy chooses."""


class Sync(Enum):
    """When an update becomes visible to other vertices."""

    BSP = "bsp"
    """At the end of the round: properties both read and written are double-buffered."""
    ASYNC = "async"
    """At once: legal where the fixpoint does not depend on it."""
    AUTO = "auto"
    """The policy chooses."""


PUSH, PULL = Direction.PUSH, Direction.PULL
FUSED = Phases.FUSED
TOPOLOGY, DATA = Drive.TOPOLOGY, Drive.DATA
SPARSE, BITMAP = FrontierLayout.SPARSE, FrontierLayout.BITMAP
BSP, ASYNC = Sync.BSP, Sync.ASYNC


@dataclass(frozen=True)
class Options:
    """What a user asks for at one label; every field may be AUTO."""

    direction: Direction = Direction.AUTO
    phases: Phases = Phases.AUTO
    drive: Drive = Drive.AUTO
    frontier: FrontierLayout = FrontierLayout.AUTO
    sync: Sync = Sync.AUTO
    deduplicate: bool | None = None

    def given(self) -> dict[str, object]:
        """The options that are not AUTO, by name."""
        return {
            f.name: v for f in fields(self) if (v := getattr(self, f.name)) is not None and v not in _AUTO
        }


_AUTO = (Direction.AUTO, Phases.AUTO, Drive.AUTO, FrontierLayout.AUTO, Sync.AUTO)
_AXES: dict[str, type] = {
    "direction": Direction,
    "phases": Phases,
    "drive": Drive,
    "frontier": FrontierLayout,
    "sync": Sync,
    "deduplicate": bool,
}


@dataclass(frozen=True)
class Schedule:
    """A performance plan: `Schedule().at("relax", direction=vg.PUSH, drive=vg.DATA)`.

    `labels` maps each label to its `Options`. The value is immutable; `at` returns a new one.
    """

    labels: Mapping[str, Options] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))

    def __hash__(self) -> int:
        return hash(tuple(sorted((k, repr(v)) for k, v in self.labels.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and dict(self.labels) == dict(other.labels)

    def __reduce__(self) -> tuple[type[Schedule], tuple[dict[str, Options]]]:
        return Schedule, (dict(self.labels),)

    def at(self, label: str, **options: object) -> Schedule:
        """A schedule with `options` set for `label` (a traversal's label: by default its operator's name).

        Options: direction (PUSH, PULL), phases (FUSED), drive (TOPOLOGY, DATA), frontier (SPARSE, BITMAP),
        sync (BSP, ASYNC), deduplicate (bool). Raises ScheduleError for an unknown option or a value of the
        wrong kind; that the label exists and the choice is legal is checked where the program is compiled.
        """
        for name, value in options.items():
            if name not in _AXES:
                raise ScheduleError(f"unknown schedule option {name!r}; the options are {', '.join(_AXES)}")
            if not isinstance(value, _AXES[name]):
                raise ScheduleError(
                    f"{name}={value!r} is not a {_AXES[name].__name__}{_members(_AXES[name])}"
                )
        merged = replace(self.labels.get(label, Options()), **options)  # type: ignore[arg-type]
        return Schedule({**self.labels, label: merged})

    def __str__(self) -> str:
        rows = []
        for label, options in self.labels.items():
            given = ", ".join(f"{k}={_show(v)}" for k, v in options.given().items())
            rows.append(f"{label}: {given or 'auto'}")
        return "\n".join(rows) or "auto"


def _members(axis: type) -> str:
    if not issubclass(axis, Enum):
        return ""
    return ": one of " + ", ".join(f"vg.{m.name}" for m in axis if m.name != "AUTO")


def _show(value: object) -> str:
    return value.name if isinstance(value, Enum) else str(value)


@dataclass(frozen=True)
class ApplySchedule:
    """The resolved schedule of one apply: no AUTO left. `frontier` is the layout of its *output* frontier."""

    direction: Direction
    phases: Phases
    drive: Drive
    frontier: FrontierLayout
    sync: Sync
    deduplicate: bool
    reasons: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return ", ".join(
            f"{f.name}={_text(getattr(self, f.name))}" for f in fields(self) if f.name != "reasons"
        )


def _text(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value).lower()
