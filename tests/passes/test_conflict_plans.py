"""`conflict`: activations that write both ends of their edges never meet, whatever the threads do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lowering_programs import PROGRAMS
from test_lowering import fitted, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.facts import Facts
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import transform
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.lower_conflicts import lower_conflicts
from vgraph.compiler.passes.lowering import DEFERRED
from vgraph.graph import Graph, layouts
from vgraph.refusals.checks import DataRace
from vgraph.schedule import AXES, Schedule

CONFLICTS = [c for c in AXES["conflict"].candidates if c not in (vg.FREE, vg.MARKED, vg.RACED)]
GOLDEN = Path(__file__).parent / "golden"


def kernel_of(
    program: ir.Program, threads: int = 0, passes: object = PIPELINE, **options: object
) -> ir.Program:
    asked = Schedule().at("hand", **options).at("hand all", conflict=options["conflict"])
    context = Context(schedule=asked, threads=threads)
    return PassManager(context).run(program, passes)


def graph_of(seed: int, directed: bool = True) -> Graph:
    """Few vertices, so that nearly all activations conflict."""
    rng = np.random.default_rng(seed)
    s, t = rng.integers(0, 5, 14), rng.integers(0, 5, 14)
    weight = rng.integers(0, 9, 14).astype(np.int32)
    return Graph.from_edges(s, t, num_vertices=5, directed=directed, weight=weight)


def agrees(conflict: object, name: str, directed: bool, seed: int, threads: int, **options: object) -> None:
    """No race, every arc has its turn once, and what is written is seen by the next."""
    graph = graph_of(seed, directed)
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    kernel = kernel_of(program, conflict=conflict, **options)
    assert parse_program(print_program(kernel)) == kernel
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=threads, checked=True), want)
    loops = kernel_of(
        program, passes=PIPELINE[: PIPELINE.index(lower_conflicts) + 1], conflict=conflict, **options
    )
    same(interpret(loops, graph, {"source": 0}, seed=seed), want)  # arcs are numbered as in the graph


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_threads_that_take_turns_at_random(conflict):
    agrees(conflict, "both", True, 0, 3)
    agrees(conflict, "both_reverse", False, 1, 2, frontier=vg.BITMAP)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["both", "both_reverse"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_threads_that_take_turns_at_random_many_times(conflict, directed, name):
    for seed in range(10):
        agrees(conflict, name, directed, seed, 1 + seed % 4)
        agrees(conflict, name, directed, seed, 3, frontier=vg.BITMAP)


@pytest.mark.parametrize("conflict", [vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID], ids=str)
def test_what_finds_no_lock_is_tried_again(conflict):
    graph = Graph.from_edges([0, 1] * 4, [1, 0] * 4, multi_edges=True, weight=np.ones(8, np.int32))
    program = fitted(PROGRAMS["both"], graph)
    want = interpret(program, graph, {"source": 0})
    kernel, tried = kernel_of(program, conflict=conflict, drive=vg.DATA), np.zeros(8, np.int64)
    for seed in range(5):
        trace: list = []
        found = interpret(kernel, graph, {"source": 0}, seed=seed, threads=3, trace=trace)
        same(found, want)
        put_off = [found[name] for name in found if name.startswith(f"{DEFERRED}{trace[-1].label}.")]
        assert len(put_off) == 8
        assert sum(put_off) == sum(done.edges - 8 for done in trace if done.label == trace[-1].label)
        assert sorted(put_off, reverse=True) == put_off
        tried += np.array(put_off)
    assert tried[0] > tried[1] > 0


def _no_locks(n: ir.Node) -> ir.Node | tuple[()] | None:
    match n:
        case ir.Lock(ok=ok):
            return ir.Assign(ok, ir.Const(True, vg.compiler.types.BOOL))
        case ir.Unlock():
            return ()
    return None


@pytest.mark.parametrize("conflict", [vg.EDGE_LOCKED, vg.NODE_LOCKED], ids=str)
def test_without_the_locks_the_race_is_found(conflict):
    graph = graph_of(0)
    kernel = transform(kernel_of(fitted(PROGRAMS["both"], graph), conflict=conflict), _no_locks)
    with pytest.raises(DataRace):
        interpret(kernel, graph, {"source": 0}, seed=1, threads=3, checked=True)


def test_a_plan_whose_phases_are_too_large_is_found(monkeypatch):
    graph, real = graph_of(0), layouts.on_host

    def merged(*args):
        made = real(*args)
        phases = made.arrays["phases"][[0, -1]]
        return replace(made, arrays={**made.arrays, "phases": phases}, numbers={**made.numbers, "count": 1})

    monkeypatch.setattr(layouts, "on_host", merged)
    kernel = kernel_of(fitted(PROGRAMS["both"], graph), conflict=vg.AGM_E)
    with pytest.raises(DataRace):
        interpret(kernel, graph, {"source": 0}, seed=1, threads=3, checked=True)


def test_one_thread_has_no_locks():
    kernel = kernel_of(fitted(PROGRAMS["both"], graph_of(0)), threads=1, conflict=vg.HYBRID)
    assert "lock" not in print_program(kernel)


@pytest.mark.parametrize(
    ("facts", "threads", "blocks"),
    [
        (Facts(large=True), 0, True),
        (Facts(), 0, False),
        (Facts(large=True, short_lists=True), 0, False),
        (Facts(large=True), 1, False),
    ],
)
def test_many_edges_at_vertices_go_in_even_blocks_unasked(facts, threads, blocks):
    """By the threads of a CPU: one alone needs no locks."""
    program = fitted(PROGRAMS["both"], graph_of(0))
    kernel = PassManager(Context(threads=threads, facts=facts)).run(program, PIPELINE)
    assert ("even_blocks.32" in print_program(kernel)) == blocks


@pytest.mark.parametrize("conflict", [vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.AGM_E], ids=str)
def test_golden_loops(conflict, golden):
    golden(
        GOLDEN / f"both-{conflict}.ir",
        print_program(kernel_of(parse_program(PROGRAMS["both"]), conflict=conflict)),
    )
