"""Priority queues: bucket peeling means on every device what the reference interpreter says."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peeling import cores

import vgraph as vg
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.passes import PIPELINE
from vgraph.runtime.executor import signature_of


@vg.operator
def draw(v):
    v.value = (v.id * 7919) % 13


@vg.operator
def push_up(src, edge, dst):
    dst.value += 3


@vg.operator
def push_down(src, edge, dst):
    dst.value = min(dst.value, src.value - 2)


@vg.operator
def note(v, graph):
    v.when = graph.round
    v.level = graph.level


@vg.operator
def nudge(v):
    v.value += 1
    return v.value > 5


@vg.operator
def neighbors_up(v):
    for u in v.out_neighbors:
        u.value += 1


@vg.algorithm
def moving(graph, kind):
    """Values of waiting vertices rise, fall, change by a filter, at neighbors, or one by one."""
    value = graph.vertex_property(vg.int64)
    when = graph.vertex_property(vg.int64)
    level = graph.vertex_property(vg.int64)
    graph.vertex_apply(draw)
    queue = graph.priority_queue(value)
    graph.round = 0
    total = len(queue)
    while queue:
        taken = queue.pop()
        graph.round += 1
        graph.level = queue.level
        graph.vertex_apply(note, taken)
        if kind == 0:
            graph.edge_apply(push_up, taken)
        elif kind == 1:
            graph.edge_apply(push_down, taken)
        elif kind == 2:
            taken = graph.vertex_filter(nudge, taken)
        elif kind == 3:
            graph.vertex_apply(neighbors_up, taken)
        else:
            value[graph.num_vertices - 1] = queue.level + 1
    rest = len(queue)
    none = queue.pop()  # of an empty queue, whose buckets may hold what has left it
    found = len(none)
    last = queue.level
    return value, when, level, total, rest, found, last


def graph_of(n: int, seed: int, degree: int = 2) -> vg.Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, degree * n), rng.integers(0, n, degree * n)
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=True)


@settings(max_examples=80)
@given(
    n=st.integers(1, 20),
    seed=st.integers(0, 10**6),
    kind=st.integers(0, 4),
    threads=st.sampled_from([1, 2, 3]),
)
def test_a_queue_means_what_the_interpreter_says(n, seed, kind, threads):
    graph = graph_of(n, seed)
    expected = vg.run(moving, graph, device="python", kind=kind)
    found = vg.run(moving, graph, threads=threads, kind=kind)
    for name in ("value", "when", "level", "total", "rest", "found", "last"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("kind", range(5))
def test_members_of_a_set_take_the_lowest_together(kind):
    graph = graph_of(17, kind, 3)
    expected = vg.run(moving, graph, device="python", kind=kind)
    told = vg.explain(moving, graph, device=[vg.cpu(threads=1)] * 2, passes=False, kind=kind)
    assert "queue: for each pop members agree on the lowest value that anyone has" in told.reasons
    for count, placement in ((2, None), (3, np.arange(17) * 7 % 3), (2, np.ones(17, int))):
        device = [vg.cpu(threads=k % 2 + 1) for k in range(count)]
        found = vg.run(moving, graph, device=device, placement=placement, kind=kind)
        for name in ("value", "when", "level", "total", "rest", "found", "last"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("seed", range(6))
def test_kernel_ir_with_threads_interleaved(seed):
    graph = graph_of(9, seed, 3)
    types = argument_types(moving, {"kind": seed % 5})
    program = build_program(moving, signature_of(graph, types))
    kernel = PassManager(Context()).run(program, PIPELINE)
    above = interpret(program, graph, {"kind": seed % 5})
    below = interpret(kernel, graph, {"kind": seed % 5}, seed=seed, threads=3)
    for name, value in above.items():
        np.testing.assert_array_equal(below[name], value)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("power", [1, 4])
@pytest.mark.parametrize("program", [cores, vg.algorithms.k_core])
def test_core_numbers_of_networkx(program, threads, power):
    n = 600
    rng = np.random.default_rng(power)
    s, t = rng.integers(0, n, 8 * n), (n * rng.random(8 * n) ** power).astype(int)
    plain = nx.Graph((a, b) for a, b in zip(s.tolist(), t.tolist(), strict=True) if a != b)
    plain.add_nodes_from(range(n))
    edges = np.array(list(plain.edges()))
    loops = np.arange(5)
    graph = vg.Graph.from_edges(
        np.r_[edges[:, 0], loops], np.r_[edges[:, 1], loops], num_vertices=n, directed=False
    )
    core = nx.core_number(plain)
    found = vg.run(program, graph, threads=threads).core
    assert found.tolist() == [core[v] for v in range(n)]


def test_no_vertices():
    empty = vg.Graph.from_edges([], [], num_vertices=0, directed=False)
    assert vg.run(vg.algorithms.k_core, empty).core.size == 0
