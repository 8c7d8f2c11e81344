"""PageRank: two operators, and sums over the whole graph that steer the loop."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def give(v, graph):
    """Split v's rank among its out-neighbors; a vertex without any gives to everybody."""
    v.received = 0.0
    if v.out_degree == 0:
        graph.dangling += v.rank
    else:
        v.gift = v.rank / v.out_degree


@vg.operator
def receive(src, edge, dst):
    """Collect what the in-neighbors give."""
    dst.received += src.gift


@vg.operator
def update(v, graph):
    """The new rank, and how far it is from the old one."""
    rank = graph.base + graph.damping * v.received
    graph.error += abs(rank - v.rank)
    v.rank = rank


@vg.algorithm
def pagerank(graph, damping=0.85, tolerance=1e-10, max_rounds=200):
    """Ranks that sum to 1, and the rounds it took to come within tolerance."""
    rank = graph.vertex_property(vg.float64, fill=1.0 / graph.num_vertices)
    gift = graph.vertex_property(vg.float64)
    received = graph.vertex_property(vg.float64)
    graph.damping = damping
    graph.error = vg.inf
    rounds = 0
    while graph.error > tolerance and rounds < max_rounds:
        graph.dangling = 0.0
        graph.vertex_apply(give)
        graph.base = (1.0 - damping + damping * graph.dangling) / graph.num_vertices
        graph.edge_apply(receive)
        graph.error = 0.0
        graph.vertex_apply(update)
        rounds += 1
    return rank, rounds


def main() -> None:
    """Print the five busiest crossings of Amsterdam by PageRank."""
    graph = vg.read(vg.data.path("amsterdam"))
    result = vg.run(pagerank, graph)
    print(f"{result.rounds} rounds, ranks sum to {result.rank.sum():.6f}")
    for v in result.rank.argsort()[::-1][:5]:
        print(f"vertex {v:>6}: {result.rank[v]:.3e}")


if __name__ == "__main__":
    main()
