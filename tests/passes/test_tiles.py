"""`tiles`: ranges of vertices visited until nothing changes in them give the answer of the program, interpreted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS
from test_hops import GIVEN, NO_SEARCHES, TEXTS
from test_lowering import fitted, graphs, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.errors import ScheduleError


def lowered(program: ir.Program, tiles: int, **options: object) -> ir.Program:
    label = next(n.label for n in walk(program) if isinstance(n, ir.EdgeApply))
    schedule = vg.Schedule().at(label, tiles=tiles, **options)
    return PassManager(Context(schedule=schedule, abilities=CPU)).run(program, PIPELINE)


@pytest.mark.parametrize("name", ["sssp", "bfs", "behind"])
@given(
    graph=graphs(),
    tiles=st.sampled_from((1, 4, 100)),
    order=st.sampled_from((None, vg.UNORDERED, vg.delta_stepping(2))),
    seed=st.integers(0, 99),
)
@settings(max_examples=3)
def test_kernels_give_the_answer_of_the_program(name, graph, tiles, order, seed):
    program = fitted(TEXTS[name], graph)
    kernel = lowered(program, tiles, **({} if order is None else {"order": order}))
    assert f"tiles {tiles}" in print_program(kernel)
    same(interpret(kernel, graph, GIVEN, seed=seed, threads=3), interpret(program, graph, GIVEN))


def test_one_loop_does_all_and_one_more_claims():
    graph = vg.Graph.from_edges(range(39), range(1, 40), weight=[1] * 39)
    for name, rounds in (("sssp", 1), ("bfs", 2)):
        trace = []
        interpret(lowered(fitted(TEXTS[name], graph), 4), graph, {"source": 0}, trace=trace)
        assert len(trace) == rounds
        assert trace[0].direction == "tiles"
        assert trace[0].active >= 40


@pytest.mark.parametrize("name", ["two sources", "depends on the round"])
def test_no_searches(name):
    with pytest.raises(ScheduleError, match="tiles=4"):
        lowered(parse_program(NO_SEARCHES[name]), 4)


def test_golden_ir(golden):
    program = lowered(parse_program(PROGRAMS["sssp"]), 64)
    golden(Path(__file__).parent / "golden" / "sssp-tiles-64.ir", print_program(program))
