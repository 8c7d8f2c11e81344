"""`segments`, `prefetch` and `vectorize`: compiled code gives what CPython gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from schedule_matrix import same

import vgraph as vg

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


LANES, SLICES = {"vectorize": True}, {"rows": vg.SLICES}


@pytest.mark.parametrize(("hint", "dtype", "segments", "id_bits"), [
    *itertools.product((LANES,), ("float64", "int32", "uint32"), (1,), (None,)), (LANES, "float32", 3, None),
    (LANES, "int64", 3, None), (LANES, "float32", 2, 64), (LANES, "int32", 1, 64),
    *(pytest.param(LANES, t, n, None, marks=pytest.mark.slow) for t, n in (
        ("float32", 1), ("float64", 3), ("int32", 3), ("uint32", 3), ("int64", 1))),
    (SLICES, "float64", 3, None), pytest.param(SLICES, "uint32", 3, None, marks=pytest.mark.slow),
    (SLICES, "float32", 3, 64),
])  # fmt: skip
def test_lanes(hint: dict[str, object], dtype: str, segments: int, id_bits: int | None) -> None:
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
        schedule = schedule.at(label, segments=segments, **hint)
    threads = 1 if segments > 1 else 2  # two programs, each of them compiled
    found = vg.run(reductions, graph, dtype=getattr(vg, dtype), schedule=schedule, threads=threads)
    for name in want.names:
        same(getattr(found, name), getattr(want, name), f"{name}: {schedule}")


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
