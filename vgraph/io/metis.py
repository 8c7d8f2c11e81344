"""METIS graphs: a header `n m [fmt [ncon]]`, then one line per vertex with its neighbors, counted from 1.

`fmt` is up to three digits: vertex sizes, vertex weights, edge weights. Edge weights become the edge property
`weight`, sizes the vertex property `size`, vertex weights `vertex_weight` (vectors if `ncon` > 1). Graphs are
undirected; each edge stands in the lines of both its ends. Lines that begin with `%` are comments, an empty
line is a vertex without neighbors. See G. Karypis, V. Kumar, METIS manual, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vgraph._arrays import max_vertices
from vgraph._build import EdgeList
from vgraph.errors import GraphError
from vgraph.graph import Graph
from vgraph.io.lists import read_lists
from vgraph.io.options import ReadOptions
from vgraph.io.streams import TextSource, is_comment, quoted


@dataclass(frozen=True)
class _Header:
    """The first line: `per_vertex` numbers stand before the neighbors, first the size if `sizes`."""

    num_vertices: int
    num_edges: int
    sizes: bool
    num_weights: int
    edge_weights: bool
    line: int

    @property
    def per_vertex(self) -> int:
        return int(self.sizes) + self.num_weights


def read(path: Path, options: ReadOptions) -> Graph:
    """Read a `.graph` or `.metis` file."""
    with TextSource(path, options.progress) as source:
        header = _header(source)
        lists = read_lists(source, comments=b"%", limit=header.num_vertices)
        if lists.lengths.size < header.num_vertices:
            source.fail(
                f"the file ends after the lines of {lists.lengths.size} of {header.num_vertices} vertices"
            )
        head, sources, entries = _split(source, header, lists.values, lists.lengths, lists.line_of)
        targets, weight = entries[:, 0], entries[:, 1:]
        _check_targets(source, header, sources, targets, lists.line_of)
        loops = int(np.count_nonzero(sources == targets))
        if sources.size != 2 * header.num_edges - loops:
            source.fail(
                f"{header.num_edges} edges declared, but the lines hold {sources.size} neighbors "
                f"(expected {2 * header.num_edges - loops})",
                header.line,
            )
        forth = sources <= targets
        _check_mirrored(source, sources, targets, weight, lists.line_of)
    properties = {"weight": _narrow(weight[forth, 0])} if header.edge_weights else {}
    keys = (sources[forth].astype(np.uint64) << np.uint64(32)) | targets[forth].astype(np.uint64)
    edges = EdgeList(keys, properties, header.num_vertices)
    return Graph.from_edge_list(edges, options.build(directed=False), _vertex_properties(header, head))


def _header(source: TextSource) -> _Header:
    while (line := source.line()) is not None and is_comment(line, b"%"):
        pass
    if line is None:
        source.fail("the file is empty")
    words = line.split()
    if not 2 <= len(words) <= 4 or not all(word.isdigit() for word in words):
        source.fail(f"expected 'vertices edges [fmt [ncon]]', whole numbers, got {quoted(line)}")
    fmt = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(fmt) != 3 or set(fmt) - {"0", "1"}:
        source.fail(f"fmt {quoted(words[2])} must be up to three digits 0 or 1")
    ncon = int(words[3]) if len(words) > 3 else 1
    num_vertices = int(words[0])
    if num_vertices > max_vertices():
        source.fail(f"{num_vertices} vertices declared; this machine holds at most {max_vertices()}")
    weights = ncon if fmt[1] == "1" else 0
    return _Header(num_vertices, int(words[1]), fmt[0] == "1", weights, fmt[2] == "1", source.line_number - 1)


def _split(
    source: TextSource,
    header: _Header,
    values: NDArray[np.int64],
    lengths: NDArray[np.int64],
    line_of: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Vertex numbers (n, per_vertex), the source of each neighbor, and rows of neighbor (and weight)."""
    per_vertex, per_edge = header.per_vertex, 1 + header.edge_weights
    rest = lengths - per_vertex
    wrong = (rest < 0) | (rest % per_edge != 0)
    if wrong.any():
        vertex = int(np.argmax(wrong))
        form = f"{per_vertex} numbers, then " if per_vertex else ""
        form += "pairs of neighbor and weight" if header.edge_weights else "neighbors"
        source.fail(f"expected {form}, got {lengths[vertex]} numbers", int(line_of[vertex]))
    starts = np.cumsum(lengths) - lengths
    own = (starts[:, np.newaxis] + np.arange(per_vertex)).ravel()
    head = values[own].reshape(lengths.size, per_vertex)
    if per_vertex:
        keep = np.ones(values.size, np.bool_)
        keep[own] = False
        values = values[keep]
    entries = values.reshape(-1, per_edge).copy()
    entries[:, 0] -= 1
    return head, np.repeat(np.arange(lengths.size), rest // per_edge), entries


def _check_targets(
    source: TextSource,
    header: _Header,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    line_of: NDArray[np.int64],
) -> None:
    bad = (targets < 0) | (targets >= header.num_vertices)
    if bad.any():
        first = int(np.argmax(bad))
        source.fail(
            f"neighbor {targets[first] + 1} is out of range 1..{header.num_vertices}",
            int(line_of[sources[first]]),
        )


def _check_mirrored(
    source: TextSource,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    weight: NDArray[np.int64],
    line_of: NDArray[np.int64],
) -> None:
    """Refuse an edge that does not stand, with its weight, in the lines of both its ends."""
    weights = weight[:, 0] if weight.shape[1] else np.zeros(sources.size, np.int64)
    forth, back = np.lexsort((weights, targets, sources)), np.lexsort((weights, sources, targets))
    differ = (
        (sources[forth] != targets[back])
        | (targets[forth] != sources[back])
        | (weights[forth] != weights[back])
    )
    if differ.any():
        arc = forth[int(np.argmax(differ))]
        u, v = int(sources[arc]) + 1, int(targets[arc]) + 1
        source.fail(
            f"the edge between {u} and {v} does not stand in both their lines with the same weight",
            int(line_of[u - 1]),
        )


def _vertex_properties(header: _Header, head: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    properties: dict[str, NDArray[Any]] = {}
    if header.sizes:
        properties["size"] = _narrow(head[:, 0])
    if header.num_weights:
        weights = head[:, int(header.sizes) :]
        properties["vertex_weight"] = _narrow(weights[:, 0] if header.num_weights == 1 else weights)
    return properties


def _narrow(values: NDArray[np.int64]) -> NDArray[Any]:
    """int32 where the values fit."""
    fits = not values.size or (values.min() >= -(1 << 31) and values.max() < 1 << 31)
    return values.astype(np.int32) if fits else np.ascontiguousarray(values)


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write an undirected graph, with `weight` if it has one, which must be of integers."""
    if graph.directed:
        raise GraphError("a METIS file holds undirected graphs; this graph is directed")
    weight = graph.edge_properties.get("weight")
    if weight is not None and (weight.dtype.kind not in "iu" or weight.ndim != 1):
        raise GraphError(f"a METIS file holds integer weights; this graph has {weight.dtype}")
    if weight is not None and weight.size and weight.min() < 0:
        raise GraphError("a METIS file holds no negative weights")
    file.write(f"{graph.num_vertices} {graph.num_edges}{' 001' if weight is not None else ''}\n".encode())
    numbers = graph.out.column_indices.astype(np.int64) + 1
    if weight is not None:
        numbers = np.stack((numbers, weight.astype(np.int64)), axis=1).ravel()
    ends = graph.out.row_offsets[1:].astype(np.int64) * (1 + (weight is not None))
    texts = numbers.astype(str).tolist()
    start = 0
    for end in ends.tolist():
        file.write((" ".join(texts[start:end]) + "\n").encode())
        start = end
