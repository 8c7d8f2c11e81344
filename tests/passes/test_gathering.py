"""`lower-cautious`: visits that gather vertices never meet at one, whatever the threads do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lowering_programs import PROGRAMS
from test_lowering import fitted, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import transform
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.lower_cautious import lower_cautious
from vgraph.compiler.types import BOOL
from vgraph.graph import Graph
from vgraph.refusals.checks import DataRace

CONFLICTS = [vg.SEQUENTIAL, vg.NODE_LOCKED, vg.MARKED, vg.RACED]
GOLDEN = Path(__file__).parent / "golden"


def kernel_of(
    program: ir.Program, threads: int = 0, passes: object = PIPELINE, **options: object
) -> ir.Program:
    asked = vg.Schedule().at("gather", **options)
    for label in ("gather all", "gather again"):
        asked = asked.at(label, conflict=options["conflict"])
    return PassManager(Context(schedule=asked, threads=threads)).run(program, passes)


def graph_of(seed: int, n: int = 7) -> Graph:
    """Few vertices, so that nearly all visits conflict; loops, and parallel arcs. One has too many."""
    s, t = np.random.default_rng(seed).integers(0, n, (2, 16))
    return Graph.from_edges([*s, *[0] * 17], [*t, *[1] * 17], num_vertices=n, weight=np.ones(33, np.int32))


def agrees(conflict: object, seed: int, threads: int, **options: object) -> None:
    """No race, every visit is made once, and what is written is seen by the next."""
    graph = graph_of(seed)
    program = fitted(PROGRAMS["gathers"], graph)
    given = {"source": 3}
    want = interpret(program, graph, given)
    kernel = kernel_of(program, conflict=conflict, **options)
    assert parse_program(print_program(kernel)) == kernel
    same(interpret(kernel, graph, given, seed=seed, threads=threads, checked=True), want)
    loops = kernel_of(
        program, passes=PIPELINE[: PIPELINE.index(lower_cautious) + 1], conflict=conflict, **options
    )
    same(interpret(loops, graph, given, seed=seed), want)


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_threads_that_take_turns_at_random(conflict):
    agrees(conflict, 0, 3)
    agrees(conflict, 1, 2, frontier=vg.BITMAP)


@pytest.mark.slow
@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_threads_that_take_turns_at_random_many_times(conflict):
    for seed in range(20):
        agrees(conflict, seed, 1 + seed % 4)


def test_a_pass_in_which_visits_only_hinder_each_other_is_followed_by_one_of_one_thread():
    """All gather all others: with locks two that hold one each let both go."""
    s, t = np.nonzero(~np.eye(4, dtype=bool))
    graph = Graph.from_edges(s, t, weight=np.ones(12, np.int32))
    program = fitted(PROGRAMS["gathers"], graph)
    kernel, want = kernel_of(program, conflict=vg.NODE_LOCKED), interpret(program, graph, {"source": 0})
    tried = set()
    for seed in range(8):
        trace: list = []
        same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=4, trace=trace), want)
        tried.add(trace[-1].edges)
    assert len(tried) > 1
    assert min(tried) >= 4


def test_a_vertex_that_is_gathered_twice_is_locked_once():
    graph = Graph.from_edges([0, 0, 0, 2, 2], [1, 1, 0, 3, 3], weight=np.ones(5, np.int32))
    kernel = kernel_of(fitted(PROGRAMS["gathers"], graph), conflict=vg.NODE_LOCKED, drive=vg.DATA)
    trace: list = []
    interpret(kernel, graph, {"source": 0}, seed=0, threads=1, trace=trace)
    assert [r.edges for r in trace] == [r.active for r in trace] == [1, 1, 4, 2]


def _all_won(n: ir.Node) -> ir.Node | tuple[()] | None:
    match n:
        case ir.Lock(ok=ok):
            return ir.Assign(ok, ir.Const(True, BOOL))
        case ir.Unlock() | ir.Reduce(prop="mark.of.vertices"):
            return ()
        case ir.Load(prop="mark.of.vertices"):
            return n
        case ir.If(condition=ir.Compare(op="!=", left=ir.Load(prop="mark.of.vertices"))):
            return ()
    return None


@pytest.mark.parametrize("conflict", [vg.NODE_LOCKED, vg.MARKED], ids=str)
def test_without_locks_or_marks_the_race_is_found(conflict):
    graph = graph_of(0)
    kernel = transform(kernel_of(fitted(PROGRAMS["gathers"], graph), conflict=conflict), _all_won)
    with pytest.raises(DataRace):
        interpret(kernel, graph, {"source": 0}, seed=1, threads=3, checked=True)


@pytest.mark.parametrize("conflict", [vg.NODE_LOCKED, vg.MARKED], ids=str)
def test_golden_loops_of_what_gathers(conflict, golden):
    golden(
        GOLDEN / f"gathers-{conflict}.ir",
        print_program(kernel_of(parse_program(PROGRAMS["gathers"]), conflict=conflict)),
    )
