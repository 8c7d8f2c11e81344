"""Counting triangles: a loop over neighbors, and the neighbors that two vertices have in common."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def count(v, graph):
    """Count each triangle v < u < w once, at its smallest corner."""
    for u in v.out_neighbors:
        if v.id < u.id:
            for w in v.out_neighbors & u.out_neighbors:
                if u.id < w.id:
                    graph.triangles += 1


@vg.algorithm
def triangles(graph):
    """The number of triangles of an undirected graph without parallel edges."""
    graph.triangles = 0
    graph.vertex_apply(count)
    return graph.triangles


def main() -> None:
    """Print the triangles of the karate club and of Les Misérables."""
    for name in ("karate", "lesmis"):
        graph = vg.read(vg.data.path(name), directed=False)
        print(f"{name}: {vg.run(triangles, graph).triangles} triangles")


if __name__ == "__main__":
    main()
