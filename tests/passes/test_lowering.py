"""Every legal schedule of every kind of operator gives the algorithm level's answer, interpreted and compiled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from choices_programs import once
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_node
from vgraph.compiler.ir.trees import walk, with_fields
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.compiler.passes.lowering import DEFERRED
from vgraph.compiler.types import I64, Target
from vgraph.graph import Graph
from vgraph.refusals.schedules import IllegalSchedule
from vgraph.schedule import Options, Schedule

OPTIONS = [
    {k: v for k, v in zip(("direction", "drive", "frontier", "sync"), values, strict=True) if v is not None}
    for values in itertools.product(
        (None, vg.PUSH, vg.PULL),
        (None, vg.TOPOLOGY, vg.DATA),
        (None, vg.SPARSE, vg.BITMAP),
        (None, vg.BSP, vg.ASYNC),
    )
]


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 12))
    ids = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ids, ids, st.integers(0, 9)), max_size=40))
    src, dst, weight = (
        np.array(x, dtype=np.int64) for x in (zip(*edges, strict=True) if edges else ([], [], []))
    )
    return Graph.from_edges(
        src,
        dst,
        num_vertices=n,
        directed=draw(st.booleans()),
        weight=weight.astype(np.int32),
        id_bits=draw(st.sampled_from((None, 64))),
    )


def fitted(text, graph):
    """The program for the widths of this graph's ids."""
    program = parse_program(text)
    target = Target(graph.id_dtype.itemsize * 8, graph.offset_dtype.itemsize * 8)
    return with_fields(program, {"target": target})


def lowered(program, schedule, threads):
    return PassManager(Context(schedule=schedule, threads=threads)).run(program, PIPELINE)


def native(program, graph, threads):
    """Run a kernel-level program on this machine."""
    from vgraph.runtime import executor
    from vgraph.runtime.devices.cpu import CPU
    from vgraph.runtime.devices.runner import Call
    from vgraph.runtime.plan import plan_of

    cpu = CPU(threads)
    source = cpu.backend.emit(program)
    plan = plan_of(program, source.interface, Schedule())
    kernel = cpu.load(cpu.compile(source), plan)
    ran = cpu.run(kernel, Call(plan, graph, {"source": 0}), None)
    return executor._outputs(ran, plan, cpu)


def same(got, want):
    got = {name: value for name, value in got.items() if not name.startswith(DEFERRED)}
    assert got.keys() == want.keys()
    for name in want:
        a, b = np.asarray(got[name]), np.asarray(want[name])
        if a.dtype.kind == "i" and b.dtype.kind == "u":
            b = b.view(a.dtype)
        np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.parametrize("name", PROGRAMS)
@given(
    graph=graphs(), options=st.sampled_from(OPTIONS), seed=st.integers(0, 99), threads=st.sampled_from((0, 1))
)
@settings(max_examples=15)
def test_kernels_give_the_answer_of_the_program(name, graph, options, seed, threads):
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    schedule = Schedule({label: Options(**options) for label in labels(program)})
    try:
        kernel = lowered(program, schedule, threads)
    except (IllegalSchedule, vg.ScheduleError):
        return  # which ones are illegal is tested by itself
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=1 if threads else 3), want)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_machine_code_gives_the_answer_of_the_program(name, threads):
    rng = np.random.default_rng(threads)
    n, m = 200, 900
    graph = Graph.from_edges(
        rng.integers(0, n, m),
        rng.integers(0, n, m),
        num_vertices=n,
        weight=rng.integers(0, 9, m).astype(np.int32),
    )
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    tried = 0
    for number in rng.permutation(len(OPTIONS)):
        options = OPTIONS[number]
        try:
            kernel = lowered(program, Schedule({k: Options(**options) for k in labels(program)}), threads)
        except (IllegalSchedule, vg.ScheduleError):
            continue
        same(native(kernel, graph, threads), want)
        tried += 1
        if tried == 3:
            break
    assert tried


def refused(name, **options):
    program = parse_program(PROGRAMS[name])
    with pytest.raises(vg.ScheduleError) as caught:
        lowered(program, Schedule({label: Options(**options) for label in labels(program)}), 0)
    return str(caught.value)


def test_what_can_be_observed_may_not_be_asynchronous():
    assert "rounds can be observed" in refused("limited", sync=vg.ASYNC)
    assert "claimed" in refused("bfs_by_level", sync=vg.ASYNC)


def test_no_frontier_is_not_data_driven():
    assert "whole graph" in refused("components", drive=vg.DATA)


def test_a_frontier_is_a_set():
    assert "frontier is a set" in refused("sssp", deduplicate=False, direction=vg.PUSH, sync=vg.BSP)


def test_an_unknown_label_lists_the_known_ones():
    with pytest.raises(vg.ScheduleError, match=r"'relaks'.*'relax'"):
        lowered(parse_program(PROGRAMS["sssp"]), Schedule().at("relaks", direction=vg.PUSH), 0)


@pytest.mark.parametrize(
    "options", [{}, {"direction": vg.PULL}, {"sync": vg.BSP, "frontier": vg.BITMAP}], ids=str
)
@pytest.mark.parametrize("name", ["sssp", "bfs"])
def test_golden_ir_after_each_pass(name, options, golden):
    from pathlib import Path

    from vgraph.compiler.ir.text import print_program

    texts, program = [], parse_program(PROGRAMS[name])
    before = [program]

    def keep(step, after):
        texts.append(f"# after {step.name}" + ("" if after is before[-1] else f"\n{print_program(after)}"))
        before.append(after)

    schedule = Schedule({label: Options(**options) for label in labels(program)})
    PassManager(Context(schedule=schedule)).run(program, PIPELINE, on_pass=keep)
    words = "-".join([name, *(f"{k}-{v.value}" for k, v in options.items())])
    golden(Path(__file__).parent / "golden" / f"{words}.ir", "\n".join(texts))


def test_rounds_of_the_users_are_traced_whatever_their_label_and_copies_are_not():
    text = PROGRAMS["sums"].replace('as "again"', 'as "again.copy"').replace("as again", 'as "again.copy"')
    assert "again.copy" in text
    kernel = lowered(parse_program(text), Schedule(), 0)
    assert "again.copy" in {n.label for n in walk(kernel) if isinstance(n, ir.Trace)}
    bsp = lowered(parse_program(PROGRAMS["sssp"]), Schedule().at("relax", sync=vg.BSP), 0)
    assert {n.label for n in walk(bsp) if isinstance(n, ir.Trace)} == {"relax"}
    assert "relax.copy" in {n.label for n in walk(bsp) if isinstance(n, ir.ParFor)}


@pytest.mark.parametrize("drive", [vg.TOPOLOGY, vg.DATA], ids=str)
def test_a_pull_looks_at_conditions_on_dst_before_it_walks_arcs(drive):
    schedule = Schedule().at("count", direction=vg.PULL, drive=drive)
    kernel = lowered(parse_program(PROGRAMS["paths"]), schedule, 0)
    pulls = [n for n in walk(kernel) if isinstance(n, ir.ParFor) and n.label == "count" and n.vertex == "dst"]
    (guard,) = pulls[0].body
    assert isinstance(guard, ir.If)
    assert [n.prop for n in walk(guard.condition) if isinstance(n, ir.Load)] == ["level"]
    assert any(isinstance(n, ir.ForNeighbors) for inner in guard.then for n in walk(inner))


SUM = "total[dst] += rank[src]\n"


@pytest.mark.parametrize(
    ("asked", "prefetch", "wide"),
    [
        ({"prefetch": 8}, 8, False),
        ({"vectorize": True}, 0, True),
        ({"prefetch": 8, "vectorize": True}, 8, True),
        ({}, 0, False),
    ],
)
def test_loops_over_arcs_are_marked_as_the_schedule_asks(asked, prefetch, wide):
    kernel = lowered(parse_program(once(SUM)), Schedule().at("visit", direction=vg.PULL, **asked), 0)
    (loop,) = [n for n in walk(kernel) if isinstance(n, ir.ForNeighbors)]
    assert (loop.prefetch, loop.vectorize) == (prefetch, wide)


def test_only_loops_that_can_take_a_hint_are_marked():
    body = """\
let sum: f64 = 0.0:f64
for (u, e) in in(v) {
  sum += rank[u]
}
total[v] = sum
for (w, f) in in(v) {
  if (weight[f] > 3:i32) {
    level[v] += 1:i32
  }
}
for (x, g) in in(v) {
  total[v] += rank[x]
}
"""
    kernel = lowered(
        parse_program(once(body, args="v")), Schedule().at("visit", prefetch=8, vectorize=True), 0
    )
    loops = [n for n in walk(kernel) if isinstance(n, ir.ForNeighbors)]
    assert [(n.prefetch, n.vectorize) for n in loops] == [(8, True), (0, False), (8, False)]


@pytest.mark.parametrize(
    ("expected", "fixed"), [("-1:i32", True), ("first[dst]", True), ("first[src]", False)]
)
@pytest.mark.parametrize("balance", [vg.VERTEX, vg.SPLIT()], ids=str)
def test_a_pull_of_a_claim_passes_over_who_is_claimed_and_counts_the_arcs_it_walks(expected, fixed, balance):
    claim = f"claim level[dst] from {expected} with 3:i32 {{\n}}"
    text = once(claim, out="frontier = ")
    schedule = Schedule().at("visit", direction=vg.PULL, balance=balance)
    kernel = lowered(parse_program(text), schedule, 0)
    (loop,) = [n for n in walk(kernel) if isinstance(n, ir.ParFor) and n.label == "visit"]
    is_claimed = [
        n for n in loop.body if isinstance(n, ir.If) and any(is_level(m) for m in walk(n.condition))
    ]
    assert bool(is_claimed) == fixed
    for walked in (n for n in walk(loop) if isinstance(n, ir.ForNeighbors)):
        # The first success ends the walk, and only what was walked is counted.
        assert any(isinstance(n, ir.Break) for n in walk(walked))
        assert print_node(walked.body[0]).startswith("walked")
    counts = [n for n in walk(loop) if isinstance(n, ir.ReduceGlobal)]
    assert all(isinstance(n.value, ir.Var) and n.value.name.startswith("walked") for n in counts)
    begins = [n for n in walk(loop) if isinstance(n, ir.Let) and n.name.startswith("walked")]
    assert len(begins) == len(counts) == (1 if balance == vg.VERTEX else 2)
    assert all(n.value == ir.Const(0, I64) for n in begins)


def is_level(n):
    return isinstance(n, ir.Load) and n.prop == "level"


def test_sets_are_compressed_behind_each_operator_that_unites_them_and_no_other():
    text = PROGRAMS["components"].replace(
        "operator join",
        "operator other(v) {\n}\noperator alone(v) {\nunion(component, v, v)\n}\noperator join",
    )
    text = text.replace(
        "  edge_apply(join)", "  edge_apply(join)\n  vertex_apply(other)\n  vertex_apply(alone)"
    )
    kernel = lowered(parse_program(text), Schedule(), 0)
    loops = [n.label or "compress" for n in kernel.body if isinstance(n, ir.ParFor)]
    assert loops[1:] == ["join", "other", "alone", "compress"]  # the first of them is one loop with `other`


CLAIM = """\
program reach: algorithm, ids 32, offsets 32
numbered room: i64 local
vertex level: i64 local
edge weight: i64 graph
frontier near
operator reach(src, edge, dst) {
  if (TEST > 0:i64) {
    claim level[dst] from 0:i64 with 1:i64 {
    }
  }
}
run {
  fill level = 0:i64
  near = edge_apply(reach, near)
}
return level
"""


@pytest.mark.parametrize(("test", "order"), [("room[edge]", ["level", "room"]), ("weight[edge]", ["weight"])])
def test_what_has_an_edges_number_is_looked_at_where_a_claim_is_open(test, order):
    kernel = lowered(parse_program(CLAIM.replace("TEST", test)), Schedule().at("reach", direction=vg.PUSH), 0)
    (walked,) = (n for n in walk(kernel) if isinstance(n, ir.ForNeighbors) and n.edge == "edge")
    tests = [n.condition for n in walk(walked) if isinstance(n, ir.If)]
    assert [m.prop for c in tests for m in walk(c) if isinstance(m, ir.Load)] == order
