"""Cuts through vertices: hubs that all members of a set have, and parts of the edges as a placement."""

from __future__ import annotations

import numpy as np
import pytest
from library_arguments import NAMES, UNDIRECTED, arguments_for, graph_for
from test_sets import PROGRAMS, REFUSED, same_results, small_graph

import vgraph as vg
from vgraph.graph.cuts import EdgeCut, HubCut
from vgraph.graph.placement import placed
from vgraph.runtime import policy

ONE = vg.cpu(threads=1)
EVERYBODY = "every member has all arcs"


@vg.operator
def tell(src, edge, dst, graph):
    dst.low = min(dst.low, src.x * len(src.out_neighbors))
    dst.high = max(dst.high, src.x * edge.weight)
    dst.total += src.x
    dst.bits |= src.x + len(dst.out_neighbors)
    graph.most = max(graph.most, src.x + dst.x)
    graph.sum += edge.weight


@vg.operator
def take(v, graph):
    v.x = v.x + v.low + v.total - v.bits + graph.most % 7 + len(v.out_neighbors)
    v.total = v.total // 2
    return v.x % 2 == 0


@vg.algorithm
def along_arcs(graph, source: vg.vertex, seeds: vg.array(vg.vertex)):
    """All kinds of writes along arcs, and numbers of arcs of both ends; no vertex looks at its neighbors."""
    x = graph.vertex_property(vg.int64, 1)
    low = graph.vertex_property(vg.int64, 1000)
    high = graph.vertex_property(vg.int64, -1000)
    total = graph.vertex_property(vg.int64, 0)
    bits = graph.vertex_property(vg.int64, 0)
    graph.most = 0
    graph.sum = 0
    x[source] = 5
    frontier = graph.vertices
    seen = 0
    for _ in range(3):
        frontier = graph.edge_apply(tell, frontier)
        frontier = graph.vertex_filter(take, frontier) | graph.frontier(seeds)
        seen += len(frontier) + x[source]
    graph.edge_apply(tell, label="all")
    most = graph.most
    added = graph.sum
    return x, low, high, total, bits, most, added, seen


CUT = {n: PROGRAMS[n] for n in ("searches", "claims_back", "sums_and_extremes")}
CUT["along_arcs"] = (along_arcs, {"source": 3, "seeds": [1, 8, 20]})
LABELS = {
    "along_arcs": ["tell", "all"],
    "searches": ["find"],
    "claims_back": ["light", "put_out"],
    "sums_and_extremes": ["add_some"],
}
DEFAULT = {"bfs", "pagerank"}


def cuts(graph: vg.Graph) -> list[tuple[int, vg.graph.cuts.Cut]]:
    """Arcs at random, also none for a member, all for one; hubs, all vertices as hubs."""
    rng = np.random.default_rng(3)
    some = rng.integers(0, 3, graph.num_arcs)
    return [
        (3, EdgeCut(some)),
        (3, EdgeCut(np.where(some == 1, 2, some))),
        (2, EdgeCut(np.ones(graph.num_arcs, np.int64))),
        (3, HubCut(1.0)),
        (2, HubCut(0.0)),
    ]


def run_on(cut, count, algorithm, graph, **given):
    """A run with arcs of anybody's choice, which `vg.run` takes as parts of edges only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vgraph.runtime.prepare.placement_of", lambda *_: cut)
        return vg.run(algorithm, graph, device=given.pop("device", [ONE] * count), **given)


def is_cut(algorithm, graph, **given) -> bool:
    found = vg.explain(algorithm, graph, device=[ONE] * 2, placement=vg.cut_hubs(1), **given)
    return EVERYBODY not in found.reasons


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", CUT)
def test_every_kind_of_write_along_arcs_of_anybody(name, directed, monkeypatch):
    monkeypatch.setitem(policy._NUMBERS, "policy.changed_bytes", 0)
    algorithm, given = CUT[name]
    graph = small_graph(directed)
    assert is_cut(algorithm, graph, **given)
    expected = vg.run(algorithm, graph, device="python", **given)
    pulled, changed = vg.Schedule(), vg.Schedule()
    for label in LABELS[name]:
        pulled = pulled.at(label, exchange=vg.BASE)
        if label != "all":
            changed = changed.at(label, exchange=vg.COMBINE, volume=vg.CHANGED)
    for count, cut in cuts(graph):
        for schedule in (vg.Schedule(), pulled, changed):
            same_results(run_on(cut, count, algorithm, graph, schedule=schedule, **given), expected)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in DEFAULT else pytest.mark.slow) for n in NAMES if n not in REFUSED],
)
def test_the_library_with_cuts(name):
    """Programs that want all neighbors of a vertex, too: then every member has all arcs."""
    algorithm = getattr(vg.algorithms, name)
    graph = graph_for(algorithm, small_graph(name not in UNDIRECTED))
    given = arguments_for(algorithm, graph)
    expected = vg.run(algorithm, graph, device="python", **given)
    for count in (2, 3):
        same_results(
            vg.run(algorithm, graph, device=[ONE] * count, placement=vg.cut_hubs(1), **given), expected
        )


def test_who_wants_all_neighbors_of_a_vertex_has_the_graph():
    algorithm, given = PROGRAMS["all_writes"]
    graph = small_graph()
    assert not is_cut(algorithm, graph, **given)
    expected = vg.run(algorithm, graph, device="python", **given)
    for count, cut in cuts(graph)[:2]:
        same_results(run_on(cut, count, algorithm, graph, **given), expected)


def test_parts_of_edges_are_a_placement():
    graph = small_graph()
    parts = vg.edge_partition(graph, 3, method="random")
    found = vg.run(vg.algorithms.sssp, graph, source=3, device=[ONE] * 3, placement=parts)
    same_results(found, vg.run(vg.algorithms.sssp, graph, source=3, device="python"))
    assert [m.arcs for m in found.stats.members] == parts.sizes.tolist()
    assert sum(m.ghosts + m.vertices for m in found.stats.members) == parts.copies.sum() + np.sum(
        parts.copies == 0
    )


def test_arcs_of_hubs_are_where_their_other_ends_are():
    star = np.arange(1, 40)
    src, dst = np.r_[np.zeros(39, int), star[:-1]], np.r_[star, star[1:]]
    graph = vg.Graph.from_edges(src, dst, num_vertices=40, directed=False)
    cut = HubCut(3.0)
    owner, holder = cut.place(graph, (1, 1))
    parts = placed(graph, lambda: (owner, holder), 2, "test")
    assert sum(p.arcs for p in parts) == graph.num_arcs
    without = placed(graph, lambda: (owner, None), 2, "without")
    assert max(p.arcs for p in parts) < max(p.arcs for p in without)
    for m, p in enumerate(parts):
        hub = np.flatnonzero(p.numbers == 0)[0]
        row = p.graph.out
        ends = p.numbers[row.column_indices[int(row.row_offsets[hub]) : int(row.row_offsets[hub + 1])]]
        assert ends.size
        assert (owner[ends] == m).all()
    assert sum(len(p.ghosts_at) for p in parts) < sum(len(p.ghosts_at) for p in without)


def test_the_fewest_values_choose():
    """A star with a far end for each member pays; on a path there are no hubs."""
    rng = np.random.default_rng(1)
    hubs = np.repeat(np.arange(8), 400), rng.integers(8, 808, 3200)
    star = vg.Graph.from_edges(*hubs, num_vertices=808, directed=False, multi_edges=False)
    path = vg.Graph.from_edges(np.arange(99), np.arange(1, 100), num_vertices=100, directed=False)
    assert isinstance(vg.cut_hubs().fitting(star, (1, 1)), HubCut)
    assert vg.cut_hubs().fitting(path, (1, 1)) is None
    for graph in (star, path):
        found = vg.run(vg.algorithms.bfs, graph, source=0, device=[ONE] * 2, placement=vg.cut_hubs())
        assert (found.level == vg.run(vg.algorithms.bfs, graph, source=0).level).all()


def refused(algorithm, graph, placement, **given) -> str:
    with pytest.raises(vg.VGraphError) as error:
        vg.run(algorithm, graph, device=[ONE] * 2, placement=placement, **given)
    return str(error.value)


def test_what_cannot_be_placed():
    graph, other = small_graph(), small_graph(seed=1)
    bfs, parts = vg.algorithms.bfs, vg.edge_partition(graph, 3, method="random")
    assert "3 parts of the edges; there are 2 members" in refused(bfs, graph, parts, source=0)
    parts = vg.edge_partition(other, 2, method="random")
    assert "another graph's edges" in refused(bfs, graph, parts, source=0)
    assert "prepares one of others" in refused(vg.algorithms.eccentricity, other, parts)
    with pytest.raises(vg.ParameterError, match=r"above=-1: a number, 0 or more"):
        vg.cut_hubs(-1)
    delayed = vg.Schedule().at("relax", exchange=vg.DELAYED)
    said = refused(vg.algorithms.sssp, graph, vg.cut_hubs(1), source=0, schedule=delayed)
    assert "others have arcs of a vertex that changes" in said
