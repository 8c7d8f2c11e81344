"""Triangles per edge: a property of edges that an edge operator writes."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def count(src, edge, dst):
    """Both arcs of an edge are active and share its value, so one of them counts."""
    if src.id < dst.id:
        shared = 0
        for _ in src.neighbors & dst.neighbors:
            shared += 1
        edge.support += shared


@vg.algorithm
def edge_support(graph):
    """In how many triangles each edge of an undirected graph is."""
    support = graph.edge_property(vg.int64)
    graph.edge_apply(count)
    return support


def main() -> None:
    """The edges of the karate club that most triangles stand on."""
    graph = vg.read(vg.data.path("karate"), directed=False)
    support = vg.run(edge_support, graph).support
    sources, targets, _ = graph.edges()
    for i in support.argsort(stable=True)[::-1][:5]:
        print(f"{sources[i]:2} - {targets[i]:2}: {support[i]} triangles")


if __name__ == "__main__":
    main()
