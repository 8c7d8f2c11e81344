"""`choose-schedule`: give every apply a complete schedule; refuse what its effects forbid, naming the line."""

from __future__ import annotations

from typing import NoReturn

from vgraph.compiler.effects import Effects, WriteClass, async_obstacle, effects
from vgraph.compiler.ir import EdgeApply, Level, Node, Program, VertexApply
from vgraph.compiler.rewrite import Context, Pass, transform_body, walk, with_fields
from vgraph.errors import ScheduleError
from vgraph.refusals.schedules import IllegalSchedule, NoChangedVertices
from vgraph.schedule import (
    ApplySchedule,
    Direction,
    Drive,
    FrontierLayout,
    Options,
    Phases,
    Schedule,
    Sync,
)
from vgraph.source import Span

Apply = EdgeApply | VertexApply


def labels(program: Program) -> tuple[str, ...]:
    """The labels that a schedule may address, in the order of the program."""
    return tuple(dict.fromkeys(n.label for n in walk(program) if isinstance(n, Apply)))


class _Chooser:
    """Resolves the options of one apply; keeps the reasons."""

    def __init__(self, program: Program, apply: Apply, options: Options) -> None:
        self.program, self.apply, self.options = program, apply, options
        self.operator = program.operator(apply.op)
        self.effects: Effects = effects(self.operator)
        self.reasons: list[str] = []

    def illegal(self, option: str, reason: str, way_out: str, span: Span | None) -> NoReturn:
        span = span or self.apply.span
        if span is None:
            raise ScheduleError(f"{option} is not legal for {self.apply.label!r}: {reason}; {way_out}")
        raise IllegalSchedule(span, self.apply.label, option, reason, way_out)

    def because(self, choice: str, reason: str) -> None:
        self.reasons.append(f"{choice}: {reason}")

    def resolve(self) -> ApplySchedule:
        if (
            isinstance(self.apply, EdgeApply)
            and self.apply.out
            and WriteClass.MERGING in self.effects.classes()
        ):
            assert self.apply.span is not None
            raise NoChangedVertices(self.apply.span, self.apply.op)
        drive = self.drive()
        direction = self.direction()
        return ApplySchedule(
            direction,
            Phases.FUSED,
            drive,
            self.frontier(drive, direction),
            self.sync(),
            self.deduplicate(direction),
            tuple(self.reasons),
        )

    def drive(self) -> Drive:
        asked = self.options.drive
        if self.apply.frontier is None:
            if asked is Drive.DATA:
                self.illegal(
                    "drive=DATA", "it applies to the whole graph", "pass a frontier to it", self.apply.span
                )
            self.because("drive=TOPOLOGY", "no frontier is given, so everything is visited")
            return Drive.TOPOLOGY
        if asked is not Drive.AUTO:
            self.because(f"drive={asked.name}", "asked for")
            return asked
        self.because("drive=DATA", "only the frontier's vertices have anything new")
        return Drive.DATA

    def direction(self) -> Direction:
        asked = self.options.direction
        if isinstance(self.apply, VertexApply):
            if asked is Direction.PUSH:
                reason = "a vertex operator runs at the vertex that it writes"
                self.illegal("direction=PUSH", reason, "leave the direction out", self.operator.span)
            return Direction.PULL
        if asked is not Direction.AUTO:
            self.because(f"direction={asked.name}", "asked for")
            return asked
        if self.apply.frontier is not None or WriteClass.MERGING in self.effects.classes():
            self.because("direction=PUSH", "only arcs that leave the frontier are walked")
            return Direction.PUSH
        self.because(
            "direction=PULL", "all arcs are walked, and each vertex is written once, without atomics"
        )
        return Direction.PULL

    def frontier(self, drive: Drive, direction: Direction) -> FrontierLayout:
        asked = self.options.frontier
        if self.apply.frontier is None and self.apply.out is None:
            if asked is not FrontierLayout.AUTO:
                reason = "it neither takes nor gives a frontier"
                self.illegal(f"frontier={asked.name}", reason, "leave it out", self.apply.span)
            return FrontierLayout.SPARSE
        if asked is not FrontierLayout.AUTO:
            self.because(f"frontier={asked.name}", "asked for")
            return asked
        pulls = direction is Direction.PULL and isinstance(self.apply, EdgeApply)
        if pulls or drive is Drive.TOPOLOGY:
            return FrontierLayout.BITMAP
        return FrontierLayout.SPARSE

    def sync(self) -> Sync:
        asked = self.options.sync
        if not self.effects.stale_reads:
            self.because(
                "sync=BSP", "it reads nothing that it writes at other vertices, so both are the same"
            )
            return Sync.BSP if asked is Sync.AUTO else asked
        obstacle = async_obstacle(self.program, self.apply)
        if asked is Sync.ASYNC and obstacle is not None:
            self.illegal("sync=ASYNC", obstacle[0], "use sync=vg.BSP or leave it out", obstacle[1])
        if asked is Sync.BSP or obstacle is not None:
            self.because("sync=BSP", "asked for" if obstacle is None else obstacle[0])
            return Sync.BSP
        self.because("sync=ASYNC", "every update is monotone and the loop runs to the fixpoint")
        return Sync.ASYNC

    def deduplicate(self, direction: Direction) -> bool:
        asked = self.options.deduplicate
        pushes = (
            isinstance(self.apply, EdgeApply) and self.apply.out is not None and direction is Direction.PUSH
        )
        several = pushes and self.effects.classes() != {WriteClass.CLAIMING}
        if asked and not pushes:
            reason = "no vertex can enter a frontier twice here"
            self.illegal("deduplicate=True", reason, "leave it out", self.apply.span)
        if asked is False and several:
            reason = "a vertex may change several times in a round, and a frontier is a set"
            self.illegal("deduplicate=False", reason, "leave it out", self.operator.span)
        return several or bool(asked)


def resolve(program: Program, apply: Apply, options: Options) -> ApplySchedule:
    """The complete schedule of `apply`. Raises IllegalSchedule for an option that its effects forbid."""
    return _Chooser(program, apply, options).resolve()


def check_labels(program: Program, schedule: Schedule) -> None:
    """Raise ScheduleError for a label that the program does not have."""
    known = labels(program)
    for label in schedule.labels:
        if label not in known:
            listed = ", ".join(repr(k) for k in known) or "none: the algorithm has no traversal"
            raise ScheduleError(
                f"there is no traversal labelled {label!r} in {program.name}; the labels are {listed}"
            )


def _run(program: Program, context: Context) -> Program:
    check_labels(program, context.schedule)

    def rule(n: Node) -> Node | None:
        if not isinstance(n, Apply):
            return None
        options = context.schedule.labels.get(n.label, Options())
        return with_fields(n, {"schedule": resolve(program, n, options)})

    body = transform_body(program.body, rule)
    return with_fields(program, {"body": body, "level": Level.SCHEDULED})


def chosen(program: Program) -> Schedule:
    """The resolved schedule of a scheduled program, by label."""
    found: dict[str, Options] = {}
    for n in walk(program):
        if isinstance(n, Apply) and n.schedule is not None and not n.label.endswith(".copy"):
            s = n.schedule
            layout = s.frontier if n.frontier or n.out else FrontierLayout.AUTO
            found.setdefault(n.label, Options(s.direction, s.phases, s.drive, layout, s.sync, s.deduplicate))
    return Schedule(found)


choose_schedule = Pass("choose-schedule", _run, takes=Level.ALGORITHM, gives=Level.SCHEDULED)
