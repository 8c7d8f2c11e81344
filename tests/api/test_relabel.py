"""Runs on a graph in another order of its vertices give the same results, in the user's ids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vgraph as vg
from vgraph import algorithms


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 12))
    ids = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ids, ids, st.integers(0, 9)), max_size=40))
    src, dst, weight = (np.array([e[k] for e in edges], np.int64) for k in range(3))
    return vg.Graph.from_edges(
        src, dst, num_vertices=n, directed=draw(st.booleans()), weight=weight.astype(np.int32),
        id_bits=draw(st.sampled_from((None, 64))), vertex_properties={"height": np.arange(n) * 1.5},
    )  # fmt: skip


@vg.operator
def adopt(src, edge, dst):
    if dst.parent == vg.none:
        dst.parent = src


@vg.operator
def gather(src, edge, dst):
    dst.total += src.height * edge.weight + src.given


@vg.algorithm
def parents(graph, source: vg.vertex, given: vg.vertex_property(vg.float64)):
    """A search tree, a sum over a property of the graph and a parameter, and the vertex itself."""
    parent = graph.vertex_property(vg.vertex)
    total = graph.vertex_property(vg.float64)
    parent[source] = source
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(adopt, frontier)
    graph.edge_apply(gather)
    return parent, total


@given(graph=graphs(), source=st.integers(0, 11))
@settings(max_examples=40, deadline=None)
def test_results_are_in_the_users_ids(graph, source):
    source %= graph.num_vertices
    given_ = np.arange(graph.num_vertices) * 0.25
    plain = vg.run(parents, graph, source=source, given=given_)
    found = vg.run(parents, graph, source=source, given=given_, relabel="degree")
    np.testing.assert_allclose(found.total, plain.total)
    np.testing.assert_array_equal(found.parent == -1, plain.parent == -1)
    arcs = set(zip(*(x.tolist() for x in graph.edges()[:2]), strict=True))
    arcs |= set() if graph.directed else {(b, a) for a, b in arcs}
    for v, p in enumerate(found.parent.tolist()):
        assert p == -1 or v == source or (p, v) in arcs
    assert found.parent[source] == source
    for algorithm, name in ((algorithms.bfs, "level"), (algorithms.sssp, "dist")):
        want = getattr(vg.run(algorithm, graph, source=source), name)
        np.testing.assert_array_equal(
            getattr(vg.run(algorithm, graph, source=source, relabel="degree"), name), want
        )


@given(graph=graphs())
@settings(max_examples=60, deadline=None)
def test_a_relabelled_graph_is_the_same_graph(graph):
    new, old_of_new, new_of_old = graph.relabelled("degree")
    assert (np.diff(new.out_degree.astype(np.int64)) <= 0).all()
    assert (new.num_edges, new.directed, new.id_dtype) == (graph.num_edges, graph.directed, graph.id_dtype)
    np.testing.assert_array_equal(old_of_new[new_of_old], np.arange(graph.num_vertices))
    np.testing.assert_array_equal(
        new.vertex_properties["height"], graph.vertex_properties["height"][old_of_new]
    )
    if not graph.directed:  # both arcs of an edge have its weight
        new.with_edge_property("again", new.edge_properties["weight"])

    def arcs(g, names):
        sources = np.repeat(np.arange(g.num_vertices), g.out_degree.astype(np.int64))
        rows = (names[sources], names[g.out.column_indices.astype(np.int64)], g.edge_properties["weight"])
        return sorted(zip(*(x.tolist() for x in rows), strict=True))

    assert arcs(new, old_of_new) == arcs(graph, np.arange(graph.num_vertices))
    assert graph.relabelled().graph is new


def test_what_could_tell_is_refused():
    graph = vg.Graph.from_edges([0, 1], [1, 2], directed=False)
    for algorithm in (algorithms.connected_components, algorithms.label_components):
        for device in ("cpu", "python"):
            with pytest.raises(vg.ScheduleError, match="`relabel` is not legal for"):
                vg.run(algorithm, graph, relabel="degree", device=device)
    with pytest.raises(vg.ParameterError, match="the orders are 'degree'"):
        vg.run(algorithms.bfs, graph, source=0, relabel="size")
    with pytest.raises(vg.GraphError, match="the orders are 'degree'"):
        graph.relabelled("size")
    with pytest.raises(vg.ParameterError, match="source=7 is not a vertex"):
        vg.run(algorithms.bfs, graph, source=7, relabel="degree")


def test_python_keeps_the_order_of_the_graph():
    """Its results are those of the order in the text, to the last bit."""
    rng = np.random.default_rng(4)
    graph = vg.Graph.from_edges(*rng.integers(0, 30, (2, 200)), num_vertices=30)
    start = rng.random(30)
    plain, same = (
        vg.run(algorithms.pagerank, graph, personalization=start, device="python", relabel=order).rank
        for order in (None, "degree")
    )
    assert plain.tobytes() == same.tobytes()
