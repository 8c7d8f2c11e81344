"""What is written once is done once, and a helper's variables are its own."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg


@vg.operator
def add(src, edge, dst):
    dst.x += 1


@vg.function
def next_square(a):
    x = a + 1  # the algorithm has a property of that name
    moved = x * x  # and here a frontier
    return moved + 1


@vg.algorithm
def bool_of_an_apply(graph):
    x = graph.vertex_property(vg.int64)
    any_moved = bool(graph.edge_apply(add))
    return x, any_moved


@vg.algorithm
def names_of_a_helper(graph):
    x = graph.vertex_property(vg.int64)
    moved = graph.edge_apply(add)
    graph.next_square = next_square(len(moved))
    return x, graph.next_square


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_a_truth_value_is_computed_once(device: str) -> None:
    found = vg.run(bool_of_an_apply, vg.Graph.from_edges([0, 1], [1, 2]), device=device)
    np.testing.assert_array_equal(found.x, [0, 1, 1])
    assert found.any_moved


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_a_helper_may_use_the_names_of_the_algorithm(device: str) -> None:
    found = vg.run(names_of_a_helper, vg.Graph.from_edges([0, 1], [1, 2]), device=device)
    np.testing.assert_array_equal(found.x, [0, 1, 1])
    assert found.next_square == 10
