"""`segments`, `prefetch` and `vectorize`: compiled code gives what CPython gives, on the same random operators."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from test_random_operators import load, random_graph, same

import vgraph as vg

QUICK, MANY = 5, 200
WAYS = (
    {"direction": vg.PULL, "drive": vg.TOPOLOGY, "segments": 2},
    {"direction": vg.PULL, "segments": 3},
    {"direction": vg.PULL, "drive": vg.TOPOLOGY, "segments": 50},
    {"direction": vg.PULL, "vectorize": True},
    {"direction": vg.PULL, "segments": 2, "vectorize": True, "prefetch": 3},
    {"vectorize": True},
    {"prefetch": 5},
    {"direction": vg.PULL, "prefetch": 1},
)


def legal_schedules(algorithm: vg.AlgorithmDef, graph: vg.Graph) -> list[vg.Schedule]:
    """For each way a schedule that goes it at every label where it is legal."""
    labels = vg.run(algorithm, graph, source=0, threads=2).schedule.labels
    found = []
    for way in WAYS:
        schedule = vg.Schedule()
        for label in labels:
            attempt = schedule.at(label, **way)
            try:
                vg.explain(algorithm, graph, source=0, schedule=attempt)
            except vg.ScheduleError:
                continue
            schedule = attempt
        if schedule.labels:
            found.append(schedule)
    return found


def check(seed: int, tmp_path: Path, graphs: int) -> None:
    algorithm = load(tmp_path, seed)
    given = [random_graph(1000 * seed + k, seed % 3 != 0) for k in range(graphs)]
    schedules = legal_schedules(algorithm, given[0])
    if not schedules:
        pytest.skip("none of these schedules is legal for this program")
    for graph in given:
        source = seed % graph.num_vertices
        expected = vg.run(algorithm, graph, device="python", source=source)
        for number, schedule in enumerate(schedules):
            threads = 1 + (seed + number) % 3
            found = vg.run(algorithm, graph, schedule=schedule, threads=threads, source=source)
            for name in expected.names:
                want = np.asarray(getattr(expected, name))
                same(np.asarray(getattr(found, name)), want, name, f"seed {seed}, {schedule}")


@pytest.mark.parametrize("seed", range(QUICK))
def test_random_operators(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path, 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, QUICK + MANY))
def test_many_random_operators(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path, 3)


# --- every length of a row, every type ------------------------------------------------------------------------


@vg.operator
def add(src, edge, dst):
    dst.total += src.x * edge.weight


@vg.operator
def lowest(src, edge, dst):
    dst.low = min(dst.low, src.x - edge.weight)


@vg.operator
def highest(src, edge, dst):
    dst.high = max(dst.high, src.x + dst.x)


@vg.operator
def first(src, edge, dst):
    dst.least = min(dst.least, vg.int64(src.id))


@vg.operator
def own(v):
    total = v.x
    for e in v.in_edges:
        total += max(e.src.x, e.weight)
    v.own_total = total


@vg.operator
def take(v):
    v.x = v.given


@vg.algorithm
def reductions(graph, dtype=vg.float32):
    x = graph.vertex_property(dtype)
    total = graph.vertex_property(dtype, fill=1)
    low = graph.vertex_property(dtype, fill=100)
    high = graph.vertex_property(dtype)
    own_total = graph.vertex_property(dtype)
    least = graph.vertex_property(vg.int64, fill=1000)
    graph.vertex_apply(take)
    graph.edge_apply(add)
    graph.edge_apply(lowest)
    graph.edge_apply(highest)
    graph.edge_apply(first)
    graph.vertex_apply(own)
    return total, low, high, own_total, least


def star_like(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Vertex v has v in-arcs, up to 70: no arcs, fewer than lanes, whole registers, and a rest."""
    degree = np.arange(71)
    return rng.integers(0, 71, degree.sum()), np.repeat(np.arange(71), degree)


@pytest.mark.parametrize(("dtype", "segments", "id_bits"), [
    *itertools.product(("float32", "float64", "int32", "uint32", "int64"), (1, 3), (None,)),
    ("float32", 2, 64), ("int32", 1, 64),
])  # fmt: skip
def test_lanes(dtype: str, segments: int, id_bits: int | None) -> None:
    rng = np.random.default_rng(3)
    sources, targets = star_like(rng)
    given = rng.integers(5, 90, 71).astype(dtype)
    weight = rng.integers(0, 5, sources.size).astype(dtype)
    graph = vg.Graph.from_edges(
        sources, targets, id_bits=id_bits, vertex_properties={"given": given}, weight=weight
    )
    want = vg.run(reductions, graph, dtype=getattr(vg, dtype), device="python")
    schedule = vg.Schedule().at("own", vectorize=True)
    for label in ("add", "lowest", "highest", "first"):
        schedule = schedule.at(label, segments=segments, vectorize=True)
    for threads in (1, 2):
        found = vg.run(reductions, graph, dtype=getattr(vg, dtype), schedule=schedule, threads=threads)
        for name in want.names:
            same(np.asarray(getattr(found, name)), np.asarray(getattr(want, name)), name, str(schedule))


def test_nan_goes_through_the_lanes() -> None:
    sources, targets = star_like(np.random.default_rng(4))
    given = np.ones(71)
    given[7] = np.nan
    weight = np.zeros(sources.size)
    graph = vg.Graph.from_edges(sources, targets, vertex_properties={"given": given}, weight=weight)
    schedule = vg.Schedule().at("lowest", vectorize=True).at("highest", vectorize=True)
    want = vg.run(reductions, graph, device="python")
    found = vg.run(reductions, graph, schedule=schedule, threads=1)
    np.testing.assert_array_equal(found.low, want.low)
    np.testing.assert_array_equal(found.high, want.high)
    assert np.isnan(want.low).any()
    assert not np.isnan(want.low).all()


@pytest.mark.parametrize(
    "options", [{"vectorize": True}, {"prefetch": 32}, {"segments": 4, "vectorize": True}]
)
def test_the_hints_reach_the_machine_code(options: dict[str, object]) -> None:
    sources, targets = star_like(np.random.default_rng(5))
    weight = np.ones(sources.size, np.float32)
    graph = vg.Graph.from_edges(sources, targets, vertex_properties={"given": weight[:71]}, weight=weight)
    schedule = vg.Schedule().at("add", **options)
    text = str(vg.explain(reductions, graph, schedule=schedule, llvm=True))
    assert ("llvm.masked.gather.v16f32" in text) == ("vectorize" in options)
    assert ("llvm.prefetch" in text) == ("prefetch" in options)
