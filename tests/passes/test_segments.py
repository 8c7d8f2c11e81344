"""`segments`: pulls whose sources are cut into ranges give the answer of the program, interpreted and compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS
from test_lowering import fitted, graphs, lowered, native, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CUDA
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.graph import Graph, machine
from vgraph.graph.layouts import on_host, ordered, sell
from vgraph.schedule import Options, Schedule

PULLED = ("sssp", "limited", "bfs", "bfs_by_level", "sums", "components")
COUNTS = (2, 3, 4, 5, 100)


def scheduled(program, count, layout=None, rows=vg.CSR, parts=0):
    """A pull over all vertices by segments, for every edge operator."""
    found = {}
    for n in walk(program):
        if isinstance(n, ir.EdgeApply):
            asked = {"direction": vg.PULL, "drive": vg.TOPOLOGY, "segments": count, "rows": rows}
            if parts:
                asked |= {"segments": 1, "rows": vg.SLICES, "parts": parts}
            if layout is not None and (n.frontier or n.out):
                asked["frontier"] = layout
            found[n.label] = Options(**asked)
    return Schedule(found)


@pytest.mark.parametrize("name", PULLED)
@given(
    graph=graphs(),
    count=st.sampled_from(COUNTS),
    layout=st.sampled_from((vg.SPARSE, vg.BITMAP, None)),
    seed=st.integers(0, 99),
    threads=st.sampled_from((0, 1)),
    rows=st.sampled_from((vg.CSR, vg.SLICES, "parts")),
)
@settings(max_examples=15)
def test_kernels_give_the_answer_of_the_program(name, graph, count, layout, seed, threads, rows):
    parts = "part" if rows == "parts" else 0
    if parts:
        numbers = np.arange(graph.num_edges, dtype=np.int32) % count
        graph = graph.with_edge_property("part", numbers[graph.edge_array("edge.number")])
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    kernel = lowered(program, scheduled(program, count, layout, rows, parts), threads)
    assert f"segments {2 if parts else count}" in print_program(kernel)
    assert ("sliced" in print_program(kernel)) == (rows is vg.SLICES)
    assert ('by "part"' in print_program(kernel)) == bool(parts)
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=1 if threads else 3), want)


@pytest.mark.covering
@pytest.mark.parametrize(("count", "rows", "threads"), [
    *((*cell, threads) for cell in ((2, vg.CSR), (3, vg.SLICES), (1000, vg.CSR)) for threads in (1, 2, 4)),
    (9, "parts", 2),
])  # fmt: skip
@pytest.mark.parametrize("name", PULLED)
def test_machine_code_gives_the_answer_of_the_program(name, count, rows, threads, monkeypatch):
    for module, limit, value in ((sell, "MOST", 64), (sell, "TASK", 2), (machine, "LEAST", 64)):
        monkeypatch.setattr(module, limit, value)
    rng = np.random.default_rng(threads)
    n, m = 300, 1500
    ends, weight = rng.integers(0, n, (2, m)), rng.integers(0, 9, m).astype(np.int32)
    graph = Graph.from_edges(*ends, num_vertices=n, weight=weight, part=rng.integers(0, count, m))
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    schedule = scheduled(program, count, rows=rows, parts="part" if rows == "parts" else 0)
    same(native(lowered(program, schedule, threads), graph, threads), want)


@given(graph=graphs(), count=st.sampled_from((1, *COUNTS)))
@settings(max_examples=25)
def test_segments_hold_every_arc_once(graph, count):
    key = f"segments.{count}"
    found = on_host(graph, key)
    assert found.numbers["count"] == count
    bounds, vertices, offsets, columns = found.arrays.values()
    weight = ordered(graph, "weight", key)
    arcs = []
    for s in range(count):
        rows = range(bounds[s], bounds[s + 1])
        assert np.all(np.diff(vertices[rows].astype(int)) > 0)
        for r in rows:
            sources = columns[offsets[r] : offsets[r + 1]]
            assert sources.size
            assert np.all((sources // found.numbers["width"]) == s)
            arcs += [(int(u), int(vertices[r]), int(w)) for u, w in
                     zip(sources, weight[offsets[r] : offsets[r + 1]], strict=True)]  # fmt: skip
    rows_of = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets.astype(int)))
    stored = zip(rows_of, graph.out.column_indices, graph.edge_properties["weight"], strict=True)
    assert sorted(arcs) == sorted((int(u), int(v), int(w)) for u, v, w in stored)
    assert on_host(graph, key) is found


@pytest.mark.parametrize("name", ["sssp", "sssp_reverse"])
@given(
    graph=graphs(),
    count=st.sampled_from(COUNTS),
    parts=st.sampled_from((0, "part")),
    seed=st.integers(0, 99),
)
@settings(max_examples=15)
def test_slices_give_the_answer_of_the_program(name, graph, count, parts, seed):
    """Rows of a destination from all ranges of sources, or parts, cut at will, on several threads."""
    if name.endswith("reverse"):
        parts = 0  # they are made of the arcs that enter vertices
    if parts:
        numbers = np.arange(graph.num_edges, dtype=np.int32) % count * 3
        graph = graph.with_edge_property("part", numbers[graph.edge_array("edge.number")])
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    context = Context(schedule=scheduled(program, count, parts=parts), threads=0, abilities=CUDA)
    kernel = PassManager(context).run(program, PIPELINE)
    assert f"in vertices slices {'2 by ' if parts else count}" in print_program(kernel)
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=3), want)


def test_the_code_does_not_depend_on_the_number_of_segments():
    from vgraph.runtime.devices.cpu import backend

    program = parse_program(PROGRAMS["components"])
    texts = {
        backend().emit(lowered(program, scheduled(program, count), 0)).text.replace(f"{count}.", "k.")
        for count in (3, 7)
    }
    assert len(texts) == 1


def test_golden_ir(golden):
    program = parse_program(PROGRAMS["sssp"])
    kernel = lowered(program, scheduled(program, 4), 0)
    golden(Path(__file__).parent / "golden" / "sssp-segments-4.ir", print_program(kernel))


def test_golden_ir_of_segments_in_slices(golden):
    program = parse_program(PROGRAMS["sssp"])
    kernel = lowered(program, scheduled(program, 4, rows=vg.SLICES), 0)
    golden(Path(__file__).parent / "golden" / "sssp-rows-slices-4.ir", print_program(kernel))


def test_golden_ir_of_parts(golden):
    program = parse_program(PROGRAMS["sssp"])
    kernel = lowered(program, scheduled(program, 4, parts=8), 0)
    golden(Path(__file__).parent / "golden" / "sssp-parts-8.ir", print_program(kernel))


def test_golden_ir_of_slices(golden):
    program = parse_program(PROGRAMS["sssp"])
    context = Context(schedule=scheduled(program, 4), threads=0, abilities=CUDA)
    kernel = PassManager(context).run(program, PIPELINE)
    golden(Path(__file__).parent / "golden" / "sssp-slices-4.ir", print_program(kernel))
