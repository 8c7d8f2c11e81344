"""`segments=` on a GPU: pulls whose sources' values lie in shared memory, by slices of their arcs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice

import vgraph as vg
from vgraph.graph import layouts
from vgraph.graph.layouts import on_host, ordered, parts, slices
from vgraph.runtime import policy
from vgraph.runtime.devices.cuda.executor import resident_on

PULL = {"direction": vg.PULL, "drive": vg.TOPOLOGY}
WIDTH = 8


def graph_of(seed: int, *, directed: bool = True, vertices: int = 60, arcs: int = 900) -> vg.Graph:
    """With a hub whose rows fill slices, loops, parallel arcs, and vertices that no arc enters."""
    rng = np.random.default_rng(seed)
    sources, targets = rng.integers(0, vertices, (2, arcs))
    targets[: arcs // 2] = 5
    targets[targets > vertices - 6] = 1
    weight = rng.integers(1, 20, arcs)
    more = {"weight": weight, "near": weight % 5 > 0, "length": weight * 0.5}
    return vg.Graph.from_edges(sources, targets, num_vertices=vertices, directed=directed, **more)


def sliced(label: str, graph: vg.Graph, width: int = WIDTH) -> vg.Schedule:
    return vg.Schedule().at(label, **PULL, segments=-(-graph.num_vertices // width))


@pytest.mark.parametrize("width", [1, 7, WIDTH, 60, 100])
def test_the_layout_holds_every_arc_once(width: int) -> None:
    for graph in (
        graph_of(1),
        graph_of(2, directed=False),
        vg.Graph.from_edges([], [], num_vertices=9, weight=[]),
    ):
        found, weight = on_host(graph, f"slices.{width}"), ordered(graph, "weight", f"slices.{width}")
        starts, chunks, offsets, masks, ranks, rows = (a.astype(np.int64) for a in found.arrays.values())
        segments = np.unique(graph.in_.column_indices // width)
        assert found.numbers == {"count": segments.size, "width": width}
        assert (starts == segments * width).all()
        arcs = []
        for s in range(found.numbers["count"]):
            assert chunks[s] % 4 == 0
            for c in range(chunks[s], chunks[s + 1]):
                t = ranks[c // 32] + (masks[c // 32] & ((1 << c % 32) - 1)).item().bit_count()
                assert 32 * t + 32 <= rows.size, "chunks behind the last slice have rows, too"
                for lane in range(32):
                    for k in range(4):
                        offset = offsets[(c * 32 + lane) * 4 + k]
                        if offset != width:
                            value = weight[(c * 4 + k) * 32 + lane]
                            arcs.append((starts[s] + offset, rows[32 * t + lane], value))
        sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets.astype(int)))
        stored = zip(sources, graph.out.column_indices, graph.edge_properties["weight"], strict=True)
        assert sorted(arcs) == sorted((int(u), int(v), w) for u, v, w in stored)


def test_slices_by_parts_hold_every_arc_once() -> None:
    """Sources of a part that are more than the width are in several segments; parts have any numbers."""
    for graph in (graph_of(1), vg.Graph.from_edges([], [], num_vertices=9, weight=[])):
        part = np.arange(graph.num_arcs) % 3 * 7 + graph.out.column_indices.astype(np.int64) % 2
        graph = graph.with_edge_property("part", part)
        key = "part_slices.part.8"
        found, weight = on_host(graph, key), ordered(graph, "weight", key)
        named = {name: a.astype(np.int64) for name, a in found.arrays.items()}
        chunks, starts, members, rows = (named[x] for x in ("chunks", "starts", "members", "rows"))
        assert np.diff(starts).max(initial=0) <= 8
        arcs = []
        for s in range(found.numbers["count"]):
            for c in range(chunks[s], chunks[s + 1]):
                mask = named["masks"][c // 32] & ((1 << c % 32) - 1)
                t = named["ranks"][c // 32] + mask.item().bit_count()
                for lane, k in np.ndindex(32, 4):
                    offset = named["offsets"][(c * 32 + lane) * 4 + k]
                    if offset != 8:
                        assert offset < starts[s + 1] - starts[s]
                        value = weight[(c * 4 + k) * 32 + lane]
                        arcs.append((members[starts[s] + offset], rows[32 * t + lane], value))
        sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
        stored = zip(sources, graph.out.column_indices, graph.edge_properties["weight"], strict=True)
        assert sorted(arcs) == sorted((int(u), int(v), w) for u, v, w in stored)


@pytest.mark.parametrize("given", ["part", 3])
def test_parts_as_on_the_cpu(given: Any, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "METHOD", "random")
    graph = graph_of(1)
    graph = graph.with_edge_property("part", np.arange(graph.num_arcs) % 4)
    for algorithm, label, arguments in (CASES["with edge values"], CASES["from a frontier"]):
        schedule = vg.Schedule().at(label, **PULL, rows=vg.SLICES, parts=given)
        want = vg.run(algorithm, graph, device="cpu", threads=1, **arguments)
        found = vg.run(algorithm, graph, schedule=schedule, device="cuda", **arguments)
        assert next(x.name for x in found.stats.layouts).startswith(f"part_slices.{given}.")
        for name in want.names:
            np.testing.assert_allclose(getattr(found, name), getattr(want, name), rtol=1e-5)


CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "a sum of floats": (vg.algorithms.pagerank, "gather", {"dtype": vg.float32, "max_rounds": 4}),
    "with edge values": (vg.algorithms.pagerank, "gather", {"weight": "weight", "max_rounds": 4}),
    "from a frontier": (vg.algorithms.sssp, "relax", {"source": 3}),
    "of ids": (vg.algorithms.label_components, "lower", {}),
}


QUICK = ("a sum of floats", "from a frontier")


@pytest.mark.parametrize(
    "case", [c if c in QUICK else pytest.param(c, marks=pytest.mark.slow) for c in CASES]
)
def test_results_as_on_the_cpu(case: str, gpu: Any) -> None:
    algorithm, label, arguments = CASES[case]
    for seed, (processors, directed, width) in enumerate([(1, True, 8), (2, False, 20), (3, True, 30)]):
        if algorithm is vg.algorithms.label_components and directed:
            continue  # its directed form is another operator
        graph = graph_of(seed, directed=directed)
        if isinstance(gpu, EmulatedDevice):
            gpu.multiprocessors, gpu.seed = processors, seed
        want = vg.run(algorithm, graph, device="cpu", threads=1, **arguments)
        found = vg.run(algorithm, graph, schedule=sliced(label, graph, width), device="cuda", **arguments)
        assert [x.name for x in found.stats.layouts] == [f"slices.{width}"]
        for name in want.names:
            np.testing.assert_allclose(getattr(found, name), getattr(want, name), rtol=1e-5)


def test_what_is_chosen_unasked(emulated: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a graph that is prepared, or has been run on often enough."""
    for name, value in (("LARGE", 1), ("SLICED", 1), ("SETTLED_RUNS", 2)):
        monkeypatch.setattr(policy, name, value)
    emulated.shared = 4 * WIDTH + slices.PADDING
    arguments = {"dtype": vg.float32, "max_rounds": 4, "device": "cuda"}
    graph = graph_of(1)
    chosen = [vg.run(vg.algorithms.pagerank, graph, **arguments) for _ in range(3)]
    assert [r.schedule.labels["gather"].segments for r in chosen] == [1, 1, 2]
    np.testing.assert_allclose(chosen[2].rank, chosen[0].rank, rtol=1e-5)

    crowded = graph_of(3)
    with monkeypatch.context() as room:
        room.setattr(policy, "BUILDING", emulated.limit)
        for _ in range(3):
            result = vg.run(vg.algorithms.pagerank, crowded, **arguments)
            assert result.schedule.labels["gather"].segments == 1

    other = graph_of(2)
    told = vg.explain(vg.algorithms.pagerank, other, device="cuda", dtype=vg.float32, passes=False)
    assert told.layouts == ""
    (made,) = vg.prepare(vg.algorithms.pagerank, other, device="cuda", dtype=vg.float32)
    assert made.name == f"slices.{WIDTH}"
    compiled = emulated.compiled
    found = vg.run(vg.algorithms.pagerank, other, **arguments)
    assert found.stats.layouts == (made,)
    assert emulated.compiled == compiled
    told = vg.explain(vg.algorithms.pagerank, other, device="cuda", dtype=vg.float32, passes=False)
    assert told.layouts.startswith(f"slices.{WIDTH}: ")
    assert "values of sources are read from the memory" in told.reasons


def test_layouts_that_nobody_asked_for_are_forgone_without_room(
    emulated: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LARGE", "SLICED"):
        monkeypatch.setattr(policy, name, 1)
    emulated.shared = 4 * WIDTH + slices.PADDING
    arguments = {"dtype": vg.float32, "device": "cuda"}
    graph, gather = graph_of(1), vg.algorithms.pagerank
    vg.prepare(gather, graph, **arguments)
    resident_on(emulated).drop()

    def no_room(*_: Any) -> Any:
        raise MemoryError("12 bytes")

    with monkeypatch.context() as full:
        full.setattr(layouts, "build", no_room)
        for _ in range(2):
            result = vg.run(gather, graph, **arguments, max_rounds=4)
            assert result.schedule.labels["gather"].segments == 1
            assert result.stats.layouts == ()
        with pytest.raises(vg.DeviceError, match=r"out of memory: what pagerank needs .*12 bytes"):
            vg.prepare(gather, graph, **arguments)
        with pytest.raises(vg.DeviceError, match="out of memory"):
            vg.run(gather, graph, schedule=sliced("gather", graph), **arguments, max_rounds=4)
    assert vg.prepare(gather, graph, **arguments), "who asks again is heard again"


def test_layouts_of_the_order_that_is_walked(
    emulated: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LARGE", 1), ("SLICED", 1), ("SETTLED_RUNS", 1)):
        monkeypatch.setattr(policy, name, value)
    emulated.shared = 4 * WIDTH + slices.PADDING
    arguments = {"dtype": vg.float32, "device": "cuda", "relabel": "degree"}
    assert vg.prepare(vg.algorithms.pagerank, graph_of(1), **arguments)
    other = graph_of(2)
    runs = [vg.run(vg.algorithms.pagerank, other, **arguments, max_rounds=4) for _ in range(2)]
    assert [bool(r.stats.layouts) for r in runs] == [False, True]


def test_rows_of_the_most_segments_are_sorted() -> None:
    """2**32 vertices, in segments of the 4096 whose 8 bytes fit into the least memory."""
    last = (1 << 32) // (slices.UNIT // 8) * (slices.ROW // slices.STEP) - 1
    assert slices._order(np, np.array([last, 0, 1 << 24, 1])).tolist() == [1, 3, 2, 0]


@vg.operator
def mix(src, edge, dst):
    """Reductions of several types, of one value that is computed from the source, where a condition holds."""
    seen = src.x * src.out_degree
    if edge.near:
        dst.most = max(dst.most, seen)
        dst.total += seen * edge.weight
        dst.bits |= seen


@vg.operator
def known(src, edge, dst):
    dst.reached |= src.start


@vg.operator
def approach(src, edge, dst):
    """What a source of infinity gives through an arc changes nothing, so no arc is asked whether it is there."""
    dst.close = min(dst.close, src.far + edge.length)


@vg.algorithm
def mixed(
    graph,
    x: vg.vertex_property(vg.int64),
    far: vg.vertex_property(vg.float64),
    start: vg.vertex_property(vg.bool_),
):
    most = graph.vertex_property(vg.int64)
    total = graph.vertex_property(vg.int64)
    bits = graph.vertex_property(vg.int64)
    reached = graph.vertex_property(vg.bool_)
    close = graph.vertex_property(vg.float64, fill=vg.inf)
    changed = graph.edge_apply(mix)
    graph.edge_apply(approach)
    graph.edge_apply(approach, reverse=True, label="back")
    graph.edge_apply(known)
    left = len(changed)
    return most, total, bits, reached, close, left


def test_reductions_of_what_is_computed_at_the_source(gpu: Any) -> None:
    """Also where shares begin anywhere in a segment, and segments in the middle of a word of masks."""
    for seed, width in enumerate((WIDTH, 75)):
        graph = graph_of(seed, vertices=300, arcs=4000)
        if isinstance(gpu, EmulatedDevice):
            gpu.seed = seed
        rng = np.random.default_rng(seed)
        given = {
            "x": rng.integers(-50, 50, graph.num_vertices),
            "far": rng.random(graph.num_vertices),
            "start": rng.random(graph.num_vertices) < 0.02,
        }
        schedule = vg.Schedule(
            {name: sliced(name, graph, width).labels[name] for name in ("mix", "known", "approach", "back")}
        )
        found = vg.run(mixed, graph, schedule=schedule, device="cuda", **given)
        want = vg.run(mixed, graph, device="python", **given)
        for name in want.names:
            np.testing.assert_array_equal(getattr(found, name), getattr(want, name))
