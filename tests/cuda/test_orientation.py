"""The orientation of a graph by degree, made on the GPU on which it is going to be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.algorithms import square_clustering, triangle_count
from vgraph.graph import orient
from vgraph.graph.orient import oriented
from vgraph.runtime import policy
from vgraph.runtime.devices.cuda.executor import resident_on


@pytest.fixture(autouse=True)
def small_graphs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orient, "DEVICE_ARCS", 0)


def made(n: int, m: int, directed: bool, seed: int = 1) -> vg.Graph:
    """Loops, parallel arcs, equal degrees, and vertices without arcs, the first and the last among them."""
    rng = np.random.default_rng(seed)
    s, t = 1 + rng.integers(0, max(1, n - 3), (2, m)) * rng.integers(0, 3, (2, m)) // 2 % max(1, n - 2)
    return vg.Graph.from_edges(s, t, num_vertices=n, directed=directed)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize(("n", "m"), [(60, 400), (60, 3), (1, 0), (0, 0)])
def test_the_same_as_on_the_host(n: int, m: int, directed: bool, gpu: Any) -> None:
    wanted, graph = oriented(made(n, m, directed)), made(n, m, directed)
    vg.run(triangle_count, graph, device="cuda")
    found = oriented(graph)
    assert found.rank is not None
    assert wanted.rank is not None
    np.testing.assert_array_equal(found.rank, wanted.rank)
    for side in ("out", "in_"):
        for name in ("row_offsets", "column_indices", "edge_ids"):
            a, b = (getattr(getattr(p.graph, side), name) for p in (wanted, found))
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_array_equal(b, a, err_msg=f"{side} {name}")
                assert (b.dtype, b.flags.writeable) == (a.dtype, False)


def test_what_was_made_there_stays(emulated: Any) -> None:
    """Of the oriented graph, both sides of which are walked, nothing is copied to the device."""
    ends = made(60, 400, False, 2).edges()[:2]
    graph = vg.Graph.from_edges(*ends, num_vertices=60, directed=False, multi_edges=False, self_loops=False)
    vg.run(square_clustering, graph, device="cuda")
    assert emulated.uploads == 2  # the rows and columns of the user's graph


def test_without_memory_the_host_makes_it(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(arcs: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(orient, "_on_device", full)
    graph = made(60, 400, True)
    assert vg.run(triangle_count, graph, device="cuda").total == vg.run(triangle_count, graph).total


def test_runs_on_the_host_make_it_there(emulated: Any) -> None:
    before = emulated.uploads
    vg.run(triangle_count, made(60, 400, True), device="cpu")
    assert emulated.uploads == before


def test_arcs_that_were_made_there_come_to_the_host_when_it_looks(
    emulated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs there, and the facts they need, ask for none; a look, a run on the CPU, or want of memory do."""
    monkeypatch.setattr(policy, "LARGE", 1)
    monkeypatch.setattr(policy, "SETTLED_RUNS", 1)
    for look in (
        lambda g: g.in_.column_indices,
        lambda g: vg.run(triangle_count, g),
        lambda _: resident_on(emulated).drop(),
    ):
        graph, other = made(60, 400, False, 3), made(60, 400, False, 3)
        wanted = vg.run(triangle_count, other, device="cpu").total
        oriented_there = oriented_on(graph)
        for _ in range(3):
            assert vg.run(triangle_count, graph, device="cuda").total == wanted
        assert not isinstance(oriented_there.out.columns, np.ndarray)
        assert not isinstance(oriented_there.in_.columns, np.ndarray)
        assert not isinstance(oriented_there.in_.rows, np.ndarray)
        look(oriented_there)
        assert vg.run(triangle_count, graph, device="cuda").total == wanted
        assert oriented_there.out.columns.dtype == oriented_there.id_dtype
        np.testing.assert_array_equal(
            oriented_there.out.column_indices, oriented(other).graph.out.column_indices
        )


def oriented_on(graph: vg.Graph) -> vg.Graph:
    """The orientation that a run on the GPU has made."""
    vg.run(triangle_count, graph, device="cuda")
    return oriented(graph).graph
