"""Alternating least squares, for implicit feedback (Hu, Koren and Volinsky 2008) and ratings (Zhou et al. 2008)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._ratings import errors_of, of_sides, predict, recommend
from vgraph.algorithms.matrix_factorization import add_up, scatter
from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.ratings import check_ratings, named, sides_of
from vgraph.graph.weights import check_numbers, check_weights, kept_with_values


@vg.operator
def add_products(v, graph):
    """A row of the products of all factors with each other."""
    graph.products += v.latent * v.latent[graph.row]


@vg.function
def weight_of(rating):
    """How much more a pair with a rating counts than one without."""
    return vg.float32(confidence) * rating if confidence is not None else vg.float32(1)


@vg.function
def target_of(rating, graph):
    """What a product of factors should be."""
    return vg.float32(1) if confidence is not None else rating - vg.float32(graph.mean)


@vg.function
def among_all(x):
    """What the pairs without a rating ask of x, which all count 1 and should be 0."""
    found = x * vg.float32(0)
    if confidence is not None:
        for i in range(len(x)):
            found += x[i] * vg.vertex(i).gram
    return found


@vg.operator
def solve(v, graph):
    """The best factors of v, the others' being fixed: steps of conjugate gradients for the normal equations."""
    count = 0
    for e in v.out_edges:
        if test is None or not e.test:
            count += 1
    x = v.latent if count > 0 else v.latent * vg.float32(0)
    shrink = vg.float32(regularization * (count if confidence is None else 1))
    left = -shrink * x - among_all(x)
    right = x * vg.float32(0)
    for e in v.out_edges:
        if test is None or not e.test:
            other = e.dst.latent
            weight = weight_of(e.rating)
            wanted = (weight if confidence is None else 1 + weight) * target_of(e.rating, graph)
            right += wanted * other
            left -= weight * vg.dot(other, x) * other
    left += right
    along = left
    size = vg.dot(left, left)
    noise = 1e-20 + 1e-12 * vg.dot(right, right)
    for _ in range(steps):
        if not size - noise <= 0:  # of what is too large NaN comes, and is found
            image = shrink * along + among_all(along)
            for e in v.out_edges:
                if test is None or not e.test:
                    other = e.dst.latent
                    image += weight_of(e.rating) * vg.dot(other, along) * other
            far = size / vg.dot(along, image)
            x += far * along
            left -= far * image
            after = vg.dot(left, left)
            along = left + after / size * along
            size = after
    v.latent = x
    graph.loss += float(shrink * vg.dot(x, x))


@vg.operator
def judge(v, graph):
    """How far products are off at an item's ratings, and what the loss is made of."""
    for e in v.out_edges:
        product = float(vg.dot(v.latent, e.dst.latent))
        error = float(target_of(e.rating, graph)) - product
        if test is not None and e.test:
            graph.missed += error * error
        else:
            graph.off += error * error
            if confidence is None:
                graph.loss += error * error
            else:
                graph.loss += (1 + weight_of(e.rating)) * error * error - product * product
    graph.loss += float(vg.dot(v.latent, among_all(v.latent)))


@vg.algorithm
def alternating_least_squares(
    graph,
    factors=16,
    epochs=10,
    regularization: vg.between(0, vg.inf) = 0.05,
    confidence=None,
    steps=3,
    seed=0,
    rating: vg.edge_property(vg.float32) = None,
    test: vg.edge_property(vg.bool_) = None,
    spread: vg.between(0, vg.inf) = 0.01,
    users=None,
    items=None,
):
    """Vectors of users and items whose products are close to the ratings: those of one side, then of the other, are the
    best that there are while the others stay as they are.

    The graph is that of `matrix_factorization`, and so are `rating`, `test`, `users`, `spread` and `seed`. With
    `confidence` the ratings are implicit feedback (Hu, Koren and Volinsky 2008): the product is to be 1 where there is
    one, which counts 1 + confidence * rating, and 0 elsewhere, which counts 1. Without it the product is to be the
    rating less the mean, and what a vertex's numbers cost grows with its ratings (Zhou et al. 2008). `regularization`:
    how strongly numbers are kept small. `steps`: of conjugate gradients for each vertex and epoch, from what it has
    (Takacs, Pilaszy and Tikk 2011); with as many as `factors` the best is found, but for rounding.

    Results: `user_factors` and `item_factors` (float32, a row for each), `mean` (0 with `confidence`), and after each
    epoch, in float64, `loss`, which never grows but for rounding, and `rmse` and `test_rmse` (NaN without `test`), what
    products are off by at the ratings. Also `predict` and `recommend`, as there. Raises ParameterError for graphs of
    other forms, ratings that are missing or not finite, and below 0 with `confidence`; AlgorithmError where numbers
    become too large. O(ratings * factors * steps + vertices * factors * (factors + steps * factors)) per epoch.
    """
    latent, gram = graph.vertex_property(vg.vector(vg.float32, factors))
    history, learned, tested = graph.vertex_property(vg.float64)
    graph.count = graph.tests = 0
    graph.total = graph.loss = graph.off = graph.missed = 0.0
    graph.row = 0
    people = graph.frontier(v for v in graph.vertices if v.id < users)
    things = graph.frontier(v for v in graph.vertices if users <= v.id < users + items)
    graph.vertex_apply(scatter, people | things)
    graph.vertex_apply(add_up, people)
    graph.mean = graph.total / max(graph.count, 1) if confidence is None else 0.0
    graph.products = graph.sum(latent)
    done = 0
    while done < epochs:
        graph.loss = graph.off = graph.missed = 0.0
        solved = people
        fixed = things
        for _ in range(2):
            if confidence is not None:
                for row in range(factors):
                    graph.row = row
                    graph.products = 0
                    graph.vertex_apply(add_products, fixed)
                    gram[row] = graph.products
            graph.vertex_apply(solve, solved)
            solved = things
            fixed = people
        graph.vertex_apply(judge, things)
        if not graph.loss < vg.inf:
            vg.fail("numbers become too large for a float32: scale the ratings down")
        history[done] = graph.loss
        learned[done] = vg.sqrt(graph.off / max(graph.count, 1))
        tested[done] = vg.sqrt(graph.missed / max(graph.tests, 1))
        done += 1
    mean = graph.mean
    tests = graph.tests
    return latent, history, learned, tested, mean, done, tests


@alternating_least_squares.requires
def ratings(
    graph: Graph,
    factors: Any,
    epochs: Any,
    steps: Any,
    regularization: Any,
    spread: Any,
    rating: Any,
    users: Any,
    confidence: Any,
) -> None:
    """Raise ParameterError for what are no ratings of items by users, and for numbers out of range."""
    check_numbers(regularization=regularization, spread=spread, confidence=confidence)
    check_ratings(graph, rating, users, factors, epochs, steps=steps)
    if confidence is not None:
        if confidence < 0:
            raise ParameterError(f"confidence={shown(confidence)} is below 0")
        check_weights(graph, named(graph, rating), of="rating")


@alternating_least_squares.prepares
def both_ways(graph: Graph, factors: Any, epochs: Any, rating: Any, test: Any, users: Any) -> vg.Prepared:
    """Ratings from users to items and back, and as many vertices as epochs and factors: each keeps what came of one."""
    users, name = sides_of(graph, users), named(graph, rating)
    s, t, properties = graph.edges()
    size = max(graph.num_vertices, epochs, factors)

    def make() -> Graph:
        values, places = np.tile(properties[name].astype(np.float32), 2), np.tile(np.arange(s.size), 2)
        ends = np.r_[s, t], np.r_[t, s]
        return Graph.from_edges(*ends, num_vertices=size, keep_order=False, rating=values, place=places)

    made = kept_with_values(graph, name, f"both ways {size}", make)
    if test is not None:
        made = made.with_edge_property("test", properties["test"][made.edge_properties["place"]])
    return vg.Prepared(made, arguments={"users": users, "items": graph.num_vertices - users})


@alternating_least_squares.finishes
def apart(
    latent: NDArray[Any],
    history: NDArray[Any],
    learned: NDArray[Any],
    tested: NDArray[Any],
    mean: Any,
    done: int,
    tests: int,
    users: int,
    items: int,
) -> dict[str, Any]:
    """Users and items apart, and errors for each epoch."""
    return {
        **of_sides(users, items, factors=latent),
        "mean": mean,
        "loss": history[:done],
        **errors_of(learned, tested, done, tests),
    }


alternating_least_squares.derives(predict)
alternating_least_squares.derives(recommend)
