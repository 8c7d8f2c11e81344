"""How many barriers a round of a team has, and what is asked for ahead."""

from __future__ import annotations

import numpy as np

import vgraph as vg
from vgraph.compiler import build
from vgraph.compiler.backends.llvm import LLVMBackend
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.runtime import policy
from vgraph.runtime.executor import signature_of

STREET = vg.Graph.from_edges(range(40), range(1, 41), directed=False, weight=[1] * 40)


def team(algorithm, **arguments) -> str:
    """The text of code for a team, for up to any number of threads."""
    signature = signature_of(STREET, argument_types(algorithm, arguments))
    text = build(build_program(algorithm, signature), LLVMBackend(), threads=0).source.text
    return text[text.index("i32 @vg_team(") :]


def barriers(text: str) -> tuple[int, int]:
    """Barriers at which nothing is done, and those at which the first thread does something."""
    return text.count("call i32 @vg_barrier"), text.count("call void @vg_gather")


@vg.operator
def spread(src, edge, dst):
    dst.level = min(dst.level, src.level + 1)


@vg.algorithm
def hops(graph, source: vg.vertex):
    level = graph.vertex_property(vg.int32, fill=100)
    level[source] = 0
    frontier = graph.frontier(source)
    levels = []
    while frontier:
        levels.append(frontier)
        frontier = graph.edge_apply(spread, frontier)
    return level


def test_what_one_thread_does_behind_a_loop_needs_no_barrier_of_its_own():
    text = team(hops, source=3)
    assert barriers(text) == (3, 2)  # with its record and its exchange of frontiers a round has one
    assert "@vg_list_append" in text


def test_what_stands_further_on_in_a_queue_is_asked_for():
    text = team(hops, source=3)
    assert text.count("call void @llvm.prefetch") == 3


def test_buckets_of_deep_graphs_are_wider_for_many_threads():
    n = 1 << 14
    ends = np.arange(n - 1)
    street = vg.Graph.from_edges(ends, ends + 1, num_vertices=n, directed=False, weight=np.ones(n - 1))
    few, many = (policy.delta(street, "weight", threads=t) for t in (2, 4))
    assert many == 2 * few
    result = vg.run(vg.algorithms.sssp, street, source=0, threads=4)
    assert result.schedule.labels["relax"].order == vg.delta_stepping(many)
