"""What the resolvers of all axes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from vgraph.compiler.effects import Effects, effects
from vgraph.compiler.ir import EdgeApply, Program, VertexApply
from vgraph.errors import ScheduleError
from vgraph.refusals.schedules import IllegalSchedule
from vgraph.schedule import AXES, Options, show, spelled
from vgraph.source import Span

if TYPE_CHECKING:
    from vgraph.compiler.rewrite import Context

Apply = EdgeApply | VertexApply


class Choice:
    """One apply whose schedule is being resolved: what is asked for, what is chosen so far, and why."""

    def __init__(self, program: Program, apply: Apply, options: Options, context: Context) -> None:
        self.program, self.apply, self.options, self.context = program, apply, options, context
        self.operator = program.operator(apply.op)
        self.effects: Effects = effects(self.operator)
        self.chosen: dict[str, Any] = {}
        self.fixed: Mapping[str, Any] = {}  # axes that a choice made before leaves nothing to decide of
        self.reasons: list[str] = []

    def asked(self, name: str) -> Any:
        """What the user wants of axis `name`, or None."""
        value = getattr(self.options, name)
        return None if value == AXES[name].auto else value

    @property
    def is_edge(self) -> bool:
        """True for an edge operator."""
        return isinstance(self.apply, EdgeApply)

    def illegal(self, option: str, reason: str, way_out: str, span: Span | None = None) -> NoReturn:
        """Refuse `option` (as the user writes it), pointing at `span` or at the apply."""
        span = span or self.apply.span
        if span is None:
            raise ScheduleError(f"{option} is not legal for {self.apply.label!r}: {reason}; {way_out}")
        raise IllegalSchedule(span, self.apply.label, option, reason, way_out)

    def because(self, name: str, value: object, reason: str) -> None:
        """Keep the reason of a choice for `explain`."""
        self.reasons.append(f"{name}={show(value)}: {reason}")

    def only(self, name: str, value: Any, reason: str, way_out: str = "leave it out") -> Any:
        """`value`, the one choice that is possible; refuse any other that is asked for."""
        asked = self.asked(name)
        if asked is not None and asked != value:
            self.illegal(f"{name}={spelled(asked)}", reason, way_out)
        return value
