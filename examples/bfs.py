"""Breadth-first search: everybody's parent in a tree of shortest hops, and the way back along it."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def visit(src, edge, dst):
    """The first to come becomes dst's parent."""
    if dst.parent == vg.none:
        dst.parent = src


@vg.algorithm
def bfs(graph, source: vg.vertex):
    """A parent for every vertex that source reaches; source is its own."""
    parent = graph.vertex_property(vg.vertex)
    parent[source] = source
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(visit, frontier)
    return parent


def main() -> None:
    """Print the way from vertex 0 of the karate club to vertex 26."""
    graph = vg.read(vg.data.path("karate"), directed=False)
    parent = vg.run(bfs, graph, source=0).parent
    way = [26]
    while way[-1] != 0:
        way.append(int(parent[way[-1]]))
    print("from 0 to 26:", " - ".join(map(str, reversed(way))))


if __name__ == "__main__":
    main()
