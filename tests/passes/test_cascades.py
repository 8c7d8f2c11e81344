"""Cascades: which loops are, and why others are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_lowering import same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, CUDA, CUDA_SET
from vgraph.compiler.axes.hops import PEELED
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import Signature, build_program
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.join_cascades import join_cascades
from vgraph.compiler.types import Target
from vgraph.errors import ScheduleError


@vg.operator
def begin(v):
    v.remaining = v.out_degree


@vg.operator
def scan(v, graph):
    taken = v.waits and v.remaining <= graph.level
    if taken:
        v.waits = False
    return taken


@vg.operator
def leave(src, edge, dst):
    if dst.waits:
        dst.remaining += -1


@vg.operator
def leave_twice(src, edge, dst):
    if dst.waits:
        dst.remaining += -1
        dst.other += -1


@vg.operator
def leave_all(src, edge, dst):
    dst.remaining += -1


@vg.operator
def join(src, edge, dst):
    if dst.waits:
        dst.remaining += 1


@vg.operator
def by_order(src, edge, dst):
    if dst.waits and src.order < 9:
        dst.remaining += -1


@vg.operator
def peel(v, graph):
    taken = v.waits and v.remaining <= graph.level
    if taken:
        v.waits = False
        v.order = graph.level
        graph.count += 1
    return taken


@vg.operator
def leave_few(src, edge, dst, graph):
    if dst.waits and graph.count < 9:
        dst.remaining += -1


@vg.operator
def peel_unsigned(v, graph):
    """What is less than zero is a large number here: it depends on the order whether a vertex is taken."""
    taken = v.waits and vg.uint32(v.remaining) <= 1
    if taken:
        v.waits = False
    return taken


@vg.operator
def peel_and_keep(v, graph):
    taken = v.waits and v.remaining <= graph.level
    if taken:
        v.order = graph.level
    return taken


@vg.operator
def peel_and_note(v, graph):
    taken = v.waits and v.remaining <= graph.level
    if taken:
        v.waits = False
        v.order = v.remaining
    return taken


@vg.operator
def peel_the_rest(v, graph):
    taken = v.waits and v.remaining <= graph.level and v.order > -9
    if taken:
        v.waits = False
    return taken


@vg.operator
def look(v, graph):
    graph.count += v.remaining


@vg.operator
def look_at_waiting(v, graph):
    if v.waits:
        graph.count += v.remaining


@vg.operator
def nothing(v):
    v.other = 1


@vg.operator
def reopen(v):
    v.waits = True


def peeling(update, chosen, behind, returned="order"):
    """A program that peels once; the operators of the loop, and one behind it."""

    @vg.algorithm
    def program(graph):
        remaining = graph.vertex_property(vg.int32)
        other = graph.vertex_property(vg.int32)
        order = graph.vertex_property(vg.int32)
        waits = graph.vertex_property(vg.bool_, fill=True)
        graph.vertex_apply(begin)
        graph.level = 1
        graph.count = 0
        taken = graph.vertex_filter(scan)
        while taken:
            near = graph.edge_apply(update, taken, label="update")
            taken = graph.vertex_filter(chosen, near)
        graph.vertex_apply(behind)
        if returned == "remaining":
            return order, waits, remaining, graph.count
        return order, waits, graph.count

    return program


REFUSED = {
    "two numbers": (leave_twice, peel, nothing),
    "grows": (join, peel, nothing),
    "counts what it reads": (leave_few, peel, nothing),
    "wraps": (leave, peel_unsigned, nothing),
    "of all": (leave_all, peel, nothing),
    "reads what is taken": (by_order, peel, nothing),
    "closes nothing": (leave, peel_and_keep, nothing),
    "notes the number": (leave, peel_and_note, nothing),
    "another condition": (leave, peel_the_rest, nothing),
    "looked at behind": (leave, peel, look),
    "opened again": (leave, peel, reopen),
    "returned": (leave, peel, nothing, "remaining"),
}


def graph_of(seed):
    rng = np.random.default_rng(seed)
    n = 24
    src, dst = rng.integers(0, n, (2, 30))
    path = np.arange(n - 1)
    return vg.Graph.from_edges(
        np.r_[src, path], np.r_[dst, path + 1], num_vertices=n, directed=bool(seed % 2)
    )


@pytest.mark.parametrize("behind", [nothing, look_at_waiting], ids=lambda o: o.name)
def test_the_same_vertices_are_taken(behind: vg.OperatorDef) -> None:
    algorithm = peeling(leave, peel, behind)
    schedule = vg.Schedule().at("update", hops=3)
    for seed in range(6):
        graph = graph_of(seed)
        program = build_program(algorithm, Signature(Target(), {}, {}, {}, graph.directed, {}))
        manager = PassManager(Context(schedule=schedule, abilities=CUDA))
        want = interpret(program, graph, {})
        joined = manager.run(program, PIPELINE[: PIPELINE.index(join_cascades) + 1])
        assert any(isinstance(n, ir.EdgeApply) and n.taking == "waits" for n in walk(joined))
        same(interpret(joined, graph, {}), want)
        kernel = PassManager(Context(schedule=schedule, abilities=CUDA)).run(program, PIPELINE)
        same(interpret(kernel, graph, {}, seed=seed, threads=3), want)


def chosen(**context: Any) -> int:
    """How many hops the update makes unasked."""
    program = build_program(peeling(leave, peel, nothing), Signature(Target(), {}, {}, {}, False, {}))
    found = PassManager(Context(**context)).run(program, PIPELINE[: PIPELINE.index(join_cascades)])
    return next(n.schedule.hops for n in walk(found) if isinstance(n, ir.EdgeApply))


def test_what_is_chosen() -> None:
    large = Facts(large=True)
    assert chosen(abilities=CUDA, facts=large) == PEELED
    assert chosen(abilities=CUDA, facts=large, deterministic=True) == 1
    assert chosen(abilities=CUDA, facts=Facts(large=True, even=True)) == PEELED
    assert chosen(abilities=CUDA, facts=Facts(large=True, even=True, long_rounds=True)) == 1
    assert chosen(abilities=CUDA, facts=Facts()) == chosen(abilities=CPU, facts=large) == 1
    assert chosen(abilities=CUDA_SET, facts=large) == 1


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_none(name: str) -> None:
    graph = graph_of(0)
    with pytest.raises(ScheduleError, match="hops=4"):
        vg.explain(
            peeling(*REFUSED[name]),
            graph,
            device="cuda",
            schedule=vg.Schedule().at("update", hops=4),
            passes=False,
        )
