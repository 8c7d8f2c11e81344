"""Matrix factorization by stochastic gradient descent, with biases (Koren, Bell and Volinsky 2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._ratings import errors_of, of_sides, predict, recommend
from vgraph.graph import Graph
from vgraph.graph.extend import extended
from vgraph.graph.ratings import check_ratings, named, sides_of
from vgraph.graph.weights import check_numbers, kept_with_values


@vg.operator
def scatter(v):
    """Small factors by lot, around 0."""
    for i in range(len(v.latent)):
        v.latent[i] = vg.float32(spread * vg.random_normal(v, i, seed))


@vg.operator
def add_up(v, graph):
    """How many ratings there are to learn from, and to test with, and what they sum up to."""
    for e in v.out_edges:
        if test is not None and e.test:
            graph.tests += 1
        else:
            graph.count += 1
            graph.total += e.rating


@vg.function
def predicted(u, i, graph):
    """What u would give to i."""
    return vg.float32(graph.mean) + u.bias + i.bias + vg.dot(u.latent, i.latent)


@vg.operator
def learn(src, edge, dst, graph):
    """A step down the gradient of the squared error of one rating, and of what keeps numbers small."""
    if test is None or not edge.test:
        step = vg.float32(graph.step)
        shrink = vg.float32(regularization)
        error = edge.rating - predicted(src, dst, graph)
        if biases:
            src.bias += step * (error - shrink * src.bias)
            dst.bias += step * (error - shrink * dst.bias)
        before = src.latent
        src.latent += step * (error * dst.latent - shrink * before)
        dst.latent += step * (error * before - shrink * dst.latent)


@vg.operator
def judge(v, graph):
    """How far predictions are off, squared."""
    loss = 0.0
    missed = 0.0
    for e in v.out_edges:
        error = float(e.rating - predicted(v, e.dst, graph))
        if test is not None and e.test:
            missed += error * error
        else:
            loss += error * error
    graph.loss += loss
    graph.missed += missed


@vg.algorithm
def matrix_factorization(
    graph,
    factors=16,
    epochs=10,
    rate: vg.between(0, vg.inf) = 0.01,
    regularization: vg.between(0, vg.inf) = 0.05,
    seed=0,
    rating: vg.edge_property(vg.float32) = None,
    test: vg.edge_property(vg.bool_) = None,
    decay: vg.between(0, 1) = 1.0,
    bold=False,
    patience=0,
    biases=True,
    spread: vg.between(0, vg.inf) = 0.1,
    dtype=vg.float32,
    users=None,
    items=None,
):
    """Vectors of users and items whose products, with biases, are close to the ratings, by stochastic gradient descent.

    The graph is directed, with the users as its first vertices and an edge from a user to each item that it rated, as
    `vg.from_ratings` makes it. `factors`: the length of vectors. `epochs`: how often all ratings are gone through, each
    a step of length `rate`, which keeps numbers small in proportion to `regularization`. `rating`: the name of an edge
    property, read as float32; "rating" by default, else "weight". `test`: the name of one of bools; those edges are not
    learned from, but tested with. After each epoch the rate is multiplied by `decay`, and with `bold=True` by 1.05 or,
    where the error grew, 0.5. `patience`: it ends when so many epochs have found nothing better in the test (without
    one, in training); 0 for never. `biases=False`: vectors alone, and the mean. `spread`: the deviation of the first
    factors, drawn by `seed`. `dtype`: how factors are stored, vg.float32 or, in half of the memory, vg.float16; what is
    computed is float32. `users`: how many there are, by default all vertices before the first that is rated.

    Results: `user_factors` and `item_factors` (of type `dtype`, a row for each), `user_bias` and `item_bias` (float32),
    `mean`, `rmse` (float64, of the training ratings after each epoch) and `test_rmse` (NaN without `test`). Also
    `predict(users, items)`, for which items count from 0, and `recommend(user, k=10, rated=False)`, which gives items,
    the best first, and predictions. Which order ratings are gone through in says the axis `conflict` at label `learn`:
    with locks, two runs on several threads differ a little; a plan always gives the same. Raises ParameterError for
    graphs of other forms, and ratings that are missing or not finite; AlgorithmError where numbers grow beyond all
    bounds, as with too large a rate. O(ratings * factors) per epoch.
    """
    latent = graph.vertex_property(vg.vector(dtype, factors))
    bias = graph.vertex_property(vg.float32)
    history, tested = graph.vertex_property(vg.float64)
    graph.step = rate
    graph.count = graph.tests = 0
    graph.total = graph.loss = graph.missed = 0.0
    graph.vertex_apply(scatter)
    graph.vertex_apply(add_up)
    graph.mean = graph.total / max(graph.count, 1)
    best = vg.inf
    before = vg.inf
    idle = 0
    done = 0
    while done < epochs and (patience == 0 or idle < patience):
        graph.edge_apply(learn)
        graph.loss = graph.missed = 0.0
        graph.vertex_apply(judge)
        loss = vg.sqrt(graph.loss / max(graph.count, 1))
        missed = vg.sqrt(graph.missed / max(graph.tests, 1))
        if not loss < vg.inf:
            vg.fail("the error grows beyond all bounds: use a smaller rate")
        history[done] = loss
        tested[done] = missed
        judged = missed if graph.tests > 0 else loss
        idle = 0 if judged < best else idle + 1
        best = min(best, judged)
        graph.step *= decay
        if bold:
            graph.step *= 1.05 if loss < before else 0.5
        before = loss
        done += 1
    mean = graph.mean
    tests = graph.tests
    return latent, bias, history, tested, mean, done, tests


@matrix_factorization.requires
def ratings(
    graph: Graph,
    factors: Any,
    epochs: Any,
    rate: Any,
    regularization: Any,
    spread: Any,
    rating: Any,
    patience: Any,
    users: Any,
) -> None:
    """Raise ParameterError for what are no ratings of items by users, and for numbers out of range."""
    check_numbers(rate=rate, regularization=regularization, spread=spread)
    check_ratings(graph, rating, users, factors, epochs, patience=patience)


@matrix_factorization.prepares
def with_room(graph: Graph, epochs: Any, rating: Any, users: Any) -> vg.Prepared:
    """The number of users, ratings by their name, and as many vertices as epochs: each keeps what came of one."""
    users, missing = sides_of(graph, users), epochs - graph.num_vertices
    if rating is None:
        name, values = named(graph, rating), graph.edge_properties[named(graph, rating)]
        kept = kept_with_values(
            graph, name, "ratings", lambda: graph.with_edge_property("rating", values.astype(np.float32))
        )
        graph = graph.with_edge_property("rating", kept.edge_properties["rating"])
    made = graph if missing <= 0 else extended(graph, missing, edge=graph.edge_properties)
    return vg.Prepared(made, arguments={"users": users, "items": graph.num_vertices - users})


@matrix_factorization.finishes
def apart(
    latent: NDArray[Any],
    bias: NDArray[Any],
    history: NDArray[Any],
    tested: NDArray[Any],
    mean: Any,
    done: int,
    tests: int,
    users: int,
    items: int,
) -> dict[str, Any]:
    """Users and items apart, and an error for each epoch."""
    sides = of_sides(users, items, factors=latent, bias=bias)
    return {**sides, "mean": mean, **errors_of(history, tested, done, tests)}


matrix_factorization.derives(predict)
matrix_factorization.derives(recommend)
