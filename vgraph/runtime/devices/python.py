"""`device="python"`: CPython runs the user's functions, on the reference interpreter."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vgraph.compiler import ir
from vgraph.compiler.analysis.numbering import check_numbering
from vgraph.compiler.backends.base import KernelInterface
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.passes.choose_schedule import check_labels
from vgraph.compiler.passes.watch_rounds import VERTICES, watch_rounds
from vgraph.graph import layouts
from vgraph.reference import run_reference
from vgraph.runtime.devices.runner import Call, Loaded, Ran, Runner, interpreted
from vgraph.runtime.plan import plan_of
from vgraph.runtime.rounds import each_round
from vgraph.runtime.watching import is_ring, record

if TYPE_CHECKING:
    from vgraph.compiler.frontend.typed import TypedProgram
    from vgraph.graph import Graph
    from vgraph.runtime.executor import Job
    from vgraph.runtime.progress import ProgressCallback
    from vgraph.schedule import Schedule


class Python(Runner):
    """The reference interpreter, in the graph's own order of vertices."""

    name: ClassVar[str] = "python"
    relabels: ClassVar[bool] = False

    def build(self, job: Job) -> Loaded:
        """The typed program; it and the schedule are checked as on a device."""
        typed = job.typed
        check_labels(typed.program, job.schedule)
        if job.must_renumber:
            check_numbering(typed.program)
        program = typed.program if job.debug is None else watch_rounds.run(typed.program, Context())
        return Loaded(plan_of(program, _interface(typed.program), job.schedule), typed)

    def run(self, kernel: TypedProgram, call: Call, progress: ProgressCallback | None) -> Ran:
        start = time.perf_counter()
        ended = each_round(progress, call.max_rounds)
        watch = partial(record, call.arguments) if VERTICES in call.arguments else None
        places = partial(places_of, call.plan.schedule)
        values, records = run_reference(kernel, call.graph, call.arguments, ended, call.seed, watch, places)
        rings = {o.name: call.arguments[o.name] for o in call.plan.outputs if is_ring(o.name)}
        return interpreted(call.plan, {**values, **rings}, records, 1, time.perf_counter() - start)


def places_of(schedule: Schedule, graph: Graph, label: str) -> Any:
    """For each arc its place in the order of activations that exclude each other: that of the plan which the schedule
    asks for, else that of the user's edges, which is one that schedules with locks may give."""
    key = schedule.labels[label].conflict.key if label in schedule.labels else ""
    return np.argsort(layouts.on_host(graph, key).arrays["arcs"]) if key else graph.topology.arc_places


def _interface(program: ir.Program) -> KernelInterface:
    """What is told of rounds."""
    applies = (n for n in ir.walk(program) if isinstance(n, ir.Apply))
    return KernelInterface(
        args=(),
        frontiers=(),
        lists=(),
        results=(),
        num_slots=0,
        labels=tuple({n.label: None for n in applies}),
        directions=("push", "vertex"),
        messages=(),
        id_bits=program.target.id_bits,
        offset_bits=program.target.offset_bits,
        threads=1,
    )
