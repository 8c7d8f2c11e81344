"""Recommendations: features learned one after the other, by steps that write both ends of an edge (Funk 2006)."""

from __future__ import annotations

import numpy as np

import vgraph as vg


@vg.operator
def add_up(v, graph):
    """The mean of all ratings."""
    for e in v.out_edges:
        graph.mean += e.rating / graph.num_edges


@vg.operator
def judge_item(v, graph):
    """By how much it is rated above the mean; few ratings say little."""
    total = 0.0
    for e in v.in_edges:
        total += e.rating - graph.mean
    v.bias = total / (v.in_degree + damping)


@vg.operator
def judge_user(v, graph):
    """By how much the user rates above what items deserve."""
    total = 0.0
    for e in v.out_edges:
        total += e.rating - graph.mean - e.dst.bias
    if v.out_degree > 0:
        v.bias = total / (v.out_degree + damping)


@vg.operator
def begin(src, edge, dst, graph):
    """What is known of a rating without features."""
    edge.known = graph.mean + src.bias + dst.bias


@vg.operator
def learn(src, edge, dst, graph):
    """A step towards the rating, with one number of the user and one of the item."""
    error = edge.rating - (edge.known + src.value * dst.value + graph.trail)
    before = src.value
    src.value += rate * (error * dst.value - regularization * src.value)
    dst.value += rate * (error * before - regularization * dst.value)


@vg.operator
def settle(src, edge, dst):
    """What the feature explains is known from now on."""
    edge.known += src.value * dst.value


@vg.operator
def keep(v, graph):
    """The feature is learned."""
    v.features[graph.feature] = v.value


@vg.algorithm
def funk_svd(graph, size=15, epochs=125, rate=0.001, regularization=0.015, damping=5.0):
    """Features and biases of users and items, and the mean; `rating` is a property of edges from users to items."""
    features = graph.vertex_property(vg.vector(vg.float64, size))
    value = graph.vertex_property(vg.float64)
    bias = graph.vertex_property(vg.float64)
    known = graph.edge_property(vg.float64)
    graph.mean = 0.0
    graph.vertex_apply(add_up)
    graph.vertex_apply(judge_item)
    graph.vertex_apply(judge_user)
    graph.edge_apply(begin)
    graph.feature = 0
    while graph.feature < size:
        value[:] = 0.1
        graph.trail = 0.01 * (size - graph.feature - 1)  # what the features that come later are at first
        for _ in range(epochs):
            graph.edge_apply(learn)
        graph.edge_apply(settle)
        graph.vertex_apply(keep)
        graph.feature += 1
    mean = graph.mean
    return features, bias, mean


def main() -> None:
    """Ratings by taste and kind, a tenth of which is hidden and predicted."""
    rng = np.random.default_rng(1)
    likes = 3 + np.outer(rng.normal(size=40), rng.normal(size=30))
    users, items = np.nonzero(np.ones_like(likes))
    known = rng.random(users.size) > 0.1
    graph = vg.from_ratings(users[known], items[known], likes[users, items][known])
    result = vg.run(funk_svd, graph, size=2, epochs=200, rate=0.02)
    u, i = users[~known], 40 + items[~known]
    product = (result.features[u] * result.features[i]).sum(axis=1)
    error = result.mean + result.bias[u] + result.bias[i] + product - likes[users, items][~known]
    print(f"off by {np.sqrt((error**2).mean()):.2f}; the ratings differ by {likes.std():.2f}")


if __name__ == "__main__":
    main()
