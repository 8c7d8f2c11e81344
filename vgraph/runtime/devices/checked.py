"""Checked runs: a program compiled as for the CPU, and its kernel IR run by an interpreter that watches it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from vgraph.compiler import user_passes
from vgraph.compiler.frontend import source_parts
from vgraph.compiler.interpret import TraceRecord, interpret
from vgraph.compiler.passes.fuse_loops import fuse_loops
from vgraph.runtime import policy
from vgraph.runtime.arguments import host_array, scalar_argument
from vgraph.runtime.devices.cpu import backend
from vgraph.runtime.devices.runner import Call, Loaded, Ran, Runner, interpreted
from vgraph.runtime.plan import plan_of
from vgraph.runtime.prints import warn_of_prints
from vgraph.runtime.rounds import each_round

if TYPE_CHECKING:
    from vgraph.compiler import ir
    from vgraph.graph import Graph
    from vgraph.runtime.executor import Job
    from vgraph.runtime.progress import ProgressCallback

THREADS: Final = 3
"""Interleaved, unless the call says how many."""
SEED: Final = 0
"""Of the order in which visits come, and threads take turns: equal calls do the same."""
LARGE: Final = 20_000
"""From so many vertices and arcs on there is a warning."""
SECONDS: Final = 1e-4
"""A visit of an arc, or of a vertex, measured on PageRank and shortest paths: 50 to 150 us."""


class CheckedWarning(UserWarning):
    """A checked run will take long."""


class Checked(Runner):
    """The interpreter with checks, on kernel IR for the CPU: it raises a CheckError for the first fault found."""

    name: ClassVar[str] = "checked"

    def __init__(self, threads: int) -> None:
        self.threads = threads or THREADS

    def build(self, job: Job) -> Loaded:
        """The program compiled as for the CPU, with loops as they are written: in one that is made of several a value
        may stay in a register, and nobody would see what is stored or read between."""
        warn_if_large(job.graph)
        warn_of_prints(job.algorithm, source_parts(job.algorithm), "cpu")
        compiled = job.compiled(
            backend(), [step for step in user_passes.pipeline() if step is not fuse_loops]
        )
        return Loaded(plan_of(compiled.kernel, compiled.source.interface, compiled.schedule), compiled.kernel)

    def run(self, kernel: ir.Program, call: Call, progress: ProgressCallback | None) -> Ran:
        start = time.perf_counter()
        records = _Records(each_round(progress, call.max_rounds))
        values = interpret(
            kernel,
            call.graph,
            _given(kernel, call),
            seed=SEED,
            threads=self.threads,
            trace=records,
            checked=True,
        )
        return interpreted(call.plan, values, records, self.threads, time.perf_counter() - start)


class _Records(list[TraceRecord]):
    """The rounds; each is told when it ends."""

    def __init__(self, ended: Callable[[int, int], None]) -> None:
        super().__init__()
        self.ended = ended

    def append(self, record: TraceRecord) -> None:
        """A round has ended."""
        super().append(record)
        self.ended(record.active, record.edges)


def warn_if_large(graph: Graph) -> None:
    """Say how long a round over the whole graph takes, where that is long."""
    size = graph.num_vertices + graph.num_arcs
    if size >= LARGE:
        warnings.warn(
            f"a checked run takes about {size * SECONDS:,.0f} seconds for each round over all of {graph!r}: "
            f"a small graph, of at most some thousand arcs, finds as much",
            CheckedWarning,
            stacklevel=7,  # the caller of vg.run
        )


def _given(program: ir.Program, call: Call) -> dict[str, Any]:
    """The arguments of the interpreter: those of the algorithm, and the hidden ones."""
    found = dict(call.arguments)
    found |= {a.name: host_array(a, call) for a in call.plan.arrays if a.origin == "param"}
    slots = (slot for slot in call.plan.interface.args if slot.kind == "param")
    found |= {slot.name: scalar_argument(slot, call, "cpu")[0] for slot in slots}
    for p in program.params:
        if p.name.startswith(("policy.", "graph.")) and p.name not in found:  # no code depends on it
            found[p.name] = policy.number(p.name, call.graph)
    return found
