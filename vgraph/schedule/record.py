"""What an axis of schedules is: the record from which everything else that is said of it follows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from typing import Any, ClassVar, Final

from vgraph.errors import ScheduleError, shown
from vgraph.records import dataclass


class _Auto:
    """`vg.AUTO`: leave an axis to the compiler."""

    def __repr__(self) -> str:
        return "vg.AUTO"


AUTO: Final = _Auto()

# --- values ---------------------------------------------------------------------------------------------------


class Word(Enum):
    """A value of an axis that is one of a few words."""

    __hash__ = object.__hash__  # Enum's own is a function in Python


@dataclass(frozen=True)
class Kind:
    """A value that is a word, some with a number: `unordered`, `delta(64)`; `makers` are called where there is one.
    Two numbers are written `8x4`, and given to their maker apart."""

    kind: str
    makers: ClassVar[Mapping[str, str]] = {}

    def spelled(self, module: str) -> str:
        """As a program writes it."""
        word, _, number = str(self).partition("(")
        made = self.makers.get(word)
        return f"{module}{made}({number.replace('x', ', ') or ')'}" if made else f"{module}{word.upper()}"


def show(value: object) -> str:
    """A value of an axis as text: `push`, `delta(64)`, `true`, `4`."""
    if isinstance(value, Word):
        return str(value.value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def kind_of(value: object) -> str:
    """`show`, but `delta` for all widths and `split` for all limits."""
    return value.kind if isinstance(value, Kind) else show(value)


def spelled(value: object, module: str = "") -> str:
    """A value of an axis as a program writes it, names preceded by `module`: `vg.PUSH`, `vg.SPLIT(4)`, `True`."""
    if isinstance(value, Word):
        return f"{module}{value.name}"
    return value.spelled(module) if isinstance(value, Kind) else shown(value)


def show_value(value: object) -> str:
    """The value of an option that belongs to a pass of the user's, as text: `1000`, `0.5`, `true`, `"word"`."""
    return json.dumps(value)


def read_value(text: str) -> object:
    """The inverse of `show_value`; a word that is no other value is a string, without quotes too."""
    try:
        value = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, bool | int | float | str) else text


def is_finite(value: object) -> bool:
    """Whether it is a float, and neither infinite nor NaN."""
    return isinstance(value, float) and math.isfinite(value)


def between(least: int, most: int) -> Callable[[object], bool]:
    """Whether a value is an int from `least` to `most`."""
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


# --- words ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    """What may be asked for of an axis, and how it is written in programs, JSON, textual IR and on command lines."""

    auto: object
    """What stands for "not asked for"."""
    accepts: Callable[[object], bool]
    meant: str
    """What is accepted, for messages."""
    read: Callable[[str], object]
    """From the text that `show` gives; ValueError or KeyError on other text."""
    takes: str = ""
    """What is accepted, in a word or two for the list of all axes."""
    choices: tuple[str, ...] = ()
    """The words that `read` knows, if they are few."""
    form: str = ""
    """What `read` knows, if it is more than words."""
    bounds: tuple[int, int] | None = None
    """The least and the most of a number."""


def words(kind: type[Word]) -> Words:
    """The members of an enumeration."""
    names = [m.name for m in kind if m.name != "AUTO"]
    meant = f"a {kind.__name__}: one of {', '.join(f'vg.{name}' for name in names)}"
    choices = tuple(str(m.value) for m in kind)
    return Words(kind["AUTO"], lambda v: isinstance(v, kind), meant, kind, ", ".join(names), choices)


FLAG: Final = Words(
    None,
    lambda value: isinstance(value, bool),
    "True or False",
    {"true": True, "false": False}.__getitem__,
    "bool",
    ("true", "false"),
)

_MOST: Final = 4096
"""Segments, chunks in flight or arcs ahead: each costs memory or time to prepare, and fewer do all there is to do."""


def count(least: int, takes: str = "int", most: int = _MOST) -> Words:
    """Numbers from `least` to `most`."""
    accepted, meant = between(least, most), f"an int from {least} to {most}"
    return Words(None, accepted, meant, int, takes, bounds=(least, most))


_CAPITALS: Final = r"\b[A-Z_]{2,}\b"
_CALL: Final = re.compile(r"(\w+)(?:\(([0-9.ex+-]*)\))?")


def kinds(
    kind: type[Kind],
    made: Mapping[str, Callable[[str | None], Kind]],
    *,
    noun: str,
    takes: str,
    form: str,
) -> Words:
    """Words of which some take a number: `made` reads that one, or None, and gives the value.

    `takes` has all of them as programs write them: those without a number are names in capitals.
    """
    plain = {word.lower() for word in re.findall(rf"{_CAPITALS}(?!\()", takes)}
    listed = re.sub(rf"{_CAPITALS}|[a-z_]+(?=\()", r"vg.\g<0>", takes)
    names = {maker: word for word, maker in kind.makers.items()}

    def read(text: str) -> Kind:
        found = _CALL.fullmatch(text)
        if found is None:
            raise ValueError(text)
        word, number = names.get(found[1], found[1]), found[2]
        if word in made:
            return made[word](number or None)
        if number is not None or word not in (*plain, "auto"):
            raise ValueError(text)
        return kind(word)

    return Words(
        kind("auto"),
        lambda value: isinstance(value, kind),
        f"{noun}: one of {listed}",
        read,
        takes,
        form=form,
    )


# --- axes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Need:
    """Where one axis is not at rest, another one, `axis`, has one of `values`.

    `reason` and `way_out` complete the error of whichever is decided later. `of`: only some values of the first have
    the need, whatever their numbers. `on`: only on this device. `note`: what `explain` says where the need settles the
    other axis.
    """

    axis: str
    values: tuple[object, ...]
    reason: str
    way_out: str = ""
    of: tuple[object, ...] = ()
    on: str | None = None
    note: str = ""
    kinds: frozenset[str] = field(init=False)
    """Those values, as `kind_of` gives them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", frozenset(map(kind_of, self.of)))
        if not self.way_out:
            object.__setattr__(self, "way_out", f"use {self.axis}={spelled(self.values[0], 'vg.')}")

    def holds_on(self, device: str) -> bool:
        """Whether it is one on `device`."""
        return self.on in (None, device) or self.on in OF_MEMBERS.get(device, ())


OF_MEMBERS: Final = {"set": ("cpu",), "cuda set": ("set", "cuda")}
"""Whose lacks and needs the members of a set have: "set" is also about any set."""


@dataclass(frozen=True)
class Lack:
    """What a device cannot do: `values` of an axis, by default all that are not at rest."""

    device: str
    reason: str
    way_out: str = "leave it out"
    values: tuple[str, ...] = ()
    """As `kind_of` gives them."""
    alone: bool = False
    """Only one device by itself; else what it lacks the members of a set of such devices lack, too."""

    def of(self, device: str) -> bool:
        """Whether it is about `device`."""
        return self.device == device or (not self.alone and self.device in OF_MEMBERS.get(device, ()))


@dataclass(frozen=True)
class Axis:
    """One option of a schedule."""

    name: str
    words: Words
    rest: object = None
    """The value that is the same as not to have the axis; None where there is none."""
    unsaid: bool = True
    """Whether that goes without saying where a schedule is shown."""
    candidates: tuple[Any, ...] = ()
    """Values that are worth a try, by tests too; of numbers, some. To leave the axis out is one more."""
    numbers: tuple[Any, ...] = ()
    """What tuning tries beside them."""
    costly: bool = False
    """What values need is made longer than many runs take: tuning tries none."""
    needs: tuple[Need, ...] = ()
    lacks: tuple[Lack, ...] = ()
    edges_only: str = ""
    """Why a vertex operator has it at rest; empty if it need not."""

    @property
    def auto(self) -> object:
        """What stands for "not asked for"."""
        return self.words.auto

    @property
    def read(self) -> Callable[[str], object]:
        """A value from the text that `show` gives; ValueError or KeyError on other text."""
        return self.words.read

    def check(self, value: object) -> object:
        """`value` if it may be asked for; AUTO becomes the axis's own. Raises ScheduleError."""
        if value is AUTO:
            return self.auto
        if not self.words.accepts(value):
            raise ScheduleError(f"{self.name}={spelled(value, 'vg.')} is not {self.words.meant}")
        return value

    def lack(self, value: object, device: str) -> Lack | None:
        """What keeps `device` from having `value`."""
        for n in self.lacks:
            if n.of(device) and (not n.values or kind_of(value) in n.values):
                return n
        return None

    def has(self, need: Need, value: object) -> bool:
        """Whether `value` of this axis has the need, on a device where it is one."""
        if not need.of:
            return bool(value != self.rest)
        return kind_of(value) in need.kinds


def axis(words: Words, **record: Any) -> Any:
    """A field of `ApplySchedule` that is an axis: what else its `Axis` holds is given by name."""
    candidates = record.pop("candidates", None)
    if candidates is None:  # of an enumeration
        candidates = tuple(m for m in map(words.read, words.choices) if m != words.auto)
    made = Axis("", words, candidates=candidates, **record)
    if made.rest is None:
        return field(metadata={"axis": made})
    return field(default=made.rest, metadata={"axis": made})


__all__ = ["AUTO", "Axis", "Kind", "Lack", "Need", "Word", "Words", "kind_of", "show", "spelled"]
