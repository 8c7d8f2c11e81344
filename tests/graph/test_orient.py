"""The orientation by degree that counts of triangles and cliques run on."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph import machine, orient
from vgraph.graph.topology import Adjacency
from vgraph.runtime import ordering


@pytest.mark.parametrize("least", [1, 7, 1 << 20])
@pytest.mark.parametrize("edges", [0, 1, 30, 300])
def test_each_edge_once_from_fewer_neighbors_to_more(
    monkeypatch: pytest.MonkeyPatch, edges: int, least: int
) -> None:
    """Whatever the size of the parts that threads take; self-loops are left out."""
    monkeypatch.setattr(machine, "LEAST", least)
    monkeypatch.setattr(machine, "threads", lambda: 3)
    ends = np.random.default_rng(edges).integers(0, 25, (2, edges))
    graph = vg.Graph.from_edges(*ends, num_vertices=26, directed=False, multi_edges=False)
    found, rank = orient.oriented(graph)[:2]
    assert rank is not None
    degrees = graph.out_degree[np.argsort(rank)]
    assert (np.diff(degrees.astype(int)) <= 0).all()
    wanted = {(max(rank[s], rank[t]), min(rank[s], rank[t])) for s, t in ends.T if s != t}
    sources, targets, _ = found.edges()
    assert sorted(zip(sources.tolist(), targets.tolist(), strict=True)) == sorted(wanted)


def test_an_orientation_is_in_the_order_of_degrees_already() -> None:
    """That of its own out-arcs is another one, in which twice as much of the lists is walked to count triangles."""
    ends = (np.random.default_rng(1).random((2, 3000)) ** 3 * 200).astype(int)
    graph = vg.Graph.from_edges(*ends, num_vertices=200, directed=False, multi_edges=False)
    found = orient.oriented(graph).graph
    assert (np.diff(found.out_degree.astype(int)) > 0).any()
    again = found.relabelled("degree").graph
    np.testing.assert_array_equal(again.out.column_indices, found.out.column_indices)
    assert ordering.order_that_pays(found) is None


def test_row_offsets_on_a_gpu_are_themselves() -> None:
    class OnGPU:
        """As CuPy's arrays are: no NumPy array, and nothing that is fetched."""

        __cuda_array_interface__, get = None, None

    offsets, columns = OnGPU(), OnGPU()
    side = Adjacency(offsets, columns)  # type: ignore[arg-type]
    assert side.row_offsets is offsets
    assert side.rows is offsets
