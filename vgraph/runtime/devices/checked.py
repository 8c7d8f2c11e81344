"""Checked runs: a program compiled as for the CPU, and its kernel IR run by an interpreter that watches it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from vgraph.compiler.interpret import TraceRecord
from vgraph.runtime import policy
from vgraph.runtime.arguments import check_vertex, host_array, scalar_argument
from vgraph.runtime.devices.runner import Call
from vgraph.runtime.result import Result, Round, Stats, Trace
from vgraph.runtime.rounds import each_round, with_rounds

if TYPE_CHECKING:
    from vgraph.compiler import ir
    from vgraph.graph import Graph
    from vgraph.language.decorators import AlgorithmDef
    from vgraph.runtime.progress import ProgressCallback
    from vgraph.schedule import Schedule

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


def run_checked(
    definition: AlgorithmDef,
    graph: Graph,
    arguments: Mapping[str, Any],
    types: Mapping[str, Any],
    schedule: Schedule,
    threads: int | None,
    deterministic: bool,
    progress: ProgressCallback | None,
    max_rounds: int | None,
) -> Result:
    """Run an algorithm with complete `arguments` of the given `types` on the interpreter with checks.

    Raises a CheckError for the first fault found, else as `execute` does.
    """
    from vgraph.compiler import build
    from vgraph.compiler.frontend import typed_program
    from vgraph.compiler.interpret import interpret
    from vgraph.runtime.devices.cpu import backend
    from vgraph.runtime.executor import signature_of
    from vgraph.runtime.plan import plan_of

    start = time.perf_counter()
    warn_if_large(graph)
    signature = signature_of(graph, types)
    if max_rounds is not None:
        schedule = with_rounds(schedule, typed_program(definition, signature).program)
    compiled = build(
        definition,
        signature,
        backend(),
        schedule=schedule,
        threads=1 if threads == 1 else 0,
        facts=policy.facts_of(graph),
        deterministic=deterministic,
    )
    interface = compiled.source.interface
    call = Call(plan_of(compiled.kernel, interface, compiled.schedule), graph, arguments)
    given = _given(compiled.kernel, call)
    done = time.perf_counter()
    records = _Records(each_round(progress, definition.name, max_rounds))
    count = THREADS if threads is None else threads
    values = interpret(compiled.kernel, graph, given, seed=SEED, threads=count, trace=records, checked=True)
    ran = time.perf_counter()
    trace = Trace([Round(r.label, r.direction, r.active, r.edges, 0.0) for r in records])
    rounds = sum(r.direction != "vertex" for r in trace) or len(trace)
    edges = sum(r.edges for r in trace)
    stats = Stats("checked", count, rounds, edges, done - start, 0.0, ran - done, False)
    used = policy.with_deltas(compiled.schedule, (a.name for a in interface.args), graph, "cpu")
    return Result(definition.name, values, stats, trace, used)


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
            stacklevel=4,
        )


def _given(program: ir.Program, call: Call) -> dict[str, Any]:
    """The arguments of the interpreter: those of the algorithm, and the hidden ones."""
    found = dict(call.arguments)
    for name in call.plan.vertex_params:
        check_vertex(name, found[name], call.graph)
    found |= {a.name: host_array(a, call) for a in call.plan.arrays if a.origin == "param"}
    slots = (slot for slot in call.plan.interface.args if slot.kind == "param")
    found |= {slot.name: scalar_argument(slot, call, "cpu")[0] for slot in slots}
    for p in program.params:
        if p.name.startswith(("policy.", "graph.")) and p.name not in found:  # no code depends on it
            found[p.name] = policy.number(p.name, call.graph)
    return found
