"""Between NetworkX graphs and vgraph's: node labels of any kind, edge attributes as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain, compress
from typing import Any

import numpy as np

import vgraph as vg
from vgraph.records import dataclass


@dataclass(frozen=True)
class Whole:
    """What a graph carries besides its structure: the very dicts of the NetworkX graph, in its order."""

    kind: Any
    graph: dict[Any, Any]
    nodes: list[dict[Any, Any]]
    edges: list[dict[Any, Any]]


class NxGraph:
    """A converted graph: `graph`, whose vertices are numbered in the order of `nodes`.

    `attributes` are the edge attributes that were carried over, one number per edge in NetworkX's order of `G.edges`;
    `of_nodes` those of nodes. `keys` are those of a multigraph's edges; `whole` is what else the graph carries, where
    all of it was asked for.
    """

    __networkx_backend__ = "vgraph"

    def __init__(
        self,
        nodes: list[Any],
        sources: np.ndarray[Any, Any],
        targets: np.ndarray[Any, Any],
        attributes: Mapping[str, np.ndarray[Any, Any]],
        *,
        directed: bool,
        multigraph: bool,
        keys: list[Any] | None = None,
        whole: Whole | None = None,
        of_nodes: Mapping[str, np.ndarray[Any, Any]] | None = None,
    ) -> None:
        self.nodes, self.sources, self.targets = nodes, sources, targets
        self.attributes, self.of_nodes = dict(attributes), dict(of_nodes or {})
        self._directed, self._multigraph = directed, multigraph
        self.keys, self.whole = keys or [], whole
        self._weighted: dict[Any, vg.Graph] = {}

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether edges may be parallel."""
        return self._multigraph

    def __len__(self) -> int:
        return len(self.nodes)

    def number_of_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    def number_of_edges(self) -> int:
        """How many edges there are."""
        return int(self.sources.size)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def __iter__(self) -> Any:
        return iter(self.nodes)

    @cached_property
    def index(self) -> dict[Any, int]:
        """The vertex of each node."""
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def graph(self) -> vg.Graph:
        """The graph without attributes, parallel edges kept."""
        return self._build()

    @cached_property
    def reverse(self) -> vg.Graph:
        """The graph without attributes, every edge turned round."""
        if not self._directed:
            return self.graph
        return vg.Graph.from_edges(self.targets, self.sources, num_vertices=len(self.nodes), directed=True)

    @cached_property
    def undirected(self) -> vg.Graph:
        """The graph without attributes and direction, parallel edges kept."""
        return self._build(directed=False) if self._directed else self.graph

    @cached_property
    def simple(self) -> vg.Graph:
        """The graph without direction, self-loops and parallel edges."""
        return self._build(directed=False, self_loops=False, multi_edges=False)

    def part(self, nodes: Iterable[int], edges: Iterable[int]) -> Any:
        """A NetworkX graph of the same class with some of the nodes and edges, and all that they carry.

        Both are given by number, in ascending order or another. The graph was converted with all that it carries.
        """
        whole = self.whole
        assert whole is not None
        made = whole.kind()
        made.graph.update(whole.graph)
        made.add_nodes_from((self.nodes[v], whole.nodes[v]) for v in nodes)
        made.add_edges_from((*self.edge(i), whole.edges[i]) for i in edges)
        return made

    def edge(self, number: int, *, key: bool = True) -> tuple[Any, ...]:
        """An edge as NetworkX names it: its ends, and in a multigraph, if wished, its key."""
        ends = self.nodes[self.sources[number]], self.nodes[self.targets[number]]
        return (*ends, self.keys[number]) if key and self._multigraph else ends

    def weighted(self, attribute: str | None) -> vg.Graph:
        """The graph with edge property `weight`: the attribute, 1 where there is none; the least of parallel edges."""
        if attribute not in self._weighted:
            values = self.attribute(attribute)
            if values is None:
                values = np.ones(self.sources.size, np.int32)
            options: dict[str, Any] = {"multi_edges": "min"} if self._multigraph else {}
            self._weighted[attribute] = self._build(weight=values, **options)
        return self._weighted[attribute]

    def attribute(self, name: str | None) -> np.ndarray[Any, Any] | None:
        """An edge attribute, 1 where an edge has it not; None where no edge has it."""
        if name is not None and name not in self.attributes and self.whole is not None:
            values = _numbers(self.whole.edges, name, 1)
            if values is not None:
                self.attributes[name] = values
        return self.attributes.get(name) if name is not None else None

    def summed(self, attribute: str | None) -> vg.Graph:
        """The graph with edge property `weight`, float64, and parallel edges kept: they count each."""
        key = ("summed", attribute)
        if key not in self._weighted:
            values = self.attribute(attribute)
            ones = np.ones(self.sources.size) if values is None else values.astype(np.float64)
            self._weighted[key] = self._build(weight=ones)
        return self._weighted[key]

    def _build(self, *, directed: bool | None = None, **options: Any) -> vg.Graph:
        side = self._directed if directed is None else directed
        return vg.Graph.from_edges(
            self.sources, self.targets, num_vertices=len(self.nodes), directed=side, **options
        )


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: Any = False,
    preserve_node_attrs: Any = False,
    **_: Any,
) -> NxGraph:
    """A NetworkX graph with the attributes that are asked for. Raises NotImplementedError where one is no number."""
    if isinstance(graph, NxGraph):
        return graph
    if overrides := overridden(graph):
        raise NotImplementedError(overrides)
    nodes = list(graph)
    index = {node: number for number, node in enumerate(nodes)}
    wanted = dict(edge_attrs or {})
    everything = preserve_edge_attrs is True
    multigraph = graph.is_multigraph()
    read = _edges if multigraph else _rows
    sources, targets, data, keys = read(graph, index, everything or bool(wanted))
    attributes = {name: _numbers(data, name, default) for name, default in wanted.items()}
    kept = {name: values for name, values in attributes.items() if values is not None}
    carried = [carried for _, carried in graph.nodes(data=True)] if preserve_node_attrs is True else []
    found = NxGraph(
        nodes,
        sources,
        targets,
        kept,
        directed=graph.is_directed(),
        multigraph=multigraph,
        keys=keys,
        whole=Whole(graph.__class__, graph.graph, carried, data) if everything else None,
        of_nodes={name: _of_every_node(graph, name) for name in node_attrs or ()},
    )
    found.__dict__["index"] = index
    return found


_READERS = ("__getitem__", "__iter__", "_adj", "adj", "adjacency", "degree", "edges", "neighbors", "nodes")


def overridden(graph: Any) -> str:
    """Why a graph cannot be read from its adjacency: its class has methods of its own. Nothing where it can."""
    if isinstance(graph, NxGraph):
        return ""
    for kind in type(graph).__mro__:
        if kind.__module__.startswith("networkx.classes."):
            return ""
        if own := next((name for name in _READERS if name in vars(kind)), ""):
            return f"{type(graph).__name__} overrides {own}"
    return ""


Read = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]", list[dict[Any, Any]], list[Any]]


def _rows(graph: Any, index: dict[Any, int], with_data: bool) -> Read:
    """The ends of all edges and what they carry, in the order of `graph.edges`; undirected ones stand in two rows."""
    adjacency = list(graph.adjacency())
    lengths = np.fromiter((len(row) for _, row in adjacency), np.int64, len(adjacency))
    count = int(lengths.sum())
    ends = chain.from_iterable(row for _, row in adjacency)
    targets = np.fromiter(map(index.__getitem__, ends), np.int64, count)
    sources = np.repeat(np.arange(len(adjacency)), lengths)
    data = list(chain.from_iterable(row.values() for _, row in adjacency)) if with_data else []
    if graph.is_directed():
        return sources, targets, data, []
    once = sources <= targets
    return sources[once], targets[once], list(compress(data, once.tolist())), []


def _edges(graph: Any, index: dict[Any, int], with_data: bool) -> Read:
    """The same of a multigraph."""
    rows = list(graph.edges(data=True, keys=True))
    sources = np.fromiter((index[row[0]] for row in rows), np.int64, len(rows))
    targets = np.fromiter((index[row[1]] for row in rows), np.int64, len(rows))
    return sources, targets, [row[3] for row in rows] if with_data else [], [row[2] for row in rows]


def _numbers(data: list[dict[str, Any]], name: str, default: Any) -> np.ndarray[Any, Any] | None:
    """An edge attribute as an array; None where no edge has it."""
    if not any(name in d for d in data):
        return None
    values = [d.get(name, 1 if default is None else default) for d in data]
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise NotImplementedError(f"the edge attribute {name!r} is not a number on every edge")
    if array.dtype.kind == "f":
        return array
    if np.abs(array.astype(np.float64)).sum() >= 2.0**63:
        raise NotImplementedError(f"sums of the edge attribute {name!r} do not fit into 64 bits")
    return array.astype(np.int64)


def _of_every_node(graph: Any, name: str) -> np.ndarray[Any, Any]:
    """A node attribute as an array. Raises KeyError for a node that has it not."""
    values = np.asarray([data[name] for _, data in graph.nodes(data=True)])
    if values.size and (values.dtype.kind not in "biuf" or values.ndim != 1):
        raise NotImplementedError(f"the node attribute {name!r} is not a number on every node")
    return values.astype(np.float64)


def convert_to_nx(result: Any) -> Any:
    """An `NxGraph` as a NetworkX graph (attributes that were not carried over are gone); other results as they are."""
    if not isinstance(result, NxGraph):
        return result
    import networkx as nx

    kinds = {
        (False, False): nx.Graph,
        (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph,
        (True, True): nx.MultiDiGraph,
    }
    graph = kinds[result.is_directed(), result.is_multigraph()]()
    graph.add_nodes_from(result.nodes)
    ends = zip(result.sources.tolist(), result.targets.tolist(), strict=True)
    if result.whole is not None and result.whole.nodes:
        return result.part(range(len(result)), range(result.sources.size))
    names = list(result.attributes)
    if not names:
        graph.add_edges_from((result.nodes[a], result.nodes[b]) for a, b in ends)
        return graph
    rows = zip(*(result.attributes[n].tolist() for n in names), strict=True)
    graph.add_edges_from(
        (result.nodes[a], result.nodes[b], dict(zip(names, row, strict=True)))
        for (a, b), row in zip(ends, rows, strict=True)
    )
    return graph
