"""Edge operators against the arcs: what they do on a graph they do along the arcs of the transposed graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS, reversed_applies
from test_lowering import OPTIONS, fitted, graphs, lowered, native, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.refusals.schedules import IllegalSchedule
from vgraph.runtime.executor import signature_of
from vgraph.schedule import SPLIT, Options, Schedule

EDGE_PROGRAMS = [name for name, text in PROGRAMS.items() if "edge_apply" in text and "_reverse" not in name]
FORMS = [
    *({"phases": vg.GATHER_APPLY, "payload": p, "pipeline": k} for p in (vg.RAW, vg.COMPUTED) for k in (0, 2)),
    *({"phases": vg.APPLY_SCATTER, "payload": p, "pipeline": k} for p in (vg.RAW, vg.COMPUTED) for k in (0, 2)),
    *({"balance": b, "direction": d} for b in (vg.EDGE, SPLIT(4)) for d in (vg.PUSH, vg.PULL)),
    {"order": vg.delta_stepping(3)},
    {"order": vg.STRICT},
    {"prefetch": 8},
    {"vectorize": True, "direction": vg.PULL},
]  # fmt: skip


def transposed(graph):
    """The graph with all arcs turned round."""
    src = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets.astype(np.int64)))
    dst = graph.out.column_indices.astype(np.int64)
    bits = 64 if graph.id_dtype.itemsize == 8 else None
    return vg.Graph.from_edges(
        dst, src, num_vertices=graph.num_vertices, id_bits=bits, **dict(graph.edge_properties)
    )


@pytest.mark.parametrize("name", EDGE_PROGRAMS)
@given(
    graph=graphs(),
    options=st.sampled_from([*OPTIONS, *FORMS]),
    seed=st.integers(0, 99),
    threads=st.sampled_from((0, 1)),
)
@settings(max_examples=10)
def test_it_is_the_program_on_the_transposed_graph(name, graph, options, seed, threads):
    backward = fitted(reversed_applies(PROGRAMS[name]), graph)
    want = interpret(fitted(PROGRAMS[name], graph), transposed(graph), {"source": 0})
    same(interpret(backward, graph, {"source": 0}), want)
    schedule = Schedule({label: Options(**options) for label in labels(backward)})
    try:
        kernel = lowered(backward, schedule, threads)
    except (IllegalSchedule, vg.ScheduleError):
        return  # which ones are illegal is tested by itself
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=1 if threads else 3), want)


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("name", ["sssp", "bfs", "sums"])
def test_machine_code_of_every_form(name, options):
    rng = np.random.default_rng(3)
    n, m = 200, 900
    ends, weight = rng.integers(0, n, (2, m)), rng.integers(0, 9, m).astype(np.int32)
    graph = vg.Graph.from_edges(*ends, num_vertices=n, weight=weight)
    program = fitted(reversed_applies(PROGRAMS[name]), graph)
    want = interpret(fitted(PROGRAMS[name], graph), transposed(graph), {"source": 0})
    schedule = Schedule({label: Options(**options) for label in labels(program)})
    try:
        kernel = lowered(program, schedule, 2)
    except (IllegalSchedule, vg.ScheduleError):
        with pytest.raises((IllegalSchedule, vg.ScheduleError)):  # neither is it legal along the arcs
            lowered(fitted(PROGRAMS[name], graph), schedule, 2)
        return
    same(native(kernel, graph, 2), want)


@pytest.mark.parametrize(
    ("direction", "way"), [(vg.PUSH, ir.Orientation.IN), (vg.PULL, ir.Orientation.OUT)], ids=["push", "pull"]
)
def test_a_push_walks_in_arcs_and_a_pull_out_arcs(direction, way, golden):
    from pathlib import Path

    options = Options(direction=direction, drive=vg.TOPOLOGY, order=vg.UNORDERED)
    kernel = lowered(parse_program(PROGRAMS["sssp_reverse"]), Schedule({"relax": options}), 0)
    assert {n.orientation for n in walk(kernel) if isinstance(n, ir.ForNeighbors)} == {way}
    path = Path(__file__).parent / "golden" / f"sssp-reverse-{direction.value}.ir"
    golden(path, print_program(kernel))


def test_segments_are_refused():
    options = Options(direction=vg.PULL, drive=vg.TOPOLOGY, segments=2)
    with pytest.raises(vg.ScheduleError, match="against the arcs"):
        lowered(parse_program(PROGRAMS["sssp_reverse"]), Schedule({"relax": options}), 0)


@vg.operator
def lower(src, edge, dst):
    """The smallest number that dst can reach."""
    dst.least = min(dst.least, src.least + edge.toll)


@vg.algorithm
def reachable(graph):
    """The smallest id that can be reached, tolls added."""
    least = graph.vertex_property(vg.int64, fill=100)
    least[0] = 0
    frontier = graph.frontier(0)
    while frontier:
        frontier = graph.edge_apply(lower, frontier, reverse=True)
    return least


def test_the_surface():
    graph = vg.Graph.from_edges([1, 2, 0, 4], [0, 1, 3, 1], toll=np.array([5, 7, 1, 2]))
    for device in ("cpu", "python"):
        assert vg.run(reachable, graph, device=device).least.tolist() == [0, 5, 12, 100, 7]


def test_an_undirected_graph_has_one_direction():
    graph = vg.Graph.from_edges([0, 1], [1, 2], toll=np.array([1, 1]), directed=False)
    program = build_program(reachable, signature_of(graph, argument_types(reachable, {})))
    assert [n.reverse for n in walk(program) if isinstance(n, ir.EdgeApply)] == [False]
    for device in ("cpu", "python"):
        assert vg.run(reachable, graph, device=device).least.tolist() == [0, 1, 2]
