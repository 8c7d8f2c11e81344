"""Maximum flows and minimum cuts."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.nx_backend.common import A
from vgraph.nx_backend.convert import NxGraph, convert_from_nx


def _solved(G: Any, s: Any, t: Any, capacity: str) -> tuple[NxGraph, Any]:
    """The graph and a flow, in NetworkX's words where there is none; an edge without a capacity carries anything."""
    graph = convert_from_nx(G, edge_attrs={capacity: np.inf})
    if graph.is_multigraph():
        raise nx.NetworkXError("MultiGraph and MultiDiGraph not supported (yet).")
    for node in (s, t):
        if node not in graph:
            raise nx.NetworkXError(f"node {node} not in graph")
    if s == t:
        raise nx.NetworkXError("source and sink are the same node")
    known = graph.attribute(capacity)
    limit = np.full(graph.sources.size, np.inf) if known is None else known
    bounded = ~(np.isinf(limit) & (limit > 0))
    limit = np.where(bounded & (limit > 0), limit, 0)
    total, whole = limit.sum(), (limit % 1 == 0).all()
    if limit.dtype.kind == "f" and not bounded.all() and whole and total < 2**53:
        limit, total = limit.astype(np.int64), int(total)
    exact = limit.dtype.kind != "f"
    most = total if exact else 1.5 * total  # sums of floats are rounded, and in another order
    limit[~bounded] = 1 + (total if exact else 2 * total)
    made = vg.Graph.from_edges(
        graph.sources, graph.targets, num_vertices=len(graph), directed=graph.is_directed(), capacity=limit
    )
    found = vg.run(A.max_flow, made, source=graph.index[s], sink=graph.index[t])
    if not bounded.all() and found.value > most:
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
    if not exact and whole and found.value >= 2**53:
        raise NotImplementedError("the flow is an integer that a float64 does not hold")
    return graph, found


def maximum_flow(
    flowG: Any, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, Any]:
    """The value of a maximum flow, and what flows along each edge."""
    graph, found = _solved(flowG, _s, _t, capacity)
    flows: dict[Any, dict[Any, Any]] = {node: {} for node in graph.nodes}
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), found.flow.tolist(), strict=True)
    for u, v, flow in ends:
        if not graph.is_directed():
            flows[graph.nodes[v]][graph.nodes[u]] = max(-flow, 0)
        flows[graph.nodes[u]][graph.nodes[v]] = max(flow, 0)
    return found.value.item(), flows


def maximum_flow_value(
    flowG: Any, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """The value of a maximum flow."""
    return _solved(flowG, _s, _t, capacity)[1].value.item()


def minimum_cut(
    flowG: Any, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, Any]:
    """The capacity of a minimum cut, and the two sides of that which is next to the sink."""
    graph, found = _solved(flowG, _s, _t, capacity)
    sides: tuple[set[Any], set[Any]] = (set(), set())
    for node, before in zip(graph.nodes, found.min_cut.tolist(), strict=True):
        sides[not before].add(node)
    return found.value.item(), sides


def minimum_cut_value(
    flowG: Any, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """The capacity of a minimum cut."""
    return maximum_flow_value(flowG, _s, _t, capacity)
