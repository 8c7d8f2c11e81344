"""What the frontend finds out about a program is kept for the next schedule and device."""

from __future__ import annotations

import pytest

import vgraph as vg
from vgraph.runtime import typed

FACTOR = 2


@vg.operator
def scale(v):
    v.x = v.out_degree * FACTOR


@vg.algorithm
def scaled(graph, more=0, dtype=vg.int64):
    x = graph.vertex_property(dtype)
    graph.vertex_apply(scale)
    graph.total = more
    return x, graph.total


def test_a_program_is_typed_again_when_it_says_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, really, made = vg.Graph.from_edges([0, 1], [1, 2]), typed.typed_program, []
    monkeypatch.setattr(typed, "typed_program", lambda *a: made.append(a) or really(*a))
    monkeypatch.setattr(typed, "_kept", typed._kept.copy())
    typed._kept.clear()

    def x(**more: object) -> list[int]:
        return vg.run(scaled, graph, device="python", **more).x.tolist()

    assert x() == x(more=7) == [2, 2, 0]
    assert len(made) == 1
    monkeypatch.setitem(globals(), "FACTOR", 5)  # a number that it captures
    assert x() == [5, 5, 0]
    assert len(made) == 2
    assert x(dtype=vg.int32) == [5, 5, 0]
    assert len(made) == 3
    assert vg.run(scaled, graph, threads=1).x.tolist() == [5, 5, 0]
    assert len(made) == 3  # it was typed for another device


def test_the_programs_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed, "_TYPED", 1)
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    for dtype in (vg.int64, vg.int32, vg.int64):
        assert vg.run(scaled, graph, device="python", dtype=dtype).x.tolist() == [2, 2, 0]
        assert len(typed._kept) == 1
