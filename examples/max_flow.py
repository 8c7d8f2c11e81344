"""A maximum flow by push and relabel (Goldberg and Tarjan 1988), in rounds: the flow is a property of arcs."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def saturate(v):
    """Everything that fits leaves the source."""
    for e in v.out_edges:
        e.flow = e.capacity
        e.dst.gain += e.capacity


@vg.operator
def push(v):
    """Send what is too much down, along arcs with room. The arcs that leave v are v's own in this round."""
    for e in v.out_edges:
        if v.height == e.dst.height + 1:
            sent = min(v.excess, e.capacity - e.flow)
            e.flow += sent
            v.excess -= sent
            e.dst.gain += sent


@vg.operator
def send_back(v):
    """Send the rest back where it came from. Here the arcs that enter v are its own."""
    for e in v.in_edges:
        if v.height == e.src.height + 1:
            sent = min(v.excess, e.flow)
            e.flow -= sent
            v.excess -= sent
            e.src.gain += sent


@vg.operator
def receive(v, graph):
    """Take what the neighbors sent; whether that is more than there should be."""
    v.excess += v.gain
    v.gain = 0
    return v.excess > 0 and v.id != graph.source and v.id != graph.target


@vg.operator
def lift(v):
    """What cannot get rid of anything rises above the lowest neighbor to which there is room."""
    lowest = vg.inf
    for e in v.out_edges:
        lowest = min(lowest, e.dst.height if e.flow < e.capacity else vg.inf)
    for e in v.in_edges:
        lowest = min(lowest, e.src.height if e.flow > 0 else vg.inf)
    v.height = max(v.height, lowest + 1)


@vg.algorithm
def max_flow(graph, source: vg.vertex, target: vg.vertex):
    """The largest flow from source to target within each arc's `capacity`: what stays at each vertex, what flows."""
    flow = graph.edge_property(vg.int64)
    excess = graph.vertex_property(vg.int64)
    gain = graph.vertex_property(vg.int64)
    height = graph.vertex_property(vg.int64)
    graph.source = source
    graph.target = target
    height[source] = graph.num_vertices
    graph.vertex_apply(saturate, graph.frontier(source))
    full = graph.vertex_filter(receive)
    while full:
        graph.vertex_apply(push, full)
        graph.vertex_apply(send_back, full)
        full = graph.vertex_filter(receive)
        graph.vertex_apply(lift, full)
    return excess, flow


def main() -> None:
    """A small network."""
    sources, targets = [0, 0, 1, 1, 2, 3], [1, 2, 2, 3, 3, 0]
    graph = vg.Graph.from_edges(sources, targets, capacity=[3, 2, 1, 2, 4, 9])
    result = vg.run(max_flow, graph, source=0, target=3)
    print(f"{result.excess[3]} units flow from 0 to 3")
    for u, v, flow in zip(sources, targets, result.flow, strict=True):
        print(f"{u} -> {v}: {flow}")


if __name__ == "__main__":
    main()
