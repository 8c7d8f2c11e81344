"""Assignments with several targets: properties declared together, one value for several places."""

from __future__ import annotations

import pytest

import vgraph as vg


@vg.operator
def settle(v, graph):
    first = second = v.id
    v.low = v.high = first
    v.seen = v.done = True
    second += 1
    v.next = second
    graph.sum += v.id


@vg.operator
def spread(src, edge, dst):
    dst.low, dst.high = min((dst.low, dst.high), (src.low, src.high))


@vg.algorithm
def together(graph, start: vg.vertex):
    low, high = graph.vertex_property(vg.int64)
    (far, near) = graph.vertex_property(vg.float64, fill=-vg.inf)
    seen, done, late = graph.vertex_property(vg.bool_)
    next = graph.vertex_property(vg.int64)
    mark, other = graph.edge_property(vg.int32, fill=3)
    left, right = graph.disjoint_sets()
    graph.sum = graph.other = graph.third = 0
    begin = here = start
    graph.vertex_apply(settle)
    graph.edge_apply(spread)
    near = far = -1
    far[here] = graph.sum
    return low, high, far, near, seen, done, late, next, mark, other, left, right, begin, graph.third


def test_each_name_is_a_property_of_its_own_and_each_place_has_the_value() -> None:
    graph = vg.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3])
    runs = [vg.run(together, graph, start=2, device=device) for device in ("python", "cpu")]
    for result in runs:
        assert result.low.tolist() == result.high.tolist() == [0, 0, 1, 0]
        assert result.far.tolist() == [-1, -1, 6, -1]
        assert result.near.tolist() == [-1] * 4
        assert result.seen.all()
        assert result.done.all()
        assert not result.late.any()
        assert result.next.tolist() == [1, 2, 3, 4]
        assert result.mark.tolist() == result.other.tolist() == [3] * 4
        assert result.left.tolist() == result.right.tolist() == [0, 1, 2, 3]
        assert result.begin == 2


@vg.operator
def reads_what_it_writes(v):
    v.a = v.b = v.a


@vg.operator
def reads_behind_what_it_writes(v):
    v.a = v.b = v.a.b


@vg.operator
def calls(v):
    v.a = v.b = abs(v.id)


@pytest.mark.parametrize("op", [reads_what_it_writes, reads_behind_what_it_writes, calls])
def test_values_that_an_assignment_may_change_are_refused(op: vg.OperatorDef) -> None:
    @vg.algorithm
    def main(graph):
        a, b = graph.vertex_property(vg.int64)
        graph.vertex_apply(op)
        return a, b

    with pytest.raises(vg.errors.VGraphError, match="stays as it is"):
        vg.run(main, vg.Graph.from_edges([0], [1]))
