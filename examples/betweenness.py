"""Betweenness centrality (Brandes 2001): forward by levels, then back over the list of frontiers."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def reset(v):
    """Forget the previous source."""
    v.level = -1
    v.paths = 0.0
    v.share = 0.0


@vg.operator
def visit(src, edge, dst, graph):
    """Put dst on the next level, if it is on none."""
    if dst.level == -1:
        dst.level = graph.depth


@vg.operator
def count(src, edge, dst, graph):
    """Every shortest path to src is one to dst, too."""
    if dst.level == graph.depth:
        dst.paths += src.paths


@vg.operator
def collect(v):
    """Take v's part of the paths that lead on through the next level."""
    for w in v.out_neighbors:
        if w.level == v.level + 1:
            v.share += v.paths / w.paths * (1.0 + w.share)
    if v.level > 0:
        v.centrality += v.share


@vg.algorithm
def betweenness(graph, sources):
    """For each vertex: the sum, over all pairs from sources, of its part of their shortest paths."""
    centrality = graph.vertex_property(vg.float64)
    level = graph.vertex_property(vg.int64)
    paths = graph.vertex_property(vg.float64)
    share = graph.vertex_property(vg.float64)
    for s in sources:
        graph.vertex_apply(reset)
        level[s] = 0
        paths[s] = 1.0
        graph.depth = 0
        frontier = graph.frontier(s)
        levels = [frontier]
        while frontier:
            graph.depth += 1
            reached = graph.edge_apply(visit, frontier)
            graph.edge_apply(count, frontier)
            frontier = reached
            levels.append(frontier)
        for frontier in reversed(levels):
            graph.vertex_apply(collect, frontier)
    return centrality


def main() -> None:
    """Print the go-betweens of the karate club."""
    graph = vg.read(vg.data.path("karate"), directed=False)
    centrality = vg.run(betweenness, graph, sources=list(range(graph.num_vertices))).centrality
    for v in centrality.argsort()[::-1][:5]:
        print(f"vertex {v:>2}: {centrality[v] / 2:.2f}")  # each pair was counted from both ends


if __name__ == "__main__":
    main()
