"""Ranking items for users by pairs of which one was taken and the other was not (Rendle et al. 2009, BPR-MF)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._ratings import of_sides, predict, recommend
from vgraph.algorithms.matrix_factorization import scatter
from vgraph.graph import Graph
from vgraph.graph.extend import extended
from vgraph.graph.ratings import check_sides, sides_of
from vgraph.graph.weights import check_numbers

PAIRS = 16
"""Items of a user that a visit goes through, each beside another one."""


@vg.operator
def has_more(v, graph):
    """Whether v has taken items that this epoch has not come to."""
    return v.out_degree > graph.part * PAIRS


@vg.operator
def learn(v, graph):
    """For some items that v took another one each by lot that it did not: the first go up, the others down."""
    near = vg.local_list(vg.vertex, 2 * PAIRS)
    first = graph.part * PAIRS
    for k in range(first, min(first + PAIRS, v.out_degree)):
        other = pool[vg.random_below(len(pool), v, k, graph.epoch, seed)]
        if other not in v.out_neighbors:
            near.append(v.out_neighbors[k])
            near.append(other)
    x = v.latent
    shrink = vg.float32(rate * regularization)
    for k in range(len(near) // 2):
        taken = near[2 * k]
        other = near[2 * k + 1]
        apart = taken.latent - other.latent
        gap = vg.dot(x, apart) + taken.bias - other.bias
        step = vg.float32(rate) / (1 + vg.exp(gap))
        graph.pairs += 1
        graph.right += 1 if gap > 0 else 0
        taken.latent += step * x - shrink * taken.latent
        other.latent -= step * x + shrink * other.latent
        taken.bias += step - shrink * taken.bias
        other.bias -= step + shrink * other.bias
        x += step * apart - shrink * x
    v.latent = x


@vg.algorithm
def bayesian_personalized_ranking(
    graph,
    factors=16,
    epochs=20,
    rate: vg.between(0, vg.inf) = 0.05,
    regularization: vg.between(0, vg.inf) = 0.01,
    seed=0,
    popular=False,
    spread: vg.between(0, vg.inf) = 0.1,
    users=None,
    items=None,
    pool: vg.array(vg.vertex) = (),
):
    """Vectors of users and items whose products, with a bias of the item, rank what a user took above what it did not.

    The graph is directed, with the users as its first vertices and an edge from a user to each item that it took, as
    `vg.from_ratings` makes it; ratings are not read. In each of `epochs` every edge gets another item by lot that its
    user did not take, and is a step of length `rate` up the logarithm of the odds that the two are in the right order;
    `regularization`: how strongly numbers are kept small. The other item is any of all, or with `popular=True` one by
    how often it was taken. `spread`: the deviation of the first factors, drawn by `seed`, as all lots are. `users`: how
    many there are, by default all vertices before the first that was taken. `items` and `pool` are not for callers.

    Results: `user_factors` and `item_factors` (float32, a row for each), `item_bias` (float32), and `auc` (float64):
    the part of the drawn pairs that were in the right order when an epoch came to them. Also `predict(users, items)`,
    whose numbers mean something beside each other alone, and `recommend(user, k=10)`. Steps come in the order that
    `conflict` at label `learn` says; with locks, two runs on several threads differ a little. Raises ParameterError for
    graphs of other forms; AlgorithmError where numbers grow beyond all bounds. O(edges * factors) per epoch.
    """
    latent = graph.vertex_property(vg.vector(vg.float32, factors))
    bias = graph.vertex_property(vg.float32)
    history = graph.vertex_property(vg.float64)
    graph.epoch = graph.part = graph.pairs = graph.right = 0
    graph.vertex_apply(scatter)
    for k in range(epochs):
        graph.epoch = k
        graph.part = graph.pairs = graph.right = 0
        waiting = graph.vertex_filter(has_more)
        while waiting:
            graph.vertex_apply(learn, waiting)
            graph.part += 1
            waiting = graph.vertex_filter(has_more, waiting)
        history[k] = graph.right / max(graph.pairs, 1)
    if not graph.sum(vg.dot(latent, latent)) < vg.inf:
        vg.fail("numbers grow beyond all bounds: use a smaller rate")
    return latent, bias, history


@bayesian_personalized_ranking.requires
def taken_by_users(
    graph: Graph, factors: Any, epochs: Any, rate: Any, regularization: Any, spread: Any, users: Any
) -> None:
    """Raise ParameterError for what are no items that users took, and for numbers out of range."""
    check_numbers(rate=rate, regularization=regularization, spread=spread)
    check_sides(graph, users, factors, epochs)


@bayesian_personalized_ranking.prepares
def with_pool(graph: Graph, epochs: Any, users: Any, popular: Any) -> vg.Prepared:
    """As many vertices as epochs, the sizes of both sides, and what other items are drawn from."""
    users = sides_of(graph, users)
    pool = graph.out.column_indices if popular else np.arange(users, graph.num_vertices)
    made = extended(graph, max(0, epochs - graph.num_vertices))
    return vg.Prepared(made, arguments={"users": users, "items": graph.num_vertices - users, "pool": pool})


@bayesian_personalized_ranking.finishes
def apart(
    latent: NDArray[Any], bias: NDArray[Any], history: NDArray[Any], users: int, items: int, epochs: int
) -> dict[str, Any]:
    """Users and items apart, and a number for each epoch."""
    factors = of_sides(users, items, factors=latent)
    return {**factors, "item_bias": bias[users : users + items], "auc": history[:epochs]}


bayesian_personalized_ranking.derives(predict)
bayesian_personalized_ranking.derives(recommend)
