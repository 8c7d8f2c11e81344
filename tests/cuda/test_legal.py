"""What may be asked for on a GPU: `explain` says the same as the refusals."""

from __future__ import annotations

import pytest

import vgraph as vg

A = vg.algorithms
GRAPH = vg.Graph.from_edges([0, 1], [1, 2], weight=[1, 2])
ON_GPUS = {"warp", "block", "twc"}


def values(explained, label, axis):
    """The legal values of an axis, and those that are refused with `device="cuda"` as the reason."""
    legal, refused = set(), set()
    for verdict in explained.legal[label][axis]:
        value = getattr(verdict.value, "kind", verdict.value)
        if verdict.legal:
            legal.add(value)
        elif 'device="cuda"' in verdict.reason:
            refused.add(value)
    return legal, refused


def test_every_balance_is_legal():
    explained = vg.explain(A.bellman_ford, GRAPH, device="cuda", source=0)
    assert values(explained, "relax", "balance") == ({"vertex", "edge", "split"} | ON_GPUS, set())
    on_cpu = vg.explain(A.bellman_ford, GRAPH, device="cpu", source=0)
    assert values(on_cpu, "relax", "balance")[0] == {"vertex", "edge", "split"}


@pytest.mark.parametrize(
    ("axis", "legal", "refused"),
    [
        ("order", {"unordered", "delta"}, {"strict"}),
        ("pipeline", {0}, {2}),
        ("prefetch", {0}, {8}),
        ("vectorize", {False}, {True}),
    ],
)
def test_what_a_gpu_cannot_do(axis, legal, refused):
    plain = vg.Schedule().at("relax", order=vg.UNORDERED)
    explained = vg.explain(A.sssp, GRAPH, plain, device="cuda", source=0)
    assert values(explained, "relax", axis) == (legal, refused)


@pytest.mark.parametrize(
    "options",
    [
        {"order": vg.STRICT},
        {"phases": vg.APPLY_SCATTER, "pipeline": 2},
        {"prefetch": 8},
        {"vectorize": True},
    ],
    ids=lambda options: list(options)[-1],
)
def test_a_run_is_refused(emulated, options):
    schedule = vg.Schedule().at("relax", **options)
    with pytest.raises(vg.ScheduleError, match='device="cuda"'):
        vg.run(A.sssp, GRAPH, schedule=schedule, device="cuda", source=0)
    assert emulated.launches == 0


def test_a_long_row_is_shared_in_small_graphs_too():
    leaves = range(1, 1500)
    star = vg.Graph.from_edges([0] * len(leaves), leaves)
    for device in ("cuda", "cpu"):
        explained = vg.explain(A.pagerank, star, device=device, passes=False)
        assert ("balance=split" in explained.schedule) == (device == "cuda")
