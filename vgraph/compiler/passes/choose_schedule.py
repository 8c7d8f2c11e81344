"""`choose-schedule`: give every apply a complete schedule; refuse what its effects forbid, naming the line."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from vgraph.compiler import ir
from vgraph.compiler.abilities import ALONE
from vgraph.compiler.axes.base import Traversal
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.errors import ScheduleError, shown
from vgraph.schedule import AXES, Options, Schedule


def labels(program: ir.Program) -> tuple[str, ...]:
    """The labels that a schedule may address, in the order of the program."""
    return tuple(dict.fromkeys(n.label for n in ir.walk(program) if isinstance(n, ir.Apply)))


def check_labels(program: ir.Program, schedule: Schedule) -> None:
    """Raise ScheduleError for a label that the program does not have."""
    known = labels(program)
    for label in schedule.labels:
        if label not in known:
            listed = ", ".join(repr(k) for k in known)
            way_out = f"the labels are {listed}" if known else "it has none at all"
            raise ScheduleError(f"there is no traversal labelled {shown(label)} in {program.name}; {way_out}")


def alone(context: Context) -> Context:
    """The context of what stands in a divided loop, where a member runs as one device does."""
    return replace(context, abilities=ALONE[context.abilities])


def _run(program: ir.Program, context: Context) -> ir.Program:
    check_labels(program, context.schedule)

    def rule(n: ir.Node, context: Context = context) -> ir.Node | None:
        if not isinstance(n, ir.Apply) or n.schedule is not None:
            return None
        options = context.schedule.labels.get(n.label, Options())
        return ir.with_fields(n, {"schedule": Traversal(program, n, context).resolve(options)})

    def divided(n: ir.Stmt) -> ir.Body | None:
        if not (isinstance(n, ir.For) and n.divided):
            return None
        return (
            ir.with_fields(n, {"body": ir.transform_body(n.body, partial(rule, context=alone(context)))}),
        )

    body = ir.transform_body(ir.transform_driver(program.body, divided), rule)
    return ir.with_fields(program, {"body": body, "level": ir.Level.SCHEDULED})


def chosen(program: ir.Program) -> Schedule:
    """The resolved schedule of a scheduled program, by label: asked for, it gives the same program again.

    An axis in which the applies of one label differ is left out.
    """
    found: dict[str, Options] = {}
    for n in ir.walk(program):
        if isinstance(n, ir.Apply) and n.schedule is not None:
            options = Options.of(n.schedule, bool(n.frontier or n.out))
            found[n.label] = _common(found.get(n.label, options), options)
    return Schedule(found)


def _common(a: Options, b: Options) -> Options:
    differ = {name: axis.auto for name, axis in AXES.items() if getattr(a, name) != getattr(b, name)}
    changes: dict[str, Any] = differ
    return replace(a, **changes)


choose_schedule = Pass("choose-schedule", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.SCHEDULED)
