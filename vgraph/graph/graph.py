"""The graph: immutable, stored as sorted CSR, its transpose built when first asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import GraphError
from vgraph.graph import build, interop, operations
from vgraph.graph.arrays import (
    SealedArrays,
    as_ids,
    as_properties,
    as_property,
    borrowed_property,
    check_below,
    check_name,
    check_num_vertices,
    check_offsets,
    final_dtypes,
    handed_out,
    memory_of,
    sealed,
)
from vgraph.graph.build import BuildOptions, EdgeList, MultiEdges
from vgraph.graph.order import EDGE_NUMBER, EDGE_REVERSE, Given, Known, Moved, Order, ends_of, in_given_order
from vgraph.graph.relabel import By, Relabelled, order_of, permuted
from vgraph.graph.topology import Adjacency, PropertyRange, T, Topology, check_symmetric, range_of
from vgraph.tracebacks import public

Properties = Mapping[str, NDArray[Any]]


@public
class Graph:
    """An immutable graph with named vertex and edge properties; vertices are numbered from 0.

    Make one with `from_edges`, `from_csr`, `from_scipy`, `from_networkx`, `from_pandas` or `vgraph.read`. An
    undirected graph stores each edge as two arcs (a self-loop as one); its `in_` is its `out`. Two graphs are
    equal only if they are the same object.
    """

    __slots__ = (
        "__weakref__", "_edge", "_in_edge", "_means", "_order", "_ranges", "_relabelled", "_renamed",
        "_topology", "_vertex",
    )  # fmt: skip

    def __init__(self, topology: Topology, edge: Properties, vertex: Properties) -> None:
        self._topology = topology
        self._edge, self._vertex = SealedArrays(edge), SealedArrays(vertex)
        self._in_edge: dict[str, NDArray[Any]] = {}
        self._ranges: dict[str, PropertyRange] = {}
        self._relabelled: dict[str, Relabelled] = {}
        self._order: str | None = None
        self._means: dict[str, float] = {}
        self._renamed: dict[tuple[str, str], Graph] = {}

    # --- construction -------------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        /,
        sources: ArrayLike,
        targets: ArrayLike,
        *,
        num_vertices: int | None = None,
        directed: bool = True,
        self_loops: bool = True,
        multi_edges: MultiEdges = True,
        id_bits: int | None = None,
        keep_order: bool = True,
        vertex_properties: Mapping[str, ArrayLike] | None = None,
        **edge_properties: ArrayLike,
    ) -> Graph:
        """The graph with an edge `sources[i] -> targets[i]` for every i.

        `sources`, `targets`: vertex ids, one dimension, equally long; floats are accepted if they are whole
        numbers. `num_vertices`: at least the largest id + 1, which is the default. `directed=False`: each
        edge goes both ways. `self_loops=False` drops edges from a vertex to itself. `multi_edges=False` keeps
        the first of parallel edges; "min", "max" and "sum" keep one with each property reduced. `id_bits`: 64
        forces 64-bit ids and offsets. `vertex_properties`, and every further keyword as edge property: arrays
        with one row per vertex, or per edge; NaN is allowed. Narrow integers become int32, float16 becomes
        float32. All arrays are copied.

        `keep_order`: results of edges come back as `sources` and `targets` stand, to which the graph refers (lists are
        made arrays) as long as it lives. With False they come in the order of `edges()`, and the arrays may be
        changed or freed.

        Raises GraphError on ids that are negative, fractional or out of range, and on lengths, names or dtypes
        that do not fit.
        """
        options = BuildOptions(directed, self_loops, multi_edges, id_bits)
        ends = sources, targets, num_vertices
        return cls.from_ends(*ends, options, edge_properties, vertex_properties or {}, keep_order=keep_order)

    @classmethod
    def from_ends(
        cls,
        sources: ArrayLike,
        targets: ArrayLike,
        num_vertices: int | None,
        options: BuildOptions,
        edge: Mapping[str, ArrayLike],
        vertex: Mapping[str, ArrayLike],
        *,
        keep_order: bool = True,
    ) -> Graph:
        """`from_edges` for converters: an edge property may be called as an option is."""
        source_ids, target_ids = as_ids(sources, "sources"), as_ids(targets, "targets")
        size = source_ids.size
        if size != target_ids.size:
            raise GraphError(f"{size} sources, but {target_ids.size} targets")
        if num_vertices is None:
            num_vertices = 1 + max(
                (int(ids.max()) for ids in (source_ids, target_ids) if ids.size), default=-1
            )
        num_vertices = check_num_vertices(num_vertices)
        check_below(source_ids, "sources", num_vertices)
        check_below(target_ids, "targets", num_vertices)
        given = {name: borrowed_property(name, x, size, "edges") for name, x in edge.items()}
        edges = EdgeList(None, dict(given), num_vertices, ends=(source_ids, target_ids))
        order = Given(source_ids, target_ids, options) if keep_order else None
        return cls.from_edge_list(edges, options, vertex, given, order)

    @classmethod
    def from_edge_list(
        cls,
        edges: EdgeList,
        options: BuildOptions,
        vertex_properties: Mapping[str, ArrayLike],
        given: Properties | None = None,
        order: Order | None = None,
    ) -> Graph:
        """The graph of edges that are checked already, and are used up: for the file readers.

        Properties that are still those `given` by a caller are copied. `order`: that of results of edges.
        """
        for name in edges.properties:
            check_name(name)
        vertex = as_properties(vertex_properties, edges.num_vertices, "vertices")
        built = build.build(edges, options)
        for name, values in (given or {}).items():
            if np.may_share_memory(values, built.properties[name]):
                built.properties[name] = built.properties[name].copy()
        out = Adjacency(built.row_offsets, built.column_indices)
        return cls(Topology(out, built.num_edges, options.directed, order), built.properties, vertex)

    @classmethod
    def from_csr(
        cls,
        /,
        row_offsets: ArrayLike,
        column_indices: ArrayLike,
        *,
        directed: bool = True,
        id_bits: int | None = None,
        vertex_properties: Mapping[str, ArrayLike] | None = None,
        **edge_properties: ArrayLike,
    ) -> Graph:
        """The graph with the arcs of a CSR matrix; properties have one row per arc, in the order given.

        `row_offsets` has num_vertices + 1 ascending entries, from 0 to the number of arcs. Rows need not be
        sorted. `directed=False` asks for a symmetric matrix with symmetric properties, and counts each pair
        of arcs as one edge. All arrays are copied. Raises GraphError as `from_edges` does, and where offsets
        do not ascend or symmetry is missing.
        """
        rows = row_offsets, column_indices
        return cls.from_rows(*rows, directed, id_bits, edge_properties, vertex_properties or {})

    @classmethod
    def from_rows(
        cls,
        row_offsets: ArrayLike,
        column_indices: ArrayLike,
        directed: bool,
        id_bits: int | None,
        edge: Mapping[str, ArrayLike],
        vertex: Mapping[str, ArrayLike],
        *,
        copy: bool = True,
    ) -> Graph:
        """`from_csr` for converters: an edge property may be called as an option is.

        `copy=False`: the arrays are taken over as they are, because nobody else holds them, or they are a graph's.
        """
        options = BuildOptions(True, True, True, id_bits)
        offsets, columns = as_ids(row_offsets, "row_offsets"), as_ids(column_indices, "column_indices")
        num_vertices = check_offsets(offsets, columns.size)
        check_below(columns, "column_indices", num_vertices)
        given = {name: borrowed_property(name, values, columns.size, "arcs") for name, values in edge.items()}
        if build.rows_sorted(offsets, columns):
            owned = {name: np.array(values, copy=copy or None) for name, values in given.items()}
            offsets, columns = final_dtypes(offsets, columns, num_vertices, id_bits, copy=copy)
        else:
            keys = build.pack(build.sources_of(offsets, np.dtype(np.int64)), columns)
            built = build.build(EdgeList(keys, given, num_vertices), options)
            offsets, columns, owned = built.row_offsets, built.column_indices, built.properties
        vertex = as_properties(vertex, num_vertices, "vertices")
        graph = cls(Topology(Adjacency(offsets, columns), columns.size, True), owned, vertex)
        return graph if directed else graph._as_undirected()

    @classmethod
    def with_in_properties(
        cls, topology: Topology, edge: Properties, vertex: Properties, inward: Properties
    ) -> Graph:
        """A graph whose in-arcs are not its out-arcs turned round: a part of one. `inward` has their properties."""
        graph = cls(topology, edge, vertex)
        graph._in_edge = {name: sealed(values) for name, values in inward.items()}
        return graph

    from_scipy = classmethod(interop.from_scipy)
    from_networkx = classmethod(interop.from_networkx)
    from_pandas = classmethod(interop.from_pandas)

    # --- conversion ---------------------------------------------------------------------------------------

    to_scipy = interop.to_scipy
    to_networkx = interop.to_networkx
    to_pandas = interop.to_pandas

    def edges(self) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
        """Sources, targets and edge properties by edge: undirected edges once, with source <= target."""
        sources, targets, once = ends_of(self._topology)
        return sources, targets, {name: values[once] for name, values in self._edge.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.out.row_offsets, self.out.column_indices, self.num_edges, self.directed)
        order = self._topology.order
        if isinstance(order, Moved):
            order = Known(order.numbers(self._topology))
        by = () if self._order is None else (self._order, np.array(order_of(self, self._order)[1]))
        return restore, (*state, dict(self._edge), dict(self._vertex), order, *by)

    # --- other graphs -------------------------------------------------------------------------------------

    subgraph = operations.subgraph
    k_hop = operations.k_hop
    ego = operations.ego
    reverse = operations.reverse
    simplify = operations.simplify
    line_graph = operations.line_graph

    # --- properties ---------------------------------------------------------------------------------------

    @property
    def edge_properties(self) -> Properties:
        """Edge properties by name: arrays with one row per arc, in out order, that cannot be changed."""
        return self._edge

    @property
    def vertex_properties(self) -> Properties:
        """Vertex properties by name: arrays with one row per vertex that cannot be changed."""
        return self._vertex

    def with_vertex_property(self, name: str, values: ArrayLike) -> Graph:
        """A graph that shares this one's arrays and has one more (or another) vertex property."""
        array = as_property(name, values, self.num_vertices, "vertices")
        return self._sharing(self._edge, {**self._vertex, name: array})

    def with_edge_property(self, name: str, values: ArrayLike) -> Graph:
        """A graph that shares this one's arrays and has one more edge property, or another in its place.

        `values` has one row per arc, in out order; on an undirected graph both arcs of an edge must agree.
        """
        array = as_property(name, values, self.num_arcs, "arcs")
        if not self.directed:
            reverse = build.transpose(self.out.row_offsets, self.out.column_indices)[2]
            check_symmetric(name, array, reverse, self.out)
        return self._sharing({**self._edge, name: array}, self._vertex)

    def with_edge_property_as(self, name: str, known: str) -> Graph:
        """This graph with its edge property `known` called `name`, too; made once, then kept."""
        if name == known:
            return self
        values = self._edge_property(known)
        with self._topology.lock:
            if (name, known) not in self._renamed:
                made = self._renamed[name, known] = self._sharing({**self._edge, name: values}, self._vertex)
                if known in self._in_edge:
                    made._in_edge[name] = self._in_edge[known]
            return self._renamed[name, known]

    def relabelled(self, by: By = "degree") -> Relabelled:
        """This graph with its vertices in another order, and the permutation; made once, then kept.

        `by`: as of `vgraph.reorder`, whose graph keeps its ids; what programs run on is made here.
        Raises GraphError for another order.
        """
        with self._topology.lock:
            name, _ = order_of(self, by)
            if name not in self._relabelled:
                topology, arcs, old_of_new, new_of_old = permuted(self, name)
                edge = {name: values[arcs] for name, values in self._edge.items()}
                vertex = {name: values[old_of_new] for name, values in self._vertex.items()}
                self._relabelled[name] = Relabelled(Graph(topology, edge, vertex), old_of_new, new_of_old)
            made = self._relabelled[name]
            return Relabelled(made.graph, handed_out(made.old_of_new), handed_out(made.new_of_old))

    def reordered(self, by: By) -> Graph:
        """This graph, all its ids included, on which programs run in another order: see `vgraph.reorder`."""
        graph = self._sharing(self._edge, self._vertex)
        graph._order, _ = order_of(self, by)
        graph._relabelled = self._relabelled
        graph.relabelled(graph._order)
        return graph

    @property
    def order(self) -> str | None:
        """The order of vertices in which programs run on this graph, by a name that `relabelled` knows, or None."""
        return self._order

    def in_property(self, name: str) -> NDArray[Any]:
        """The edge property in the order of `in_`: row i belongs to the i-th arc of `in_.column_indices`."""
        edge_ids = self.in_.edge_ids
        if name == EDGE_NUMBER and edge_ids is not None:
            return edge_ids
        values = self.edge_array(name)
        with self._topology.lock:
            if name not in self._in_edge:
                self._in_edge[name] = values if edge_ids is None else sealed(values[edge_ids])
            return handed_out(self._in_edge[name])

    def edge_array(self, name: str) -> NDArray[Any]:
        """What kernels read of arcs by this name, in out order: an edge property, or numbers of edges (`order.py`)."""
        if name == EDGE_REVERSE:
            return self._topology.opposite_arcs
        return self._topology.edge_numbers if name == EDGE_NUMBER else self._edge_property(name)

    def in_given_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values with a row for each edge of `edges()` in the order of `from_edges`' arrays.

        Edges that the graph left out have 0, false or none; of merged ones each has the value of all. Raises GraphError
        where these arrays have changed since. For a graph made in another way the order is that of `edges()`.
        """
        return in_given_order(values, self._topology)

    def edge_property_range(self, name: str) -> PropertyRange:
        """Smallest and largest value of an edge property, NaN left out, and whether it holds a NaN."""
        values = self._edge_property(name)
        if name not in self._ranges:
            self._ranges[name] = range_of(values)
        return self._ranges[name]

    def edge_property_mean(self, name: str) -> float:
        """The average of an edge property, in f64; NaN for one, for both infinities, and without arcs."""
        values = self._edge_property(name)
        if name not in self._means:
            with np.errstate(all="ignore"):
                self._means[name] = float(values.mean(dtype=np.float64)) if values.size else math.nan
        return self._means[name]

    def _edge_property(self, name: str) -> NDArray[Any]:
        if name not in self._edge:
            known = ", ".join(self._edge) or "none"
            raise GraphError(f"the graph has no edge property {name!r}; it has: {known}")
        return self._edge[name]

    def _sharing(self, edge: Properties, vertex: Properties) -> Graph:
        graph = Graph(self._topology, edge, vertex)
        graph._order = self._order
        kept = [
            name
            for name in edge
            if name in self._edge and memory_of(edge[name]) is memory_of(self._edge[name])
        ]
        graph._in_edge = {name: self._in_edge[name] for name in kept if name in self._in_edge}
        graph._means = {name: self._means[name] for name in kept if name in self._means}
        graph._ranges = {name: self._ranges[name] for name in kept if name in self._ranges}
        return graph

    # --- topology -----------------------------------------------------------------------------------------

    @property
    def topology(self) -> Topology:
        """The arcs, which graphs that differ only in properties share."""
        return self._topology

    @property
    def out(self) -> Adjacency:
        """The outgoing arcs."""
        return self._topology.out

    @property
    def in_(self) -> Adjacency:
        """The incoming arcs: `out` itself if undirected, else its transpose, built on first use."""
        return self._topology.in_

    def kept_with_topology(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gave for this graph's arcs, whatever its properties: made on first use, then kept."""
        return self._topology.kept(name, make)

    @property
    def has_transpose(self) -> bool:
        """True if `in_` costs nothing: the graph is undirected, or the transpose has been built."""
        return self._topology.has_transpose

    @property
    def directed(self) -> bool:
        """False if every edge goes both ways."""
        return self._topology.directed

    @property
    def num_vertices(self) -> int:
        """The number of vertices."""
        return self._topology.num_vertices

    @property
    def num_edges(self) -> int:
        """The number of edges; an undirected edge counts once."""
        return self._topology.num_edges

    @property
    def num_arcs(self) -> int:
        """The number of stored arcs: an undirected edge has two, unless it is a self-loop."""
        return self._topology.num_arcs

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """The dtype of stored vertex ids: uint32 or uint64."""
        return self._topology.id_dtype

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        """The dtype of row offsets and edge ids: uint32 or uint64."""
        return self._topology.offset_dtype

    @property
    def out_degree(self) -> NDArray[Any]:
        """The number of outgoing arcs of every vertex, in `offset_dtype`."""
        return self._topology.degrees("out")

    @property
    def in_degree(self) -> NDArray[Any]:
        """The number of incoming arcs of every vertex, in `offset_dtype`; builds `in_`."""
        return self._topology.degrees("in")

    @property
    def max_degree(self) -> int:
        """The largest out-degree; 0 without vertices."""
        return self._topology.max_degree

    @property
    def nbytes(self) -> int:
        """Bytes of the outgoing arcs and all properties; what is built lazily does not count."""
        arrays = (self.out.row_offsets, self.out.columns, *self._edge.values(), *self._vertex.values())
        return sum(array.nbytes for array in arrays)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        parts = [f"{self.num_vertices:,} vertices", f"{self.num_edges:,} {kind} edges"]
        for of, properties in (("edge", self._edge), ("vertex", self._vertex)):
            if properties:
                names = ", ".join(_describe(name, values) for name, values in properties.items())
                parts.append(f"{of} properties: {names}")
        if self._order is not None:
            parts.append(f"run by {self._order.split()[0]}")
        return f"Graph({'; '.join(parts)})"

    def _as_undirected(self) -> Graph:
        """This directed graph, which must be symmetric, with each pair of arcs as one edge."""
        out = self.out
        offsets, sources, reverse = build.transpose(out.row_offsets, out.column_indices)
        if not (np.array_equal(offsets, out.row_offsets) and np.array_equal(sources, out.column_indices)):
            raise GraphError("the arcs are not symmetric, so the graph is not undirected; pass directed=True")
        for name, values in self._edge.items():
            check_symmetric(name, values, reverse, out)
        loops = build.count_self_loops(out.row_offsets, out.column_indices)
        return Graph(Topology(out, (self.num_arcs + loops) // 2, False), self._edge, self._vertex)


def restore(
    row_offsets: NDArray[Any],
    column_indices: NDArray[Any],
    num_edges: int,
    directed: bool,
    edge: dict[str, NDArray[Any]],
    vertex: dict[str, NDArray[Any]],
    order: Order | None = None,
    by: str | None = None,
    old_of_new: NDArray[np.int64] | None = None,
) -> Graph:
    """A graph from the arrays of one, and its order if it was reordered, taken over unchecked: for pickle."""
    topology = Topology(Adjacency(row_offsets, column_indices), num_edges, directed, order)
    graph = Graph(topology, edge, vertex)
    if by is None or old_of_new is None:
        return graph
    graph.kept_with_topology(f"order {by}", lambda: sealed(old_of_new))
    return graph.reordered(by)


def _describe(name: str, values: NDArray[Any]) -> str:
    vector = f"[{values.shape[1]}]" if values.ndim == 2 else ""
    return f"{name} {values.dtype}{vector}"
