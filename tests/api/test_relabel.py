"""Runs on a graph in another order of its vertices give the same results, in the user's ids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vgraph as vg
from vgraph import algorithms
from vgraph.runtime import ordering, policy


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
@settings(max_examples=40)
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
@settings(max_examples=60)
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
    with pytest.raises(vg.ParameterError, match=r"^relabel='size': the orders are 'degree'"):
        vg.run(algorithms.bfs, graph, source=0, relabel="size")
    with pytest.raises(vg.GraphError, match=r"^by='size': the orders are 'degree'"):
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


@vg.operator
def note(src, edge, dst):
    edge.seen = src.height


@vg.algorithm
def noted(graph, start: vg.vertex_property(vg.vertex), near: vg.array(vg.vertex), seeds):
    """What has an element per edge, a vertex per vertex, a table of vertices, and a set of them."""
    seen = graph.edge_property(vg.float64)
    mine = graph.vertex_property(vg.vertex)
    first = near[0]
    front = graph.frontier(seeds)
    graph.edge_apply(note, front)
    mine[:] = start
    return seen, mine, first, front


def test_everything_of_a_reordered_graph_is_in_the_users_ids():
    rng = np.random.default_rng(6)
    s, t = rng.integers(0, 40, (2, 90))
    graph = vg.Graph.from_edges(s, t, num_vertices=40, vertex_properties={"height": rng.random(40)})
    given_ = {"start": rng.permutation(40), "near": np.array([7, 3]), "seeds": np.array([2, 9, 30])}
    want = vg.run(noted, graph, **given_)
    assert np.count_nonzero(want.seen) > 2
    for by in ("rcm", "random", rng.permutation(40)):
        for device in ("cpu", "python"):
            found = vg.run(noted, vg.reorder(graph, by), device=device, **given_)
            for name in want.names:
                np.testing.assert_array_equal(getattr(found, name), getattr(want, name))
        with pytest.raises(vg.ParameterError, match="seeds=41 is not a vertex"):
            vg.run(noted, vg.reorder(graph, by), **{**given_, "seeds": [3, 41]})
    watched = vg.run(
        algorithms.bfs, vg.reorder(graph, by), source=int(s[0]), debug=[int(s[0]), 5]
    ).trace.watched
    assert watched.values["level"][-1][0] == 0


def test_what_could_tell_runs_in_the_order_of_the_graph():
    """On a reordered graph, and where the choice is left open; it is refused only where the call asks for it."""
    rng = np.random.default_rng(2)
    graph = vg.Graph.from_edges(*rng.integers(0, 60, (2, 50)), num_vertices=60, directed=False)
    other = vg.reorder(graph, "random")
    want = vg.run(algorithms.connected_components, graph).component
    for threads in (1, 2):
        found = vg.run(algorithms.connected_components, other, threads=threads)
        np.testing.assert_array_equal(found.component, want)
        assert found.stats.order is None
    assert vg.run(algorithms.bfs, other, source=0).stats.order == "random"
    assert vg.run(algorithms.bfs, other, source=0, relabel="rcm").stats.order == "rcm"
    assert vg.run(algorithms.bfs, other, source=0, device="python").stats.order is None
    assert vg.run(algorithms.bfs, other, source=0, checked=True).stats.order is None
    with pytest.raises(vg.ScheduleError, match="`relabel` is not legal for"):
        vg.run(algorithms.connected_components, other, relabel="random")


def test_algorithms_that_prepare_their_graph_take_no_permutation_of_another():
    rng = np.random.default_rng(3)
    graph = vg.Graph.from_edges(*rng.integers(0, 30, (2, 200)), num_vertices=30)
    want = vg.run(algorithms.triangle_count, graph).triangles
    found = vg.run(algorithms.triangle_count, vg.reorder(graph, "random")).triangles
    np.testing.assert_array_equal(found, want)
    with pytest.raises(vg.ParameterError, match="prepares a graph of its own"):
        vg.run(algorithms.triangle_count, graph, relabel=np.arange(30))


def test_auto_makes_an_order_that_pays_when_there_were_enough_runs(monkeypatch):
    def looked(graph, found="random", on_gpu=False):
        return graph.kept_with_topology("paying order", lambda: found)

    monkeypatch.setattr(ordering, "order_that_pays", looked)
    monkeypatch.setattr(policy, "SETTLED_RUNS", 2)

    def orders(graph, runs):
        found = [vg.run(algorithms.bfs, graph, source=0, relabel="auto").stats.order for _ in range(runs)]
        components = vg.run(algorithms.connected_components, graph, relabel="auto")
        assert components.stats.order is None
        return found

    rng = np.random.default_rng(3)
    ends = rng.integers(0, 30, (2, 200))
    assert orders(vg.Graph.from_edges(*ends, directed=False), 4) == [None, None, "random", "random"]
    ready = vg.Graph.from_edges(*ends, directed=False)
    vg.prepare(algorithms.bfs, ready, relabel="auto")
    assert orders(ready, 2) == ["random", "random"]
    assert orders(vg.reorder(ready, "rcm"), 1) == ["rcm"]
    monkeypatch.setattr(
        ordering, "order_that_pays", lambda graph, on_gpu: pytest.fail("before there were enough runs")
    )
    assert orders(vg.Graph.from_edges(*ends, directed=False), 1) == [None]
    monkeypatch.setattr(ordering, "order_that_pays", lambda graph, on_gpu: None)
    assert orders(vg.Graph.from_edges(*ends, directed=False), 4) == [None] * 4
