"""Every pass by itself: the program behind each means what it meant before, and its text can be read again."""

from __future__ import annotations

import numpy as np
import pytest
from lowering_programs import PROGRAMS
from test_lowering import fitted, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, CUDA
from vgraph.compiler.facts import Facts
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.compiler.passes.double_buffer import double_buffer
from vgraph.schedule import Options, Schedule

PEELING = """\
program peeling: algorithm, ids 32, offsets 32
param source: vid
vertex degree: i32 local
frontier f
priority q: degree
operator begin(v) {
  degree[v] = cast<i32>(degree.out(v))
}
operator leave(src, edge, dst) {
  degree[dst] += -1:i32
}
run {
  vertex_apply(begin)
  refill q
  f = pop q
  while (size(f) > 0:i64) {
    edge_apply(leave, f)
    f = pop q
  }
}
return degree
return left = scalar left(q)
"""
ALL = {**PROGRAMS, "peeling": PEELING}
LARGE = Facts(large=True, directed=True)
CASES = [
    ("lower-ordered", "sssp", {"order": vg.delta_stepping(4), "balance": vg.TWC}, CUDA),
    ("lower-ordered", "sssp", {"order": vg.STRICT}, CPU),
    ("lower-fills", "sssp", {}, CPU),
    ("compress-sets", "components", {}, CPU),
    ("lower-vertex", "frequent", {}, CPU),
    ("lower-queues", "peeling", {}, CPU),
    ("choose-per-round", "bfs", {}, CPU),
    ("choose-per-round", "bfs", {}, CUDA),
    ("choose-per-round", "paths", {}, CUDA),
    ("choose-per-round", "sssp_reverse", {"order": vg.UNORDERED}, CPU),
    ("lower-gather-apply", "bfs", {"phases": vg.GATHER_APPLY, "payload": vg.COMPUTED}, CPU),
    ("lower-gather-apply", "sums_reverse", {"phases": vg.GATHER_APPLY, "pipeline": 2}, CPU),
    ("lower-apply-scatter", "sssp", {"phases": vg.APPLY_SCATTER, "payload": vg.RAW}, CPU),
    ("lower-apply-scatter", "sums", {"phases": vg.APPLY_SCATTER, "payload": vg.COMPUTED}, CPU),
    ("lower-pull", "sssp", {"direction": vg.PULL, "drive": vg.DATA, "balance": vg.SPLIT(2)}, CPU),
    ("lower-pull", "sums", {"direction": vg.PULL, "segments": 4}, CPU),
    ("lower-pull", "sssp", {"direction": vg.PULL, "drive": vg.TOPOLOGY, "segments": 4}, CUDA),
    ("lower-push", "limited", {"direction": vg.PUSH, "balance": vg.EDGE, "sync": vg.BSP}, CPU),
    ("balance-load", "spread", {"balance": vg.SPLIT(2)}, CPU),
    ("balance-load", "sssp", {"direction": vg.PUSH, "drive": vg.DATA, "balance": vg.WARP}, CUDA),
    ("lower-storage", "bfs_reverse", {"direction": vg.PULL}, CPU),
]


def asked(program: ir.Program, options: dict[str, object]) -> Schedule:
    """The options for all edge operators; without any, for the first operator."""
    chosen = {o.name for o in program.operators if o.is_edge} or {program.operators[0].name}
    return Schedule({n: Options(**options) for n in labels(program) if n in chosen})


@pytest.mark.parametrize(
    ("step", "name", "options", "device"),
    CASES,
    ids=lambda x: x if isinstance(x, str) else getattr(x, "device", None) or "-".join(x) or "auto",
)
def test_every_station_means_the_same(step, name, options, device):
    rng = np.random.default_rng(3)
    src, dst, weight = (rng.integers(0, 7, 18) for _ in range(3))
    graph = vg.Graph.from_edges(src, dst, num_vertices=7, directed=True, weight=weight.astype(np.int32))
    program = fitted(ALL[name], graph)
    want = interpret(program, graph, {"source": 0})
    hidden = {"graph.transposed": True, "graph.max_degree": 9, "graph.max_in_degree": 9}
    found = [program]
    changed = []

    def check(after_step, after):
        if after is found[-1]:
            return
        found.append(after)
        changed.append(after_step.name)
        same(interpret(after, graph, {"source": 0, **hidden}), want)
        if after.level is ir.Level.SCHEDULED:
            assert print_program(parse_program(print_program(after))) == print_program(after)

    context = Context(schedule=asked(program, options), facts=LARGE, abilities=device)
    PassManager(context).run(program, PIPELINE, on_pass=check)
    assert step in changed


def test_an_apply_counts_the_arcs_that_it_walks():
    plan = "direction=push, phases=fused, drive=data, frontier=sparse, sync=async, deduplicate=false"
    text = (
        PROGRAMS["sssp"]
        .replace("sssp: algorithm", "sssp: scheduled")
        .replace("frontier frontier\n", "global @arcs: i64\nfrontier frontier\n")
        .replace("(relax, frontier)", f"(relax, frontier) schedule({plan}) counting arcs\n    break")
        .replace("return dist\n", "return arcs = scalar @arcs\n")
    )
    graph = vg.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], weight=np.ones(4, np.int32))
    program = fitted(text, graph)
    lowered = PassManager(Context()).run(program, PIPELINE[PIPELINE.index(double_buffer) :])
    for station in (program, lowered):
        assert interpret(station, graph, {"source": 0})["arcs"] == 3
