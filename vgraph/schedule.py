"""Schedules: how a program runs, apart from what it says.

A `Schedule` is a frozen value addressed by label (the operator's name, or the `label=` of an apply). Every axis that is
left out, or given as `vg.AUTO`, is chosen. `ApplySchedule` is its resolved form for one apply, with the reason of every
choice. `AXES` is the one table of what can be asked for; passes may add options of their own (`register_option`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from sys import float_info
from types import MappingProxyType
from typing import Any, Final

from vgraph.errors import ScheduleError


class Direction(Enum):
    """Which end of the arcs the loop runs over."""

    PUSH = "push"
    """for v in active: for u in out(v): update u (atomically)."""
    PULL = "pull"
    """for v in vertices: for u in in(v), if u is active: update v, written once."""
    AUTO = "auto"
    """Chosen per round at run time, in a resolved schedule too."""


class Phases(Enum):
    """How reading along the arcs and writing the vertices are split."""

    FUSED = "fused"
    """Read, compute and write in one loop."""
    GATHER_APPLY = "gather_apply"
    """Gather: every arc's contribution into a buffer in the order of in-arcs. Apply: each vertex reduces its part."""
    APPLY_SCATTER = "apply_scatter"
    """Apply: every active vertex's value into a buffer, in order. Scatter: along the out-arcs, update the ends."""
    AUTO = "auto"


class Payload(Enum):
    """What the buffer between two phases holds."""

    RAW = "raw"
    """The fields as they were read; the consumer computes."""
    COMPUTED = "computed"
    """What the producer computed from them."""
    AUTO = "auto"


class Drive(Enum):
    """Who is visited in a round."""

    TOPOLOGY = "topology"
    """for v in vertices: if v is active: ... (no queue is kept)."""
    DATA = "data"
    """for v in queue of active vertices: ..."""
    AUTO = "auto"
    """Chosen per round at run time, in a resolved schedule too."""


class FrontierLayout(Enum):
    """How a frontier is stored."""

    SPARSE = "sparse"
    """A queue of vertex ids."""
    BITMAP = "bitmap"
    """One bit per vertex, in 64-bit words."""
    AUTO = "auto"


class Sync(Enum):
    """When an update becomes visible to other vertices."""

    BSP = "bsp"
    """At the end of the round: properties both read and written are double-buffered."""
    ASYNC = "async"
    """At once: legal where the fixpoint does not depend on it."""
    AUTO = "auto"


@dataclass(frozen=True)
class Order:
    """In which order active vertices are taken: `kind` is unordered, delta, strict or auto.

    delta: buckets of width `delta` (in units of the value that orders; None: from the weights), the lowest first
    (Meyer and Sanders 2003). strict: the smallest value first, on one thread (Dijkstra 1959).
    """

    kind: str
    delta: float | None = None

    def __str__(self) -> str:
        if self.delta is None:
            return self.kind
        short = f"{self.delta:g}"
        return f"{self.kind}({short if float(short) == self.delta else repr(self.delta)})"


@dataclass(frozen=True)
class Balance:
    """How a loop's work is cut for threads: `kind` is vertex, edge, split, warp, block, twc or auto.

    vertex: chunks with equally many vertices. edge: chunks with equally many arcs; a hub's arcs may be shared. split:
    a vertex of more than `limit` arcs (None: from the histogram of degrees) becomes several of at most so many.
    warp, block, twc (thread, warp or block by degree): GPU only.
    """

    kind: str
    limit: int | None = None

    def __str__(self) -> str:
        return self.kind if self.limit is None else f"{self.kind}({self.limit})"


class _Auto:
    """`vg.AUTO`: leave an axis to the compiler."""

    def __repr__(self) -> str:
        return "vg.AUTO"


AUTO: Final = _Auto()
PUSH, PULL = Direction.PUSH, Direction.PULL
FUSED, GATHER_APPLY, APPLY_SCATTER = Phases.FUSED, Phases.GATHER_APPLY, Phases.APPLY_SCATTER
RAW, COMPUTED = Payload.RAW, Payload.COMPUTED
TOPOLOGY, DATA = Drive.TOPOLOGY, Drive.DATA
SPARSE, BITMAP = FrontierLayout.SPARSE, FrontierLayout.BITMAP
BSP, ASYNC = Sync.BSP, Sync.ASYNC
UNORDERED, STRICT = Order("unordered"), Order("strict")
VERTEX, EDGE, WARP, BLOCK, TWC = (Balance(kind) for kind in ("vertex", "edge", "warp", "block", "twc"))
_ANY_ORDER, _ANY_BALANCE = Order("auto"), Balance("auto")


def delta_stepping(delta: float | None = None) -> Order:
    """Buckets of width `delta`, a positive number; by default 4 * average weight / average degree.

    Raises ScheduleError for anything else.
    """
    if delta is not None and not (_is_number(delta) and delta > 0):
        raise ScheduleError(f"delta_stepping({delta!r}): the width of a bucket is a positive number")
    return Order("delta", delta)


def SPLIT(limit: int | None = None) -> Balance:
    """Vertices of more than `limit` arcs are split; by default the limit follows from the histogram of degrees.

    Raises ScheduleError unless `limit` is an int from 1 to 2**62.
    """
    if limit is not None and not _between(1, 1 << 62)(limit):
        raise ScheduleError(f"SPLIT({limit!r}): the limit is an int from 1 to 2**62")
    return Balance("split", limit)


_LARGEST: Final = float_info.max


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= _LARGEST


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _between(least: int, most: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


# --- axes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """One option of a schedule: what may be asked for, and how it is written as text."""

    name: str
    auto: object
    """What stands for "not asked for"."""
    accepts: Callable[[object], bool]
    meant: str
    """What is accepted, for messages."""
    read: Callable[[str], object]
    """From the text that `show` gives; ValueError or KeyError on other text."""
    choices: tuple[str, ...] = ()
    """The words that `read` knows, if they are few."""

    def check(self, value: object) -> object:
        """`value` if it may be asked for; AUTO becomes the axis's own. Raises ScheduleError."""
        if value is AUTO:
            return self.auto
        if not self.accepts(value):
            raise ScheduleError(f"{self.name}={spelled(value, 'vg.')} is not {self.meant}")
        return value


def _enum(name: str, kind: type[Enum]) -> Axis:
    shown = ", ".join(f"vg.{m.name}" for m in kind if m.name != "AUTO")
    words = tuple(str(m.value) for m in kind)
    return Axis(
        name, kind["AUTO"], lambda v: isinstance(v, kind), f"a {kind.__name__}: one of {shown}", kind, words
    )


def _flag(name: str) -> Axis:
    read = {"true": True, "false": False}.__getitem__
    return Axis(name, None, lambda v: isinstance(v, bool), "True or False", read, ("true", "false"))


_MOST: Final = 4096
"""Segments, chunks in flight or arcs ahead: each costs memory or time to prepare, and fewer do all there is to do."""


def _count(name: str, least: int) -> Axis:
    return Axis(name, None, _between(least, _MOST), f"an int from {least} to {_MOST}", int)


_CALL: Final = re.compile(r"(\w+)(?:\(([0-9.e+-]*)\))?")


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def _read_order(text: str) -> Order:
    found = _CALL.fullmatch(text)
    if found is None or found[1] not in ("unordered", "delta", "strict", "auto"):
        raise ValueError(text)
    given = _number(found[2]) if found[2] else None
    if found[1] == "delta":
        return delta_stepping(given)
    if found[2] is not None:
        raise ValueError(text)
    return Order(found[1])


def _read_balance(text: str) -> Balance:
    found = _CALL.fullmatch(text)
    if found is None or found[1] not in ("vertex", "edge", "split", "warp", "block", "twc", "auto"):
        raise ValueError(text)
    if found[1] == "split":
        return SPLIT(int(found[2]) if found[2] else None)
    if found[2] is not None:
        raise ValueError(text)
    return Balance(found[1])


AXES: Final[dict[str, Axis]] = {
    a.name: a
    for a in (
        _enum("direction", Direction),
        _enum("phases", Phases),
        _enum("drive", Drive),
        _enum("frontier", FrontierLayout),
        Axis(
            "order",
            _ANY_ORDER,
            lambda v: isinstance(v, Order),
            "an order: vg.UNORDERED, vg.delta_stepping(d) or vg.STRICT",
            _read_order,
        ),
        Axis(
            "balance",
            _ANY_BALANCE,
            lambda v: isinstance(v, Balance),
            "a balance: one of vg.VERTEX, vg.EDGE, vg.SPLIT(limit), vg.WARP, vg.BLOCK, vg.TWC",
            _read_balance,
        ),
        _enum("sync", Sync),
        _flag("deduplicate"),
        _count("segments", 1),
        _enum("payload", Payload),
        _count("pipeline", 0),
        _count("prefetch", 0),
        _flag("vectorize"),
    )
}


def show(value: object) -> str:
    """A value of an axis as text: `push`, `delta(64)`, `true`, `4`."""
    if isinstance(value, Enum):
        return str(value.value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def spelled(value: object, module: str = "") -> str:
    """A value of an axis as a program writes it, names preceded by `module`: `vg.PUSH`, `vg.SPLIT(4)`, `True`."""
    if isinstance(value, Direction | Phases | Payload | Drive | FrontierLayout | Sync):
        return f"{module}{value.name}"
    if isinstance(value, Order) and value.kind == "delta":
        return str(value).replace("delta", f"{module}delta_stepping") + "()" * (value.delta is None)
    if isinstance(value, Balance) and value.kind == "split":
        return f"{module}SPLIT({'' if value.limit is None else value.limit})"
    return f"{module}{value.kind.upper()}" if isinstance(value, Order | Balance) else repr(value)


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
        return (isinstance(value, bool | int | str) or _is_finite(value)) and accepts(value)

    _USER_AXES[name] = Axis(name, None, check, meant, read_value)


def unregister_option(name: str) -> None:
    """Take back `register_option`; nothing happens if there is no such option."""
    _USER_AXES.pop(name, None)


def show_value(value: object) -> str:
    """The value of an option that belongs to a pass of the user's, as text: `1000`, `0.5`, `true`, `"word"`."""
    return json.dumps(value)


def read_value(text: str) -> object:
    """The inverse of `show_value`; a word that is no other value is a string, without quotes too."""
    try:
        value = json.loads(text, parse_constant=str)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float | str) else text


def options() -> dict[str, Axis]:
    """All options by name: vgraph's own, and those of the user's passes."""
    return AXES | _USER_AXES


def axis(name: str) -> Axis:
    """The axis called `name`. Raises ScheduleError."""
    found = AXES.get(name) or _USER_AXES.get(name)
    if found is None:
        from difflib import get_close_matches

        known = list(options())
        meant = "".join(f" (did you mean {n!r}?)" for n in get_close_matches(name, known, 1))
        raise ScheduleError(f"unknown schedule option {name!r}{meant}; the options are {', '.join(known)}")
    return found


# --- schedules ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """What a user asks for at one label. `extra` holds the options that belong to passes of the user's, sorted."""

    direction: Direction = Direction.AUTO
    phases: Phases = Phases.AUTO
    drive: Drive = Drive.AUTO
    frontier: FrontierLayout = FrontierLayout.AUTO
    order: Order = _ANY_ORDER
    balance: Balance = _ANY_BALANCE
    sync: Sync = Sync.AUTO
    deduplicate: bool | None = None
    segments: int | None = None
    payload: Payload = Payload.AUTO
    pipeline: int | None = None
    prefetch: int | None = None
    vectorize: bool | None = None
    extra: tuple[tuple[str, Any], ...] = ()

    def given(self) -> dict[str, object]:
        """The options that are asked for, by name."""
        own = {name: getattr(self, name) for name, a in AXES.items() if getattr(self, name) != a.auto}
        return own | dict(self.extra)

    def __str__(self) -> str:
        """What is given, as text; where every axis is settled, without what goes without saying."""
        given = self.given()
        if given.keys() >= _AT_REST.keys():
            given = {k: v for k, v in given.items() if k not in _AT_REST or v != _AT_REST[k]}
            left = {k: getattr(self, k) for k in ("direction", "drive") if k not in given}
            given = left | given
        return ", ".join(f"{k}={show(v) if k in AXES else show_value(v)}" for k, v in given.items()) or "auto"

    def to_json(self) -> dict[str, Any]:
        """What is given, as `from_json` takes it."""
        return {k: show(v) if k in AXES else v for k, v in self.given().items()}

    @staticmethod
    def from_json(row: Mapping[str, Any]) -> Options:
        """The inverse of `to_json`; KeyError or ValueError on other data."""
        own: dict[str, Any] = {k: AXES[k].read(v) for k, v in row.items() if k in AXES}
        return Options(**own, extra=tuple(sorted((k, v) for k, v in row.items() if k not in AXES)))


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

        Options: direction (PUSH, PULL), phases (FUSED, GATHER_APPLY, APPLY_SCATTER), drive (TOPOLOGY, DATA), frontier
        (SPARSE, BITMAP), order (UNORDERED, delta_stepping(d), STRICT), balance (VERTEX, EDGE, SPLIT(limit)), sync (BSP,
        ASYNC), deduplicate (bool), segments (int), payload (RAW, COMPUTED), pipeline (chunks in flight, 0: none),
        prefetch (arcs ahead, 0: none), vectorize (bool), each also AUTO; and those of the user's own passes.
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


# What goes without saying in a schedule that is shown.
_AT_REST: Final[dict[str, object]] = {
    "order": UNORDERED, "balance": VERTEX, "segments": 1, "pipeline": 0, "prefetch": 0, "vectorize": False,
}  # fmt: skip


@dataclass(frozen=True)
class ApplySchedule:
    """The resolved schedule of one apply. `frontier` is the layout of its *output* frontier.

    Nothing is AUTO but a direction or drive that is chosen per round at run time, and the layout that follows it.
    """

    direction: Direction
    phases: Phases
    drive: Drive
    frontier: FrontierLayout
    sync: Sync
    deduplicate: bool
    order: Order = UNORDERED
    balance: Balance = VERTEX
    segments: int = 1
    payload: Payload = Payload.COMPUTED
    pipeline: int = 0
    prefetch: int = 0
    vectorize: bool = False
    extra: tuple[tuple[str, Any], ...] = ()
    reasons: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        """The first six axes and whatever else is not at its default: `direction=push, ..., order=delta(64)`."""
        shown = [f for f in fields(self) if f.name in AXES and getattr(self, f.name) != f.default]
        own = [f"{f.name}={show(getattr(self, f.name))}" for f in shown]
        return ", ".join([*own, *(f"{name}={show_value(value)}" for name, value in self.extra)])

    def options(self, frontier: bool) -> Options:
        """As what a user could have asked for; the layout only where there is a `frontier`."""
        own: dict[str, Any] = {name: getattr(self, name) for name in AXES}
        if not frontier:
            own["frontier"] = FrontierLayout.AUTO
        if self.phases is Phases.FUSED:
            own["payload"] = Payload.AUTO
        return Options(**own, extra=self.extra)
