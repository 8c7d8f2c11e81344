"""Membership in neighbors, and sets that are made of those of several vertices, against Python's sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from schedule_matrix import Case, groups

import vgraph as vg
from vgraph.compiler import space

WAYS: tuple[dict[str, Any], ...] = ({"device": "python"}, {"threads": 1}, {"threads": 3}, {"checked": True})
M = 10**6 + 3


@vg.operator
def sizes(v):
    """How many there are, and what they are by their numbers."""
    v.both = len(v.out_neighbors & v.mate.in_neighbors)
    v.either = len(v.out_neighbors | v.mate.in_neighbors)
    v.only = len(v.out_neighbors - v.mate.in_neighbors)
    v.around = len(v.neighbors & v.neighbors)
    number = 0
    for w in (v.out_neighbors | v.mate.neighbors | v.in_neighbors) - v.mate.in_neighbors:
        if w == v:
            continue
        number = (number * 31 + w.id + 1) % M
        if number % 97 == 5:
            break
    for w in v.out_neighbors & v.mate.in_neighbors | v.in_neighbors - v.mate.out_neighbors:
        number = (number * 31 + w.id + 1) % M
    v.number = number


@vg.operator
def closing(src, edge, dst):
    """Where an arc goes back, and how often it closes a triangle."""
    dst.closed += len(src.in_neighbors & dst.out_neighbors)
    if dst in src.in_neighbors and src not in dst.out_neighbors - src.out_neighbors:
        dst.back += 1
    if vg.none in src.neighbors or 3 in dst.neighbors:
        dst.three = max(dst.three, src.id)


@vg.algorithm
def sets(graph, mates: vg.vertex_property(vg.int64)):
    """Everything that is made of neighbors."""
    mate = graph.vertex_property(vg.vertex)
    both = graph.vertex_property(vg.int64)
    either = graph.vertex_property(vg.int64)
    only = graph.vertex_property(vg.int64)
    around = graph.vertex_property(vg.int64)
    number = graph.vertex_property(vg.int64)
    closed = graph.vertex_property(vg.int64)
    back = graph.vertex_property(vg.int64)
    three = graph.vertex_property(vg.int64, fill=-1)
    graph.vertex_apply(pair)
    graph.vertex_apply(sizes)
    graph.edge_apply(closing)
    return both, either, only, around, number, closed, back, three


@vg.operator
def pair(v):
    """The other vertex of v, or vg.none."""
    v.mate = vg.vertex(v.mates)


def graph_of(n: int, directed: bool, id_bits: int | None = None) -> vg.Graph:
    """Loops, parallel arcs and a hub, whose list is long."""
    rng = np.random.default_rng(n)
    s, t = rng.integers(0, n, (2, 3 * n))
    hub = np.full(n, n // 2)
    ends = np.r_[s, s[: n // 2], hub, np.arange(n)], np.r_[t, t[: n // 2], rng.integers(0, n, n), hub]
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, id_bits=id_bits)


def mates_of(n: int) -> np.ndarray:
    """Another vertex for each, -1 for every fifth."""
    return np.where(np.arange(n) % 5 == 0, -1, np.arange(n) * 7 % n)


def expected(graph: vg.Graph, mates: np.ndarray) -> dict[str, list[int]]:
    n, directed = graph.num_vertices, graph.directed
    s, t, _ = graph.edges()
    arcs = [*zip(s.tolist(), t.tolist(), strict=True)]
    arcs += [] if directed else [(b, a) for a, b in arcs if a != b]
    out: list[set[int]] = [set() for _ in range(n)]
    into: list[set[int]] = [set() for _ in range(n)]
    for a, b in arcs:
        out[a].add(b)
        into[b].add(a)
    near = [a | b for a, b in zip(out, into, strict=True)]
    empty: set[int] = set()
    found: dict[str, list[int]] = {name: [] for name in ("both", "either", "only", "around", "number")}
    for v, mate in enumerate(mates.tolist()):
        mate_out, mate_in, mate_near = (x[mate] if mate >= 0 else empty for x in (out, into, near))
        found["both"].append(len(out[v] & mate_in))
        found["either"].append(len(out[v] | mate_in))
        found["only"].append(len(out[v] - mate_in))
        found["around"].append(len(near[v]))
        number = 0
        for w in sorted((out[v] | mate_near | into[v]) - mate_in):
            if w == v:
                continue
            number = (number * 31 + w + 1) % M
            if number % 97 == 5:
                break
        for w in sorted(out[v] & mate_in | into[v] - mate_out):
            number = (number * 31 + w + 1) % M
        found["number"].append(number)
    found |= {"closed": [0] * n, "back": [0] * n, "three": [-1] * n}
    for a, b in arcs:
        found["closed"][b] += len(into[a] & out[b])
        found["back"][b] += b in into[a] and a not in out[b] - out[a]
        if 3 in near[b]:
            found["three"][b] = max(found["three"][b], a)
    return found


def check(found: Any, wanted: dict[str, list[int]]) -> None:
    for name, values in wanted.items():
        assert getattr(found, name).tolist() == values, name


@pytest.mark.parametrize("directed", [False, True])
def test_every_way_of_running(directed: bool) -> None:
    for n, id_bits in ((1, None), (20, None), (40, 64)):
        graph, mates = graph_of(n, directed, id_bits), mates_of(n)
        wanted = expected(graph, mates)
        for way in WAYS[: 4 if n <= 20 else 3]:
            check(vg.run(sets, graph, mates=mates, **way), wanted)


@pytest.mark.parametrize("directed", [False, True])
def test_under_legal_schedules(directed: bool) -> None:
    graph, mates = graph_of(40, directed), mates_of(40)
    wanted = expected(graph, mates)
    for threads in (1, 2):
        (group,) = groups(sets, [Case("", graph, {"mates": mates}, None)], threads)
        for schedule in space.sample(group.program, group.context, 6, 5):
            check(vg.run(sets, graph, schedule=schedule, threads=threads, mates=mates), wanted)


@vg.operator
def ask(v, graph):
    """Whether v has the neighbor that is asked for."""
    v.has = graph.wanted in v.out_neighbors


@vg.algorithm
def asked(graph, wanted: vg.vertex):
    """Which vertices have an arc to the one that is asked for."""
    has = graph.vertex_property(vg.bool_)
    graph.wanted = wanted
    graph.vertex_apply(ask)
    graph.itself = wanted in wanted.out_neighbors
    return has, graph.itself


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_every_place_in_lists_of_every_length(device: str) -> None:
    """Vertex k has the k even numbers from 0 on as its neighbors."""
    n = 40
    s = np.repeat(np.arange(n), np.minimum(np.arange(n), n // 2))
    t = np.concatenate([2 * np.arange(min(k, n // 2)) for k in range(n)])
    graph = vg.Graph.from_edges(s, t, num_vertices=n)
    for wanted in range(n):
        found = vg.run(asked, graph, wanted=wanted, device=device)
        assert found.has.tolist() == [wanted % 2 == 0 and wanted // 2 < min(k, n // 2) for k in range(n)]
        assert bool(found.itself) == bool(found.has[wanted])


@vg.operator
def wander(v):
    """The set is that of the vertices as the loop begins, whatever it assigns."""
    at = v.out_neighbors[0]
    steps = 0
    for w in v.out_neighbors - at.out_neighbors:
        at = w
        v.last = w
        steps += 1
    for w in v.last.out_neighbors | v.out_neighbors:
        v.last = w
        steps += 1
    v.steps = steps


@vg.algorithm
def wandering(graph):
    """Steps and the last vertex."""
    last = graph.vertex_property(vg.vertex)
    steps = graph.vertex_property(vg.int64)
    graph.vertex_apply(wander)
    return last, steps


def test_a_loop_does_not_see_what_it_assigns() -> None:
    graph = graph_of(30, True)
    wanted = vg.run(wandering, graph, device="python")
    assert wanted.steps.max() > 3
    for threads in (1, 2):
        found = vg.run(wandering, graph, threads=threads)
        assert found.last.tolist() == wanted.last.tolist()
        assert found.steps.tolist() == wanted.steps.tolist()
