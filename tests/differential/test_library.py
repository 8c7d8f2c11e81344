"""Library algorithms against the interpreter, and against what defines them; scratch memory."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from test_algorithms_differential import SHAPES, ends_of

import vgraph as vg

A = vg.algorithms


def graph_of(shape: str, n: int, directed: bool) -> vg.Graph:
    return vg.Graph.from_edges(*ends_of(shape, n, 7), num_vertices=n, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_label_propagation(shape: str, directed: bool) -> None:
    graph = graph_of(shape, 40, directed)
    want = vg.run(A.label_propagation, graph, device="python").label
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(vg.run(A.label_propagation, graph, threads=threads).label, want)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("directed", [False, True])
def test_label_propagation_takes_the_most_frequent_label(directed: bool, seed: int) -> None:
    """By the definition, with a count of all labels around: LDBC's graphs are too small to tell some errors."""
    rng = np.random.default_rng(seed)
    n = 40
    source, target = rng.integers(0, n, (2, 150))
    graph = vg.Graph.from_edges(source, target, num_vertices=n, directed=directed)
    around: list[list[int]] = [[] for _ in range(n)]
    s, t, _ = graph.edges()
    for a, b in zip(s.tolist(), t.tolist(), strict=True):
        around[a].append(b)
        if directed or a != b:
            around[b].append(a)
    want = list(range(n))
    for _ in range(10):
        counts = [Counter(want[u] for u in neighbors) for neighbors in around]
        want = [min(c, key=lambda x: (-c[x], x)) if c else want[v] for v, c in enumerate(counts)]
    assert vg.run(A.label_propagation, graph).label.tolist() == want


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_maximal_independent_set(shape: str, directed: bool) -> None:
    graph = graph_of(shape, 40, directed)
    want = vg.run(A.maximal_independent_set, graph, device="python").member
    source, target = ends_of(shape, 40, 7)
    apart = source != target
    source, target = source[apart], target[apart]
    assert not (want[source] & want[target]).any()
    beside = np.zeros(40, bool)
    beside[source[want[target]]] = True
    beside[target[want[source]]] = True
    assert (want | beside).all()
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(vg.run(A.maximal_independent_set, graph, threads=threads).member, want)


def test_empty_graph() -> None:
    empty = vg.Graph.from_edges([], [], num_vertices=0)
    assert vg.run(A.label_propagation, empty).label.size == 0
    assert vg.run(A.maximal_independent_set, empty).member.size == 0


def test_refused_parameters() -> None:
    with pytest.raises(vg.ParameterError, match="max_rounds=-1"):
        vg.run(A.label_propagation, graph_of("path", 3, False), max_rounds=-1)


@vg.operator
def toggle(v):
    """Makes one element nonzero and zero again so often that the notes of a visit run over."""
    for _ in range(50):
        v.mark = 1
        v.mark = 0
    v.left = v.mark
    v.mark = 3
    for u in v.out_neighbors:
        v.left += u.mark


@vg.algorithm
def toggles(graph):
    """Scratch is zero at the start of each visit, however often it was written before."""
    left = graph.vertex_property(vg.float64)
    mark = graph.scratch(vg.float32)
    graph.vertex_apply(toggle)
    return left


@vg.operator
def mark_number(v):
    """A number names a vertex, or none."""
    vg.vertex(v.wanted).mark = True
    v.found = vg.vertex(v.wanted).mark


@vg.algorithm
def numbered(graph, wanted: vg.vertex_property(vg.int64)):
    """Numbers that name no vertex are vg.none, where nothing is written and false is read."""
    found = graph.vertex_property(vg.bool_)
    mark = graph.scratch(vg.bool_)
    graph.vertex_apply(mark_number)
    return found


@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}, {"threads": 2}])
def test_scratch(how: dict[str, object]) -> None:
    graph = graph_of("path", 9, False)
    assert vg.run(toggles, graph, **how).left.tolist() == [0] * 9
    wanted = np.array([0, 8, 9, -1, 2**40, -(2**63), 5, 4, 2**63 - 1])
    found = vg.run(numbered, graph, wanted=wanted, **how).found
    assert found.tolist() == [True, True, False, False, False, False, True, True, False]
