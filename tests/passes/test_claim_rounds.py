"""Searches whose steps are one number: when they claim, and that they find the same."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.algorithms.sssp import relax
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import parse_program, print_node
from vgraph.compiler.passes.claim_rounds import claim_rounds
from vgraph.schedule import Schedule

PROGRAM = """\
program p: algorithm, ids 32, offsets 32
param source: vid
param other: vid
vertex dist: i64 local
vertex more: i64 local
global @x: i64
frontier f
frontier g
operator relax(src, edge, dst) {
  dist[dst] min= (dist[src] + 1:i64)
}
run {
  fill dist = 9223372036854775807:i64
  dist[source] = 0:i64
  f = single(source)
  while (size(f) > 0:i64) {
    f = edge_apply(relax, f)
  }
}
return dist
"""
STEP = "dist[dst] min= (dist[src] + 1:i64)"


def claims(text: str, schedule: Schedule | None = None) -> bool:
    made = claim_rounds.run(parse_program(text), Context(schedule=schedule or Schedule()))
    printed = print_node(made)
    assert print_node(parse_program(printed)) == printed
    return "claim dist[dst]" in printed


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("", ""),
        (STEP, "dist[dst] min= (dist[src] + 3:i64)"),
        ("  f = single", "  @x = 5:i64\n  fill more = 1:i64\n  more[other] = 2:i64\n  f = single"),
        ("dist[source] = 0:i64", "dist[source] = 7:i64"),
    ],
)
def test_what_claims(there: str, instead: str) -> None:
    assert claims(PROGRAM.replace(there, instead, 1))


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        (STEP, "dist[dst] max= (dist[src] + 1:i64)"),
        (STEP, "dist[dst] min= (dist[src] + 0:i64)"),
        (STEP, "dist[dst] min= (dist[src] + -1:i64)"),
        (STEP, "dist[dst] min= (dist[src] + 40000:i64)"),
        (STEP, "dist[dst] min= (dist[dst] + 1:i64)"),
        (STEP, "dist[dst] min= (more[src] + 1:i64)"),
        (STEP, "dist[src] min= (dist[dst] + 1:i64)"),
        (STEP, "more[dst] min= (dist[src] + 1:i64)"),
        (STEP, STEP + "\n  more[dst] min= 1:i64"),
        (STEP, f"if (more[dst] > 0:i64) {{\n    {STEP}\n  }}"),
        ("fill dist = 9223372036854775807:i64", "fill dist = 100:i64"),
        ("fill dist = 9223372036854775807:i64", ""),
        ("dist[source] = 0:i64", "dist[other] = 0:i64"),
        ("dist[source] = 0:i64", "dist[source] = -3:i64"),
        ("dist[source] = 0:i64", "dist[source] = @x"),
        ("dist[source] = 0:i64", ""),
        ("dist[source] = 0:i64", "dist[source] = 0:i64\n  dist[other] = 0:i64"),
        ("f = single(source)", "f = all"),
        ("f = single(source)", "g = single(source)"),
        ("f = single(source)", "f = single(source)\n  edge_apply(relax, g)"),
        ("f = edge_apply(relax, f)", "f = edge_apply(relax, f)\n    @x = 1:i64"),
        ("f = edge_apply(relax, f)", "g = edge_apply(relax, f)"),
    ],
)
def test_what_does_not(there: str, instead: str) -> None:
    assert there in PROGRAM
    assert not claims(PROGRAM.replace(there, instead, 1))


def test_schedules_of_minima_keep_them() -> None:
    assert claims(PROGRAM, Schedule().at("relax", direction=vg.PULL))
    assert claims(PROGRAM, Schedule().at("relax", order=vg.STRICT))
    assert not claims(
        PROGRAM, Schedule().at("relax", direction=vg.PULL, prefetch=8)
    )  # claims read no neighbors


def test_a_narrow_type_ends_where_it_ends() -> None:
    """Claims would give the largest number away, for ever, where a minimum stops."""
    narrow = (
        PROGRAM.replace("i64 local", "i32 local")
        .replace("1:i64", "1:i32")
        .replace("0:i64\n  f", "0:i32\n  f")
    )
    narrow = narrow.replace("9223372036854775807:i64", "2147483647:i32")
    made = print_node(claim_rounds.run(parse_program(narrow), Context()))
    assert "== 2147483647:i32" in made
    assert "f = empty" in made


def lengths(dtype: vg.DType) -> vg.AlgorithmDef:
    @vg.algorithm
    def hops(graph, sources, weight: vg.edge_property(dtype) = 1):
        total = graph.vertex_property(dtype)
        for source in sources:
            dist = graph.vertex_property(dtype, fill=vg.inf)
            dist[source] = 0
            frontier = graph.frontier(source)
            while frontier:
                frontier = graph.edge_apply(relax, frontier)
            total += graph.where(dist < 1000, dist, 0)
        return dist, total

    return hops


@pytest.mark.parametrize(
    ("dtype", "directed"),
    [(vg.int32, True), (vg.int64, False), (vg.float32, False), (vg.float64, True)],
    ids=repr,
)
def test_the_same_is_found(dtype: vg.DType, directed: bool) -> None:
    rng = np.random.default_rng(4)
    graph = vg.Graph.from_edges(*rng.integers(0, 60, (2, 110)), num_vertices=60, directed=directed)
    program, weight = lengths(dtype), 0.3 if "float" in repr(dtype) else 1
    sources = np.array([3, 9, 20])
    want = vg.run(program, graph, sources=sources, weight=weight, device="python")
    pull = Schedule().at("relax", direction=vg.PULL)
    for schedule in (Schedule(), pull):
        found = vg.run(program, graph, sources=sources, weight=weight, schedule=schedule, threads=2)
        np.testing.assert_array_equal(found.dist, want.dist)
        np.testing.assert_array_equal(found.total, want.total)
