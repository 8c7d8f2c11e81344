"""Lists of frontiers on a GPU: what is taken out of one stays in it, where nobody changes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrix import shaped
from test_library_compiles import text_of

import vgraph as vg
from vgraph.compiler.backends.cuda.lists import views
from vgraph.compiler.ir.text import parse_program


@vg.operator
def reach(src, edge, dst):
    dst.seen = min(dst.seen, src.seen + 1)


@vg.operator
def note(v, graph):
    v.total += graph.turn
    graph.turns += v.seen


@vg.operator
def small(v):
    return v.seen < 2


@vg.algorithm
def emptied(graph, source: vg.vertex):
    """Levels are read backwards, changed, and read again after their list was emptied and filled anew."""
    seen = graph.vertex_property(vg.int64, fill=vg.inf)
    total = graph.vertex_property(vg.int64)
    graph.turns = 0
    seen[source] = 0
    frontier = graph.frontier(source)
    levels = []
    while frontier:
        levels.append(frontier)
        frontier = graph.edge_apply(reach, frontier)
    graph.turn = 1
    for k in range(len(levels)):
        graph.turn += 1
        level = levels[-1 - k]
        graph.vertex_apply(note, level)
    first = levels[0]
    kept = levels[1]
    changed = levels[1]
    levels = []
    everything = graph.vertices
    for _ in range(3):
        levels.append(first)
        levels.append(everything)
        last = levels[-1]
        graph.turn = 10000000
        graph.vertex_apply(note, last)
    graph.turn = 1000
    graph.vertex_apply(note, kept)
    changed = graph.vertex_filter(small, changed)
    graph.turn = 100000
    graph.vertex_apply(note, changed)
    return total, graph.turns


@pytest.mark.parametrize("directed", [True, False])
def test_levels_are_those_that_were_appended(gpu: Any, directed: bool) -> None:
    rng = np.random.default_rng(5)
    n = 90
    graph = vg.Graph.from_edges(
        rng.integers(0, n, 200), rng.integers(0, n, 200), num_vertices=n, directed=directed
    )
    wanted = vg.run(emptied, graph, source=3, device="python")
    for seed, options in enumerate(({}, {"frontier": vg.BITMAP}, {"direction": vg.PULL})):
        shaped(gpu, seed)
        schedule = vg.Schedule().at("reach", **options)
        got = vg.run(emptied, graph, source=3, schedule=schedule, device="cuda")
        np.testing.assert_array_equal(got.total, wanted.total)
        assert got.turns == wanted.turns


def test_a_level_that_is_read_once_its_list_was_emptied_is_a_copy() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    text = text_of(emptied, graph, vg.Schedule())
    assert text.count("view(team, level, ") == 1
    assert text.count("view(team, last, ") == 1
    assert text.count("view(") == 2
    assert text.count("if (get(team, ") == 3


HEAD = """\
program p: kernel, ids 32, offsets 32
vertex x: i64 local
frontier f sparse bitmap
frontier g sparse bitmap
list l
list m
run {
"""
READ = "parfor v in sparse f {\nx[v] = 1:i64\n}"


@pytest.mark.parametrize(
    ("lines", "view"),
    [
        (["f = l[0:i64]", READ], True),
        ([READ, "f = l[0:i64]", READ, "append l f", "convert f to sparse"], True),
        (["f = l[0:i64]", READ, "swap f g"], False),
        (["f = l[0:i64]", READ, "f = copy g"], False),
        (["f = l[0:i64]", "g = copy f"], False),
        (["f = l[0:i64]", "parfor v in vertices {\npush f v sparse\n}"], False),
        (["f = l[0:i64]", "convert f to bitmap"], False),
        (["f = l[0:i64]", READ.replace("sparse", "bitmap")], False),
        (["f = l[0:i64]", "clear l", READ], False),
        (["f = l[0:i64]", "clear m", READ], True),
        (["f = l[0:i64]", "clear l", "f = l[0:i64]", READ], True),
        (["f = m[0:i64]", "f = l[0:i64]", "clear m", READ], False),
        (["f = l[0:i64]", "clear l", "let n: i64 = size(f)"], False),
        (["f = l[0:i64]", "clear l", "if (size(f) > 0:i64) {", "}"], False),
        (["f = l[0:i64]", "if true {", "clear l", "}", READ], False),
        (["f = l[0:i64]", "while (size(f) > 0:i64) {", "f = l[1:i64]", READ, "}"], True),
        (["f = l[0:i64]", "while (size(f) > 0:i64) {", "clear l", "f = l[1:i64]", READ, "}"], False),
        (["for i in range(0:i64, 3:i64, 1:i64) {", "f = l[i]", READ, "clear l", "}"], True),
        (["for i in range(0:i64, 3:i64, 1:i64) {", READ, "f = l[i]", "clear l", "}"], False),
    ],
)
def test_what_is_a_view(lines: list[str], view: bool) -> None:
    program = parse_program(HEAD + "\n".join(lines) + "\n}\nreturn x\n")
    assert views(program) == (frozenset("f") if view else frozenset())
