"""Layouts of arcs: kept with what they are made of, built by the same code on the CPU and on an (emulated) GPU."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph import layouts
from vgraph.graph.layouts import LAYOUTS, Kept, on_host, ordered, ordered_name, split_name


def example() -> vg.Graph:
    ends = np.random.default_rng(3).integers(0, 40, (2, 200))
    return vg.Graph.from_edges(*ends, num_vertices=40, weight=np.arange(200))


def test_a_layout_is_built_once_for_all_graphs_of_the_same_arcs() -> None:
    graph = example()
    found = on_host(graph, "segments.3")
    assert found.key == "segments.3"
    assert found.nbytes == sum(array.nbytes for array in found.arrays.values())
    assert found.seconds > 0
    assert on_host(graph.with_vertex_property("x", np.zeros(40)), "segments.3") is found
    assert on_host(graph, "segments.2") is not found


def test_an_edge_property_in_the_order_of_a_layout_goes_with_the_property() -> None:
    graph = example()
    first = ordered(graph, "weight", "segments.3")
    assert np.shares_memory(ordered(graph, "weight", "segments.3"), first)
    other = graph.with_edge_property("weight", np.arange(200)[::-1])
    assert not np.array_equal(ordered(other, "weight", "segments.3"), first)
    kept = Kept()
    anchor = type("Anchor", (), {})()
    assert kept.get(anchor, "key", lambda: 5) == kept.get(anchor, "key", lambda: 6) == 5
    assert len(kept) == 1
    del anchor
    gc.collect()
    assert len(kept) == 0


def test_a_layout_goes_with_its_graph() -> None:
    graph = example()
    gone = weakref.ref(on_host(graph, "segments.3"))
    del graph
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("prop", ["weight", "edge.number", "segments"])
def test_names_of_properties_in_an_order(prop: str) -> None:
    for name, layout in LAYOUTS.items():
        key = layout.key(4)
        assert layouts.parsed(key) == (layout, (4,))
        assert split_name(ordered_name(prop, key)) == (prop, key), name


@pytest.mark.parametrize("count", [1, 31, 63, 703])
@pytest.mark.parametrize("id_bits", [None, 64])
def test_lists_with_first_ids_in_16_bits(id_bits: int | None, count: int) -> None:
    """Each once, padded; what is behind them is where it was."""
    ends = (np.random.default_rng(count).random((2, 4000)) ** 3 * 700).astype(int)
    graph = vg.Graph.from_edges(*ends, num_vertices=700, id_bits=id_bits)
    found = on_host(graph, f"out_heads.{count}.0").arrays
    rows, columns, starts = graph.out.row_offsets.astype(int), graph.out.column_indices, found["starts"]
    for v in range(700):
        mine, head = columns[rows[v] : rows[v + 1]], found["ids"][8 * starts[v] : 8 * starts[v + 1]]
        early = sorted({u for u in mine.tolist() if u < count})
        assert head.tolist() == early + [count] * (-len(early) % 8)
        assert columns[found["tails"][v] : rows[v + 1]].tolist() == [u for u in mine if u >= count]


@pytest.mark.parametrize("count", [1, 5, 40, 600])
@pytest.mark.parametrize("id_bits", [None, 64])
@pytest.mark.parametrize("skewed", [True, False])
def test_lists_with_hubs_in_front_and_bitmaps_of_hubs(skewed: bool, id_bits: int | None, count: int) -> None:
    """Also where the first vertices are the hubs, where bitmaps have several blocks, and with parallel arcs."""
    n = 700
    ends = (np.random.default_rng(count).random((2, 4000)) ** 3 * n).astype(int)
    graph = vg.Graph.from_edges(*(ends if skewed else n - 1 - ends), num_vertices=n, id_bits=id_bits)
    found = on_host(graph, f"out_hubs.{count}").arrays
    rows, columns = graph.out.row_offsets.astype(int), graph.out.column_indices
    degrees = graph.out_degree.astype(int) + graph.in_degree
    hubs = found["vertices"].astype(int)
    assert np.sort(degrees[hubs]).sum() >= 0.98 * np.sort(degrees)[-count:].sum()
    assert (np.diff(hubs) > 0).all()
    assert found["words"].ctypes.data % 64 == 0
    for v in range(n):
        mine, split = columns[rows[v] : rows[v + 1]], int(found["split"][v])
        assert found["columns"][split : rows[v + 1]].tolist() == [u for u in mine if u not in hubs]
        assert hubs[found["columns"][rows[v] : split].astype(int)].tolist() == [u for u in mine if u in hubs]
        bits = found["words"][8 * int(found["blocks"][v]) : 8 * int(found["blocks"][v + 1])]
        inside = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        assert hubs[inside].tolist() == sorted({u for u in mine.tolist() if u in hubs} if v in hubs else ())
