"""Shortest paths over the streets of Amsterdam, by an operator of one's own, and a map of the result."""

from __future__ import annotations

import vgraph as vg
from vgraph import plot

CENTRE = 56678


@vg.operator
def relax(src, edge, dst):
    """Shorten dst's distance through src."""
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def sssp(graph, source: vg.vertex):
    """Shortest distances from source; all weights are at least 0."""
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


def main() -> None:
    """Write the map to sssp.png."""
    graph = vg.read(vg.data.path("amsterdam"))
    result = vg.run(sssp, graph, source=CENTRE)
    reached = result.dist < vg.inf
    print(f"{reached.sum():,} of {graph.num_vertices:,} vertices reached in {result.stats.rounds} rounds")
    print(f"the farthest is {result.dist[reached].max():,} map units away")

    streets = vg.data.GRAPHS["amsterdam"]
    plot.vertices(
        graph,
        result.dist,
        "sssp.png",
        y_down=streets.y_down,
        mark=CENTRE,
        title="Shortest paths from the centre of Amsterdam",
        label="distance (map units)",
        attribution=streets.attribution,
    )


if __name__ == "__main__":
    main()
