"""`hops`: loops that go on within a round with what they find give the answer of the program, interpreted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS, reversed_applies
from test_lowering import fitted, graphs, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CUDA
from vgraph.compiler.analysis.searches import search
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.passes import PIPELINE
from vgraph.errors import ScheduleError

GIVEN = {"source": 0, "first": 0}
LABELS = {"sssp": "relax", "bfs": "visit", "bfs_by_level": "visit"}
TEXTS = {name: PROGRAMS[name] for name in LABELS}
TEXTS["marked"] = (
    PROGRAMS["bfs"]
    .replace("vertex parent", "vertex seen: bool local\nvertex parent")
    .replace("claim level[dst] from -1:i32 with @depth {", "claim seen[dst] from false with true {")
    .replace("    parent[dst] = src", "    parent[dst] = src\n    level[dst] = (@depth * 2:i32)")
    .replace("  level[source]", "  fill seen = false\n  seen[source] = true\n  level[source]")
)
TEXTS["behind"] = (
    PROGRAMS["bfs"]
    .replace("global @depth: i32\n", "global @depth: i32\nglobal @steps: i64\n")
    .replace("    @depth = (@depth + 1:i32)\n", "")
    .replace(
        "edge_apply(visit, frontier)\n",
        "edge_apply(visit, frontier)\n    @depth = (@depth + 1:i32)\n    @steps = (@steps + 3:i64)\n",
    )
    .replace(
        "return level\n",
        "return level\nreturn depth = scalar @depth\nreturn steps = scalar @steps\n"
        "return left = scalar size(frontier)\n",
    )
)
TEXTS["guarded"] = PROGRAMS["bfs"].replace(
    "  claim level[dst]", "  if (src < 7:vid) {\n  claim level[dst]"
).replace("    parent[dst] = src\n  }\n", "    parent[dst] = src\n  }\n  }\n")  # fmt: skip
TEXTS["again"] = (
    PROGRAMS["bfs"]
    .replace("param source: vid\n", "param source: vid\nparam first: i64\n")
    .replace("frontier frontier", "global @turn: i64\nfrontier frontier")
    .replace("run {\n", "run {\n  while (@turn < 2:i64) {\n  @turn = (@turn + 1:i64)\n")
    .replace("}\nreturn", "  }\n}\nreturn")
    .replace("  level[source]", "  let a: i64 = first\n  let b: i64 = first\n  level[cast<vid>(a)]")
    .replace("single(source)", "single(cast<vid>(b))")
)
TEXTS["reversed"] = reversed_applies(PROGRAMS["bfs"])


def lowered(program: ir.Program, hops: int, **options: object) -> ir.Program:
    label = next(n.label for n in walk(program) if isinstance(n, ir.EdgeApply))
    schedule = vg.Schedule().at(label, direction=vg.PUSH, hops=hops, **options)
    return PassManager(Context(schedule=schedule, abilities=CUDA)).run(program, PIPELINE)


@pytest.mark.parametrize("name", TEXTS)
@given(
    graph=graphs(),
    hops=st.sampled_from((2, 3, 100)),
    order=st.sampled_from((vg.UNORDERED, vg.delta_stepping(2))),
    seed=st.integers(0, 99),
)
@settings(max_examples=6)
def test_kernels_give_the_answer_of_the_program(name, graph, hops, order, seed):
    program = fitted(TEXTS[name], graph)
    kernel = lowered(program, hops, order=order)
    assert f"hops {hops}" in print_program(kernel)
    same(
        interpret(kernel, graph, GIVEN, seed=seed, threads=3),
        interpret(program, graph, GIVEN),
    )


def test_fewer_rounds_are_made():
    n = 40
    graph = vg.Graph.from_edges(range(n - 1), range(1, n))
    program, rounds = fitted(TEXTS["bfs"], graph), []
    for hops in (1, 4, 100):
        trace = []
        interpret(lowered(program, hops), graph, {"source": 0}, trace=trace)
        rounds.append(len(trace))
    assert rounds == [n, n // 4 + 1, 2]  # and one that claims


BFS = PROGRAMS["bfs"]
NO_SEARCHES = {
    "two sources": BFS.replace("single(source)", "all"),
    "the source is open": BFS.replace("  level[source] = 0:i32\n", ""),
    "another vertex, computed": TEXTS["again"].replace("let b: i64 = first", "let b: i64 = 1:i64"),
    "another vertex is claimed": BFS.replace("level[source] = 0", "level[0:vid] = 0"),
    "the source is claimed in vain": BFS.replace("level[source] = 0", "level[source] = -1"),
    "open again": BFS.replace("@depth = 0:i32", "@depth = -3:i32"),
    "falls": BFS.replace("(@depth + 1:i32)", "(@depth + -1:i32)"),
    "unknown start": BFS.replace("@depth = 0:i32", "@depth = cast<i32>(size(frontier))"),
    "more in the loop": BFS.replace("(visit, frontier)\n", "(visit, frontier)\n    level[source] = 7:i32\n"),
    "depends on the round": BFS.replace("  claim level[dst]", "  if (@depth < 3:i32) {\n  claim level[dst]").replace(
        "    parent[dst] = src\n  }\n", "    parent[dst] = src\n  }\n  }\n"
    ),
    "reads what is claimed": BFS.replace("parent[dst] = src", "parent[dst] = parent[src]"),
    "other levels": PROGRAMS["bfs_by_level"].replace("(level[src] + 1:i32)", "(level[src] * 2:i32)"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_SEARCHES)
def test_no_searches(name):
    program = parse_program(NO_SEARCHES[name])
    (apply,) = (n for n in walk(program) if isinstance(n, ir.EdgeApply))
    assert isinstance(search(program, apply), Obstacle)
    with pytest.raises(ScheduleError, match="hops=2"):
        lowered(program, 2)


def test_golden_ir(golden):
    golden(Path(__file__).parent / "golden" / "bfs-hops-2.ir", print_program(lowered(parse_program(BFS), 2)))
