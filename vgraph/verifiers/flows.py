"""Flows: they keep within capacities, nothing is lost, and what cannot reach the sink any more is a cut as large."""

from __future__ import annotations

import numpy as np

from vgraph.errors import VerificationError
from vgraph.graph.order import Given
from vgraph.graph.weights import check_capacities
from vgraph.verifiers.common import *


def maximum(graph: Graph, result: Result, given: Arguments) -> None:
    """Flow and cut are what they say, so none can be larger, or smaller (Ford and Fulkerson 1956)."""
    s, t, properties = graph.edges()
    s, t = s.astype(np.int64), t.astype(np.int64)
    check_capacities(graph, given["capacity"], given["source"])
    capacity = np.ones(s.size, np.int64) if given["capacity"] is None else properties[given["capacity"]]
    exact = capacity.dtype.kind != "f"
    capacity = capacity.astype(np.int64 if exact else np.float64)
    flow = _by_number(graph, result.flow)
    rounding = 0 if exact else RELATIVE * capacity.sum()
    least = np.zeros_like(capacity) if graph.directed else -capacity
    none_of(
        ~((least - rounding <= flow) & (flow <= capacity + rounding)),
        lambda e: f"the flow from {s[e]} to {t[e]} is {flow[e]}, and may be up to {capacity[e]}",
        "edge",
    )
    kept = np.zeros(graph.num_vertices, capacity.dtype)
    np.add.at(kept, t, flow)
    np.add.at(kept, s, -flow)
    source, sink = given["source"], given["sink"]
    same_number(result.value, kept[sink].item(), "value", rounding)
    kept[sink], kept[source] = 0, kept[source] + kept[sink]
    none_of(~(abs(kept) <= rounding), lambda v: f"{kept[v]} of the flow is lost")
    must = _reaches(graph, (s, t), capacity - flow > rounding, flow - least > rounding, sink)
    none_of(must & result.min_cut, lambda v: "in the cut, and the sink can be reached")
    may = must if exact else _reaches(graph, (s, t), capacity > 0, capacity > 0, sink)
    none_of(~may & ~result.min_cut, lambda v: "not in the cut, and the sink cannot be reached")
    if not result.min_cut[source]:
        raise VerificationError(f"vertex {source}: the source is not in the cut")
    leaves, enters = result.min_cut[s] & ~result.min_cut[t], ~result.min_cut[s] & result.min_cut[t]
    size = capacity[leaves if graph.directed else leaves | enters].sum()
    same_number(result.value, size.item(), "value", rounding)


def _by_number(graph: Graph, values: Array) -> Array:
    """Flows from the first end of each edge of `Graph.edges` to the second, of those of the user's edges."""
    topology = graph.topology
    numbers = np.arange(graph.num_edges) if topology.edge_order is None else topology.edge_order
    if not graph.directed and isinstance(topology.order, Given):
        values = np.where(topology.order.sources > topology.order.targets, -values, values)
    flow = np.zeros(graph.num_edges, values.dtype)
    flow[numbers[numbers >= 0]] = values[numbers >= 0]
    wanted = np.where(numbers < 0, 0, flow[numbers] if flow.size else 0)
    none_of(values != wanted, lambda e: f"the flow is {values[e]}, and should be {wanted[e]}", "edge")
    return flow


def _reaches(graph: Graph, ends: tuple[Array, Array], onward: Array, back: Array, sink: int) -> Array:
    """Whether a vertex reaches the sink along the edges, or against them, where there is room."""
    from scipy.sparse.csgraph import breadth_first_order

    (s, t), found = ends, np.zeros(graph.num_vertices, bool)
    turned = np.r_[t[onward], s[back]], np.r_[s[onward], t[back]]
    found[breadth_first_order(matrix(graph, turned), sink, return_predecessors=False)] = True
    return found
