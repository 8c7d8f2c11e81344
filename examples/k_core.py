"""The k-core decomposition: peel off the vertices of degree k and those that fall with them; loop in loop."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def start(v):
    """Nobody is peeled yet."""
    v.left = v.degree


@vg.operator
def peel(v, graph):
    """Peel v if too few neighbors are left for a larger core."""
    ready = v.core == -1 and v.left <= graph.k
    if ready:
        v.core = graph.k
    return ready


@vg.operator
def drop(src, edge, dst):
    """A neighbor of dst was peeled."""
    dst.left += -1


@vg.algorithm
def k_core(graph):
    """The largest k such that a vertex belongs to a subgraph of degrees at least k (undirected graphs)."""
    core = graph.vertex_property(vg.int64, fill=-1)
    left = graph.vertex_property(vg.int64)
    graph.k = 0
    graph.vertex_apply(start)
    remaining = graph.num_vertices
    while remaining > 0:
        peeled = graph.vertex_filter(peel)
        while peeled:
            remaining -= len(peeled)
            graph.edge_apply(drop, peeled)
            peeled = graph.vertex_filter(peel)
        graph.k += 1
    return core


def main() -> None:
    """Print the sizes of the karate club's cores."""
    graph = vg.read(vg.data.path("karate"), directed=False)
    core = vg.run(k_core, graph).core
    for k in range(1, core.max() + 1):
        print(f"{k}-core: {(core >= k).sum()} members")


if __name__ == "__main__":
    main()
