"""How schedules are resolved: what every resolver sees, and what follows from the records of the axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Effects, WriteClass, effects
from vgraph.compiler.obstacle import Obstacle
from vgraph.errors import ScheduleError
from vgraph.refusals.schedules import IllegalSchedule, NoChangedVertices
from vgraph.schedule import AXES, DECIDED, ApplySchedule, Axis, Need, Options, axis, show, spelled
from vgraph.source import Span

if TYPE_CHECKING:
    from vgraph.compiler.ir.rewrite import Context

_T = TypeVar("_T")


class Traversal:
    """An apply of a program, and what resolvers find out about it: the same, whatever is asked for."""

    def __init__(self, program: ir.Program, apply: ir.Apply, context: Context) -> None:
        self.program, self.apply, self.context = program, apply, context
        self.operator = program.operator(apply.op)
        self.effects: Effects = effects(self.operator)
        self.is_edge = isinstance(apply, ir.EdgeApply)
        self._found: dict[Callable[[Traversal], Any], Any] = {}
        if self.is_edge and apply.out and WriteClass.MERGING in self.effects.classes():
            assert apply.span is not None
            raise NoChangedVertices(apply.span, apply.op)

    def once(self, fact: Callable[[Traversal], _T]) -> _T:
        """`fact(self)`, remembered."""
        if fact not in self._found:
            self._found[fact] = fact(self)
        found: _T = self._found[fact]
        return found

    def resolve(self, options: Options) -> ApplySchedule:
        """The complete schedule. Raises IllegalSchedule for an option that effects, device or other options forbid."""
        for name, value in options.extra:
            axis(name).check(value)  # the pass that it belongs to may be gone
        choice = Choice(self, options)
        if self.context.deterministic:
            from vgraph.compiler.axes.one_order import settle

            settle(choice)
            choice.chosen.first = choice.chosen.leans
        for name in DECIDED:
            choice.decide(name)
        alone = choice.chosen["conflict"] != AXES["conflict"].rest
        assert alone == (self.effects.exclusive is not None), (
            "activations that exclude each other are kept apart"
        )
        return ApplySchedule(**choice.chosen, extra=options.extra, reasons=tuple(choice.reasons))


class _Chosen(dict[str, Any]):
    """What is chosen so far, by axis, and which options it depends on."""

    leans = first = 0
    """The axes (a bit each) whose options count for what is being decided, and those looked at before all."""

    def __init__(self) -> None:
        self.by: dict[str, int] = {}
        """The axes that count, of what is decided."""

    def __getitem__(self, name: str) -> Any:
        self.leans |= self.by[name]
        return super().__getitem__(name)


class Choice:
    """A schedule that is being resolved: what is asked for, what is chosen so far, and why."""

    axis: Axis
    """The one that is being decided."""

    def __init__(self, at: Traversal, options: Options) -> None:
        self.at, self.given = at, options.given()
        self.program, self.apply, self.context = at.program, at.apply, at.context
        self.operator, self.effects, self.is_edge = at.operator, at.effects, at.is_edge
        self.device = at.context.abilities.device
        self.chosen = _Chosen()
        self.settled: dict[str, str] = {}
        """Axes of which not the user but `deterministic=True` asks something, and why."""
        self.reasons: list[str] = []

    def asked(self, name: str) -> Any:
        """What the user wants of axis `name`, or None."""
        self.chosen.leans |= _BIT[name]
        return self.given.get(name)

    def decide(self, name: str) -> None:
        """Choose the value of one axis: what the others leave of it, or what its resolver says."""
        chosen = self.chosen
        chosen.leans = _BIT[name] | chosen.first
        chosen[name] = self._value(name)
        chosen.by[name] = chosen.leans

    def _value(self, name: str) -> Any:
        self.axis = axis = AXES[name]
        asked = self.given.get(name)
        lack = None if asked in (None, axis.rest) else axis.lack(asked, self.device)
        if lack is not None:
            self.refuse(lack.reason, None, lack.way_out)
        chosen = self.chosen
        for other, need in _earlier(name, self.device):
            if asked in need.values[1:]:
                continue
            needed = other.has(need, chosen.get(other.name))
            if needed or asked is None or asked == need.values[0]:
                chosen.leans |= chosen.by[other.name]
            if needed:
                if asked not in (None, need.values[0]):
                    self.refuse(need.reason, None, need.way_out)
                if need.note:
                    self.because(need.values[0], need.note)
                return need.values[0]
        at_rest = asked in (None, axis.rest)
        obstacle = self._obstacle(None if at_rest else asked)
        if obstacle is None:
            return _resolver(name)(self, asked)
        if not at_rest:
            self.refuse(*obstacle)
        return axis.rest

    def _obstacle(self, value: object) -> Obstacle | None:
        """Why the axis cannot have `value`, or (None) any but the one at rest: by its record, and what is chosen."""
        lack = self.axis.lack(value, self.device)
        if lack is not None:
            return Obstacle(lack.reason, None, lack.way_out)
        if self.axis.edges_only and not self.is_edge:
            return Obstacle(self.axis.edges_only, self.operator.span)
        for need in _own(self.axis.name, self.device):
            if need.axis in self.chosen and self.axis.has(need, value):
                other = self.chosen[need.axis]
                if other is None or other in need.values:
                    continue
                return Obstacle(need.reason.format(show(other)), None, need.way_out)
        return None

    def agrees(self, value: object) -> bool:
        """Whether the axis may have `value` unasked: what is asked of axes that are decided later stays legal."""
        for need in _own(self.axis.name, self.device):
            free = need.axis in self.chosen or self.asked(need.axis) in (None, *need.values)
            if not free and self.axis.has(need, value):
                return False
        for other, need in _later(self.axis.name, self.device):
            asked = self.asked(other.name)
            if asked is not None and value not in need.values and other.has(need, asked):
                return False
        return True

    def refuse(self, reason: str, span: Span | None = None, way_out: str = "leave it out") -> NoReturn:
        """Refuse what is asked of the axis, pointing at `span` or at the apply."""
        option = f"{self.axis.name}={spelled(self.given.get(self.axis.name))}"
        span = span or self.apply.span
        if span is None:
            raise ScheduleError(f"{option} is not legal for {self.apply.label!r}: {reason}; {way_out}")
        leans = frozenset(name for name in DECIDED if self.chosen.leans & _BIT[name])
        raise IllegalSchedule(span, option, self.apply.label, reason, way_out, leans=leans)

    def because(self, value: object, reason: str) -> None:
        """Keep the reason of a choice for `explain`."""
        reason = self.settled.get(self.axis.name, reason)
        self.reasons.append(f"{self.axis.name}={show(value)}: {reason}")


@cache
def _resolver(name: str) -> Callable[[Choice, Any], Any]:
    """`choose` in the file of this folder that has the axis's name: of a choice, and what is asked for or None."""
    found: Callable[[Choice, Any], Any] = import_module(f"{__package__}.{name}").choose
    return found


@cache
def _own(name: str, device: str) -> list[Need]:
    """The needs of an axis on a device."""
    return [need for need in AXES[name].needs if need.holds_on(device)]


def _needs_of(name: str, others: Sequence[str], device: str) -> list[tuple[Axis, Need]]:
    return [(AXES[other], need) for other in others for need in _own(other, device) if need.axis == name]


@cache
def _earlier(name: str, device: str) -> list[tuple[Axis, Need]]:
    """The needs that an axis has to meet, of those decided before it."""
    return _needs_of(name, DECIDED[: DECIDED.index(name)], device)


@cache
def _later(name: str, device: str) -> list[tuple[Axis, Need]]:
    return _needs_of(name, DECIDED[DECIDED.index(name) + 1 :], device)


_BIT: Final = {name: 1 << i for i, name in enumerate(DECIDED)}
