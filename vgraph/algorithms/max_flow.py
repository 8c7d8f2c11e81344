"""Maximum flow and minimum cut: push and relabel in rounds, with exact heights now and then (Goldberg, Tarjan 1988)."""

from __future__ import annotations

from typing import Any

import vgraph as vg
from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.opposites import with_opposite_arcs
from vgraph.graph.weights import check_capacities

PULSE = 500
"""Arcs in the time of which a pulse begins and ends, and so does a level of a search."""


@vg.operator
def empty(src, edge, dst):
    """Nothing flows."""
    edge.room = edge.limit


@vg.operator
def saturate(v):
    """As much as there is room for leaves the source."""
    for e in v.out_edges:
        e.flow = e.room
        e.room = 0


@vg.operator
def push(v, graph):
    """v sends what it has too much down along arcs with room, as the flow of this round; whether there were any."""
    before = v.excess
    for e in v.out_edges:
        sent = min(v.excess, e.room) if v.height == e.dst.height + 1 else 0
        e.flow = sent
        e.room -= sent
        v.excess -= sent
    graph.work += v.out_degree
    return v.excess < before


@vg.operator
def deliver(src, edge, dst, graph):
    """What arrives might be sent back, but for what is on its way back."""
    if edge.flow > 0:
        dst.excess += edge.flow
        if graph.onward:
            edge.reverse.room += edge.flow


@vg.operator
def turn(src, edge, dst):
    """From now on there is room for as much as flows the other way."""
    edge.room = max(edge.room - edge.limit, 0)


@vg.operator
def lift(v, graph):
    """v rises above the lowest neighbor to which it has room; whether it goes on."""
    v.fresh = v.height
    goes_on = v.excess > 0 and 0 < v.height < graph.top
    if goes_on:
        lowest = graph.top
        for e in v.out_edges:
            if e.room > 0:
                lowest = min(lowest, e.dst.height)
        v.fresh = max(v.height, lowest + 1)
    return goes_on and v.fresh < graph.top


@vg.operator
def settle(v):
    """Heights of a round become visible together, which spares a copy of all."""
    v.height = v.fresh


@vg.operator
def reach(src, edge, dst, graph):
    """Where there is room towards what is known already, the height is the number of arcs."""
    if dst.height == graph.top and edge.room > 0:
        dst.height = graph.depth


@vg.operator
def count(src, edge, dst):
    """The flow of an arc is what could go back; of two opposite ones, one has none."""
    edge.flow = edge.reverse.room


@vg.operator
def either(src, edge, dst):
    """That of one that is given once for both ways is below 0 where it goes against it."""
    edge.flow -= edge.room


@vg.algorithm
def max_flow(graph, source: vg.vertex, sink: vg.vertex, capacity="capacity"):
    """The most that can flow from `source` to `sink`, where no edge carries more than its capacity.

    `capacity`: the name of an edge property of finite numbers that are not negative, or None for 1 everywhere. Edges of
    an undirected graph carry it either way. Results, in int64 for integers and else in float64: `value`; `flow`, of
    each edge in the order in which the graph was given them (an undirected one's is below 0 where it goes from its
    target to its source; without `Graph.from_edges`, from the larger end to the smaller); `min_cut`, true at each
    vertex from which the sink cannot be reached any more: edges from there to the others are full, and `value` is what
    they carry together. With integers all is exact and the same in every run; floats are rounded. Raises ParameterError
    for capacities that are missing, negative or not finite, integers from 2**62 on, or such that leave the source and
    add up to 2**63, and if the source is the sink. O(vertices**2 * arcs) at worst, far less as a rule.
    """
    room, flow = graph.edge_property(graph.limit.dtype)
    excess = graph.vertex_property(graph.limit.dtype)
    height, fresh = graph.vertex_property(vg.int64)
    graph.top = graph.num_vertices
    graph.depth = graph.work = 0
    graph.onward = True
    first = graph.frontier(source)
    graph.edge_apply(empty)
    graph.vertex_apply(saturate, first)
    graph.edge_apply(deliver, first, label="deliver_first")
    root = sink
    other = source
    for phase in range(2):  # first all goes to the sink that can; then what is left goes back to the source
        searching = True
        while searching:
            height[:] = graph.top
            height[root] = 0
            height[other] = graph.top + 1
            graph.depth = 0
            near = graph.frontier(root)
            while near:
                graph.depth += 1
                near = graph.edge_apply(reach, near, reverse=True)
            full = graph.frontier(v for v in graph.vertices if v.excess > 0 and 0 < v.height < graph.top)
            searching = len(full) > 0
            most = graph.num_edges + PULSE * graph.depth  # as long as it takes to look for exact heights
            graph.work = 0
            while full and graph.work < most:
                sent = graph.vertex_filter(push, full)
                full |= graph.edge_apply(deliver, sent)
                following = graph.vertex_filter(lift, full)
                graph.vertex_apply(settle, full)
                full = following
                graph.work += PULSE
            if phase == 1:
                searching = len(full) > 0  # all flow can go back whence it came, so none was given up
        if phase == 0:
            value = excess[sink]
            min_cut = graph.where(height >= graph.top, True, False)
            graph.edge_apply(turn)
            graph.onward = False
        root = source
        other = sink
    graph.edge_apply(count)
    if capacity == "either way":
        graph.edge_apply(either)
    return value, flow, min_cut


@max_flow.requires
def network(graph: Graph, source: Any, sink: Any, capacity: Any) -> None:
    """Raise ParameterError for capacities that are missing, negative, not finite or too large, and for equal ends."""
    if source == sink:
        raise ParameterError(
            f"source={shown(source)} is the sink, too: a flow leads from one vertex to another"
        )
    if not isinstance(capacity, str | None):
        raise ParameterError(f"capacity={shown(capacity)}: the name of an edge property, or None")
    check_capacities(graph, capacity, source)


@max_flow.prepares
def with_opposites(graph: Graph, capacity: Any) -> vg.Prepared:
    """The arcs with their capacities as `limit`, and one of 0 for each that has none the other way.

    Results of edges come in the user's order. Of `capacity` is left whether edges are of either way.
    """
    return vg.Prepared(
        with_opposite_arcs(graph, capacity),
        arguments={"capacity": "one way" if graph.directed else "either way"},
    )
