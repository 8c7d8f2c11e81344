"""Frontiers that go to a filter alone: which need not have what it would drop, and that no vertex is lost by that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import parse_program, print_node
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes.narrow_frontiers import narrow_frontiers, needed

PROGRAM = """\
program p: algorithm, ids 32, offsets 32
param least: i32
vertex rest: i32 local
vertex core: i32 local
global @level: i32
frontier f
frontier g
frontier h
operator leave(src, edge, dst) {
  if (core[dst] < 0:i32) {
    rest[dst] += -1:i32
  }
}
operator both(src, edge, dst) {
  rest[dst] += -1:i32
  core[dst] min= 7:i32
}
operator sender(src, edge, dst) {
  rest[dst] += -1:i32
  rest[src] += -1:i32
}
operator counting(src, edge, dst) {
  rest[dst] += -1:i32
  @level += 1:i32
}
operator peel(v) {
  let low: bool = ((core[v] < 0:i32) and (rest[v] <= @level))
  if low {
    core[v] = @level
  }
  emit low
}
operator few(v) {
  emit (rest[v] < least)
}
operator always(v) {
  core[v] = 1:i32
  emit (rest[v] < 3:i32)
}
operator otherwise(v) {
  if (rest[v] < 3:i32) {
    core[v] = 1:i32
  } else {
    core[v] = 2:i32
  }
  emit (rest[v] < 3:i32)
}
operator either(v) {
  emit ((rest[v] < 3:i32) or (core[v] < 0:i32))
}
operator mixed(v) {
  emit (rest[v] < core[v])
}
operator degrees(v) {
  emit (cast<i64>(rest[v]) < degree.out(v))
}
run {
  f = all
  STATEMENTS
}
return core
"""


def parsed(statements: str) -> ir.Program:
    return parse_program(PROGRAM.replace("STATEMENTS", statements))


def narrowed(statements: str) -> list[str | None]:
    program = narrow_frontiers.run(parsed(statements), Context())
    return [n.only for top in program.body for n in walk(top) if isinstance(n, ir.EdgeApply)]


PAIR = "g = edge_apply({}, f)\nh = vertex_apply({}, g)"


@pytest.mark.parametrize(
    ("update", "chosen", "found"),
    [
        ("leave", "peel", "peel"),
        ("leave", "few", "few"),
        ("counting", "few", "few"),
        ("both", "few", None),  # two numbers change: the last update of one may not see the last of the other
        ("sender", "few", None),  # others change the number, too, and do not look
        ("counting", "peel", None),  # what it is compared with changes in the round
        ("leave", "always", None),
        ("leave", "otherwise", None),
        ("leave", "either", None),
        ("leave", "mixed", None),
        ("leave", "degrees", None),
    ],
)
def test_what_a_filter_needs(update: str, chosen: str, found: str | None) -> None:
    assert narrowed(PAIR.format(update, chosen)) == [found]


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ("g = edge_apply(leave, f)\n@level = 3:i32\nh = vertex_apply(peel, g)", [None]),
        ("g = edge_apply(leave, f)\nh = vertex_apply(peel, f)", [None]),
        ("g = edge_apply(leave, f)\nh = vertex_apply(peel, g)\nh = vertex_apply(few, g)", [None]),
        ("g = edge_apply(leave, f)\nh = vertex_apply(peel, g)\nlet n: i64 = size(g)", [None]),
        ("g = edge_apply(leave, f)\ng = vertex_apply(peel, g)", [None]),
        ("g = edge_apply(leave, f)\nvertex_apply(peel, g)", [None]),
        (2 * "g = edge_apply(leave, f)\nh = vertex_apply(peel, g)\n", ["peel", "peel"]),
        ("while (size(f) > 0:i64) {\ng = edge_apply(leave, f)\nf = vertex_apply(peel, g)\n}", ["peel"]),
    ],
)
def test_a_frontier_that_somebody_else_sees_stays_whole(statements: str, found: list[str | None]) -> None:
    assert narrowed(statements) == found


def test_the_condition_is_that_of_the_far_end() -> None:
    program = parsed(PAIR.format("leave", "peel"))
    condition = needed(program, program.operator("leave"), program.operator("peel"), "u")
    assert condition is not None
    assert print_node(condition) == "(rest[u] <= @level)"


# --- nothing is lost ---------------------------------------------------------------------------------------------


@vg.operator
def shift(src, edge, dst):
    dst.height += edge.weight


@vg.operator
def high(v, graph):
    up = v.height > graph.bar
    if up:
        v.times += 1
    return up


@vg.algorithm
def climb(graph, weight: vg.edge_property(vg.int32)):
    """Heights rise and fall; who is above the bar at the end of a round goes on."""
    height = graph.vertex_property(vg.int32)
    times = graph.vertex_property(vg.int32)
    graph.bar = 2
    active = graph.vertices
    for _ in range(6):
        moved = graph.edge_apply(shift, active)
        active = graph.vertex_filter(high, moved)
        graph.bar += 1
    return height, times


def graph_of(seed: int) -> vg.Graph:
    rng = np.random.default_rng(seed)
    n = 60
    source, target = rng.integers(0, n, (2, 400))
    return vg.Graph.from_edges(
        source,
        target,
        num_vertices=n,
        directed=bool(seed % 2),
        weight=rng.integers(-4, 5, 400).astype(np.int32),
    )


@pytest.mark.parametrize(
    "options", [{}, {"direction": vg.PUSH}, {"direction": vg.PULL}, {"frontier": vg.BITMAP}]
)
def test_no_vertex_is_lost(options: dict[str, Any]) -> None:
    schedule = vg.Schedule().at("shift", **options)
    for seed in range(4):
        graph = graph_of(seed)
        wanted = vg.run(climb, graph, weight="weight", device="python")
        assert wanted.times.max() > 2
        for threads in (1, 3):
            found = vg.run(climb, graph, weight="weight", schedule=schedule, threads=threads)
            np.testing.assert_array_equal(found.height, wanted.height)
            np.testing.assert_array_equal(found.times, wanted.times)
