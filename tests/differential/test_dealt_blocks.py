"""Operators that write both ends on a set of devices: blocks of the matrix, dealt to members; bits of one device."""

from __future__ import annotations

from typing import Any

import exclusive_programs
import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.backends.first_fit import first_fit
from vgraph.graph.conflicts import plan, turns_of
from vgraph.refusals.sets import NotOnASet


@vg.operator
def mix(src, edge, dst, graph):
    """In no other order it gives the same."""
    now = max(src.clock, dst.clock) + 1
    old = dst.x
    src.x = 3 * src.x + old + edge.weight
    dst.x = 5 * old - src.x
    src.clock = now
    dst.clock = now
    src.f += dst.f * 0.125
    dst.half += src.half / 3
    graph.count += now


@vg.algorithm
def mixed(graph, rounds: vg.int64 = 2):
    x = graph.vertex_property(vg.int64, fill=1)
    clock = graph.vertex_property(vg.int64)
    f = graph.vertex_property(vg.vector(vg.float32, 3), fill=1)
    half = graph.vertex_property(vg.vector(vg.float16, 3), fill=0.1)
    graph.count = 0
    for _ in range(rounds):
        graph.edge_apply(mix)
    return x, clock, f, half, graph.count


@vg.operator
def some(src, edge, dst):
    """It leaves vertices alone, too."""
    if (src.x + edge.weight) % 3 != 0:
        src.x += dst.x
        if dst.x % 2 == 0:
            dst.x = max(dst.x // 2, src.x) + 1


@vg.algorithm
def spread(graph, seeds):
    """From frontier to frontier, along the arcs and against them."""
    x = graph.vertex_property(vg.int64, fill=2)
    active = graph.frontier(seeds)
    sizes = 0
    for _ in range(2):
        active = graph.edge_apply(some, active)
        sizes = sizes * 7 + len(active)
        active = graph.edge_apply(some, active, reverse=True, label="back")
    return x, active, sizes


SEEDS = np.array([7, 3, 11])


def ratings() -> vg.Graph:
    """Sources and targets are different vertices; enough arcs for smaller blocks in a block."""
    rng = np.random.default_rng(2)
    s, t = (40 * rng.random((2, 1100)) ** 2).astype(int)
    return vg.Graph.from_edges(s, t + 40, num_vertices=90, multi_edges=True, weight=rng.integers(0, 9, 1100))


def graphs() -> dict[str, vg.Graph]:
    made = {str(d): exclusive_programs.graph_of(d) for d in (True, False)}
    return {**made, "ratings": ratings(), "reordered": vg.reorder(ratings(), by="random")}


def same(graph: vg.Graph, parts: int, devices: list[Any]) -> vg.Result:
    """On a set all is as the reference has it in the same order."""
    conflict = vg.dealt_blocks(parts)
    schedule = vg.Schedule().at("mix", conflict=conflict)
    once = vg.run(mixed, graph, device="python", schedule=schedule)
    found = vg.run(mixed, graph, device=devices, schedule=schedule)
    schedule = vg.Schedule().at("some", conflict=conflict).at("back", conflict=conflict)
    given = {"seeds": SEEDS, "schedule": schedule}
    again = vg.run(spread, graph, device="python", **given)
    for wanted, run in ((once, found), (again, vg.run(spread, graph, device=devices, **given))):
        for name in wanted.names:
            np.testing.assert_array_equal(getattr(run, name), getattr(wanted, name), name)
        assert [done.edges for done in run.trace] == [done.edges for done in wanted.trace]
    return found


@pytest.mark.parametrize(
    ("name", "parts", "members"),
    [("True", 2, 3), ("False", 6, 2), ("reordered", 2, 2)],
)
def test_the_same_bits_on_groups_of_threads(name, parts, members):
    same(graphs()[name], parts, [vg.cpu(threads=2)] * members)


def test_unasked_and_what_is_handed_over():
    """Each column comes to each member once, and behind the last turn all have everything."""
    graph = ratings()
    found = vg.run(mixed, graph, device=[vg.cpu(threads=1)] * 2, rounds=1)
    assert found.schedule.labels["mix"].conflict == vg.dealt_blocks()
    rows, columns = (np.unique(e).size for e in graph.edges()[:2])
    first, second = turns_of(graph, 8, 2, first_fit)
    moved = int(first.came[:-1, -1].sum() + second.came[:-1, -1].sum())
    assert columns < moved <= 2 * columns
    assert int(first.came[-1, -1] + second.came[-1, -1]) == rows + columns
    size = 8 + 8 + 12 + 6  # x, clock, f, half
    got = sum(m.received_bytes for m in found.stats.members)
    assert got == size * (moved + rows + columns) + 2 * 8  # and a part of the count from each
    assert "turns" in str(vg.explain(mixed, graph, device=[vg.cpu(threads=1)] * 2))


@vg.operator
def number(v):
    v.x = v.id


@vg.operator
def clear(src, edge, dst):
    """It reads nothing of what was there."""
    src.x = -1
    dst.seen = True


@vg.algorithm
def cleared(graph, seeds):
    x = graph.vertex_property(vg.int64, fill=7)
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(number)
    graph.edge_apply(clear, graph.frontier(seeds))
    return x, seen


def test_what_is_only_written_stays_where_nothing_is_active():
    schedule = vg.Schedule().at("clear", conflict=vg.dealt_blocks(2))
    given = {"seeds": SEEDS, "schedule": schedule}
    wanted = vg.run(cleared, ratings(), device="python", **given)
    found = vg.run(cleared, ratings(), device=[vg.cpu(threads=1)] * 2, **given)
    np.testing.assert_array_equal(found.x, wanted.x)
    np.testing.assert_array_equal(found.seen, wanted.seen)


@pytest.mark.parametrize("parts", [2, 6])
@pytest.mark.parametrize("name", ["True", "ratings"])
def test_members_never_meet(name, parts):
    """Blocks of a turn share no vertex, whoever has one has what the last one left, and at the end all have all."""
    graph, members = graphs()[name], 3
    found = plan(graph, f"dealt_blocks.{parts}", first_fit)
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets))
    cells = np.arange(found.order.size + 1) if found.cells is None else found.cells
    turns = turns_of(graph, parts, members, first_fit)
    version = np.zeros(graph.num_vertices, int)
    known = np.zeros((members, graph.num_vertices), int)
    for t in range(parts):
        used: set[int] = set()
        for m, own in enumerate(turns):
            begin, end = cells[found.phases[own.spans[6 * t : 6 * t + 2]]]
            arcs = found.order[begin:end]
            ends = np.unique(np.r_[sources[arcs], graph.out.column_indices[arcs]])
            assert used.isdisjoint(ends.tolist())
            used |= set(ends.tolist())
            np.testing.assert_array_equal(known[m, ends], version[ends])
            version[ends] += 1
            known[m, ends] = version[ends]
        before = known.copy()
        for m, own in enumerate(turns):
            for k, other in enumerate(turns):
                at = own.spans[6 * t + 4] + own.came[t, k : k + 2].astype(int)
                its = other.spans[6 * t + 2] + other.sent[t, m : m + 2].astype(int)
                vertices = own.got[slice(*at)]
                np.testing.assert_array_equal(vertices, other.gone[slice(*its)])
                known[m, vertices] = before[k, vertices]
    assert (known == version).all()


def test_what_a_set_cannot_do():
    pair = [vg.cpu(threads=1)] * 2
    with pytest.raises(NotOnASet, match="values of edges"):
        vg.run(exclusive_programs.mixed, ratings(), device=pair)
    schedule = vg.Schedule().at("some", conflict=vg.dealt_blocks(4)).at("back", conflict=vg.dealt_blocks(8))
    with pytest.raises(NotOnASet, match="dealt in two ways"):
        vg.run(spread, ratings(), seeds=SEEDS, device=pair, schedule=schedule)
    with pytest.raises(vg.ScheduleError, match="even, from 2 to 256"):
        vg.dealt_blocks(3)
