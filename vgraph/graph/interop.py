"""Graphs from and to SciPy, NetworkX and pandas; each library is imported when its conversion is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph.arrays import MAX_ID_32, as_array
from vgraph.graph.build import BuildOptions, repeats

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

    from vgraph.graph.graph import Graph


def from_scipy(
    cls: type[Graph], /, matrix: Any, *, weight: str | None = "weight", directed: bool = True, **options: Any
) -> Graph:
    """The graph whose arc i -> j is the stored entry (i, j) of a square SciPy sparse matrix or array.

    Entries become the edge property called `weight` (None: dropped); stored zeros are edges, too, and
    duplicate entries are parallel edges. `options` are `directed` (False asks for a symmetric matrix,
    each pair of entries is one edge), `self_loops`, `multi_edges`, `id_bits` and `vertex_properties`.
    """
    from scipy import sparse

    if not sparse.issparse(matrix):
        raise GraphError(f"expected a SciPy sparse matrix or array, got {type(matrix).__name__}")
    rows, columns = matrix.shape if matrix.ndim == 2 else (matrix.shape[0], 1)
    if rows != columns:
        raise GraphError(f"a graph needs a square matrix, got {rows} x {columns}")
    if matrix.format == "csr" and not set(options) & {"self_loops", "multi_edges"}:
        data = {} if weight is None else {weight: matrix.data}
        return _from_csr(cls, matrix.indptr, matrix.indices, directed, data, **options)
    coo = matrix.tocoo()
    sources, targets, entries = coo.row, coo.col, coo.data
    if not directed:
        # checks the symmetry, then takes each edge from its lower end
        cls.from_edges(sources, targets, num_vertices=rows, entry=entries)._as_undirected()
        once = sources <= targets
        sources, targets, entries = sources[once], targets[once], entries[once]
    values = {} if weight is None else {weight: entries}
    return _from_edges(cls, sources, targets, values, num_vertices=rows, directed=directed, **options)


def _from_edges(
    cls: type[Graph],
    sources: Any,
    targets: Any,
    edge: Mapping[str, Any],
    *,
    num_vertices: int | None = None,
    vertex_properties: Mapping[str, Any] | None = None,
    **build: Any,
) -> Graph:
    """`Graph.from_edges`, whatever the edge properties are called."""
    return cls.from_ends(sources, targets, num_vertices, BuildOptions(**build), edge, vertex_properties or {})


def _from_csr(
    cls: type[Graph],
    offsets: Any,
    columns: Any,
    directed: bool,
    edge: Mapping[str, Any],
    *,
    id_bits: int | None = None,
    vertex_properties: Mapping[str, Any] | None = None,
) -> Graph:
    """`Graph.from_csr`, whatever the edge properties are called."""
    return cls.from_rows(offsets, columns, directed, id_bits, edge, vertex_properties or {})


def to_scipy(graph: Graph, property: str | None = None) -> scipy.sparse.csr_array:
    """A SciPy CSR array, one entry per arc: the given edge property, else `weight`, else int32 ones."""
    from scipy import sparse

    if property is None and "weight" in graph.edge_properties:
        property = "weight"
    if property is None:
        data: NDArray[Any] = np.ones(graph.num_arcs, np.int32)
    elif property not in graph.edge_properties:
        raise GraphError(f"the graph has no edge property {property!r}")
    else:
        data = graph.edge_properties[property].copy()
    if data.ndim != 1:
        raise GraphError(f"edge property {property!r} holds vectors, which are no matrix entries")
    index = np.int32 if max(graph.num_vertices, graph.num_arcs) <= MAX_ID_32 else np.int64
    indices, indptr = graph.out.column_indices.astype(index), graph.out.row_offsets.astype(index)
    return sparse.csr_array((data, indices, indptr), shape=(graph.num_vertices,) * 2)


def from_networkx(
    cls: type[Graph],
    /,
    g: networkx.Graph,
    *,
    weight: str | None = "weight",
    edge_attributes: Sequence[str] = (),
    node_attributes: Sequence[str] = (),
    **options: Any,
) -> Graph:
    """The graph of a NetworkX graph, directed and multi or not; vertices in the order of `g.nodes`.

    `weight` names the edge attribute that becomes the edge property `weight`, if any edge has it; edges
    without it count 1, as in NetworkX. Integer labels other than 0, 1, ... are kept in the vertex
    property `id`. Further attributes: `edge_attributes=` and `node_attributes=`, lists of names, which
    all edges or nodes must have. `options` are `self_loops`, `multi_edges` and `id_bits`.
    """
    if not hasattr(g, "is_multigraph"):
        raise GraphError(f"expected a NetworkX graph, got {type(g).__name__}")
    number = {label: index for index, label in enumerate(g.nodes)}
    count = g.number_of_edges()
    sources = np.fromiter((number[u] for u, _ in g.edges()), np.int64, count)
    targets = np.fromiter((number[v] for _, v in g.edges()), np.int64, count)
    vertex: dict[str, Any] = {name: _attribute(name, g.nodes(data=name)) for name in node_attributes}
    integers = all(isinstance(label, int) for label in number)
    if integers and any(label != index for label, index in number.items()):
        vertex.setdefault("id", np.array(list(number)))
    edge: dict[str, Any] = {
        name: _attribute(name, (((u, v), x) for u, v, x in g.edges(data=name))) for name in edge_attributes
    }
    if weight is not None and "weight" not in edge:
        values = [value for _, _, value in g.edges(data=weight)]
        if any(value is not None for value in values):
            edge["weight"] = as_array([1 if value is None else value for value in values], "the weights")
    more = {"num_vertices": len(number), "directed": g.is_directed(), "vertex_properties": vertex}
    return _from_edges(cls, sources, targets, edge, **more, **options)


def _attribute(name: str, items: Iterable[tuple[Any, Any]]) -> NDArray[Any]:
    values = []
    for owner, value in items:
        if value is None:
            raise GraphError(f"{owner!r} has no attribute {name!r}")
        values.append(value)
    return as_array(values, f"the attribute {name!r}")


def to_networkx(graph: Graph) -> networkx.Graph:
    """A NetworkX graph on 0, 1, ... with all properties; a multigraph if edges are parallel."""
    import networkx as nx

    multi = bool(repeats(graph.out.row_offsets, graph.out.column_indices).any())
    kinds = {
        (True, False): nx.DiGraph,
        (True, True): nx.MultiDiGraph,
        (False, False): nx.Graph,
        (False, True): nx.MultiGraph,
    }
    g = kinds[graph.directed, multi]()
    g.add_nodes_from(range(graph.num_vertices))
    for name, values in graph.vertex_properties.items():
        nx.set_node_attributes(g, dict(enumerate(values.tolist())), name)
    sources, targets, properties = graph.edges()
    names, columns = list(properties), [values.tolist() for values in properties.values()]
    rows = zip(sources.tolist(), targets.tolist(), *columns, strict=True)
    g.add_edges_from((u, v, dict(zip(names, row, strict=True))) for u, v, *row in rows)
    return g


def from_pandas(
    cls: type[Graph],
    /,
    df: pandas.DataFrame,
    source: str = "source",
    target: str = "target",
    *,
    edge_properties: Sequence[str] | None = None,
    **options: Any,
) -> Graph:
    """The graph with one edge per row of a data frame, from column `source` to column `target`.

    `edge_properties=`: names of the columns to keep as edge properties; by default all others. `options`
    are those of `from_edges`.
    """
    if not hasattr(df, "columns"):
        raise GraphError(f"expected a pandas data frame, got {type(df).__name__}")
    for name in (source, target, *(edge_properties or ())):
        if name not in df.columns:
            known = ", ".join(map(str, df.columns))
            raise GraphError(f"the data frame has no column {name!r}; it has: {known}")
    if edge_properties is None:
        edge_properties = [name for name in df.columns if name not in (source, target)]
    twice = [name for name in (source, target, *edge_properties) if list(df.columns).count(name) > 1]
    if twice:
        raise GraphError(f"the data frame has several columns {twice[0]!r}")
    edge = {name: df[name].to_numpy() for name in edge_properties}
    return _from_edges(cls, df[source].to_numpy(), df[target].to_numpy(), edge, **options)


def to_pandas(graph: Graph) -> pandas.DataFrame:
    """A data frame of edges: `source`, `target` and the edge properties (vectors as name_0, ...)."""
    import pandas

    sources, targets, properties = graph.edges()
    columns = {"source": sources, "target": targets}
    for name, values in properties.items():
        parts = {name: values}
        if values.ndim == 2:
            parts = {f"{name}_{i}": values[:, i] for i in range(values.shape[1])}
        if columns.keys() & parts.keys():
            raise GraphError(f"edge property {name!r} would be a column that there is already")
        columns |= parts
    return pandas.DataFrame(columns)
