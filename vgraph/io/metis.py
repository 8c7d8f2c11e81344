"""METIS graphs: a header `n m [fmt [ncon]]`, then one line per vertex with its neighbors, counted from 1.

`fmt` is up to three digits: vertex sizes, vertex weights, edge weights. Edge weights become the edge property
`weight`, sizes the vertex property `size`, vertex weights `vertex_weight` (vectors if `ncon` > 1). Graphs are
undirected; each edge stands in the lines of both its ends, and m counts it once. Where arcs are asked for, it need
not, and m may count arcs. Lines that begin with `%` are comments, an empty line is a vertex without neighbors.
See G. Karypis, V. Kumar, METIS manual, section 4.1.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph import Graph
from vgraph.graph.arrays import too_many_vertices
from vgraph.graph.build import EdgeList
from vgraph.io.columns import narrowed
from vgraph.io.lists import Lists, read_lists
from vgraph.io.options import ReadOptions
from vgraph.io.streams import TextSource, is_comment, quoted, whole_number
from vgraph.records import dataclass

_COMMENTS = b"%"
_MAX_WEIGHTS = 1 << 16  # of a vertex
_BYTES_PER_VERTEX = 64  # what the lines of vertices take while they are taken apart
_HALF = np.uint64(32)


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
    """Read a `.graph` or `.metis` file; `directed=True` takes the neighbors in the line of `u` as arcs from `u`."""
    build = options.build(directed=False)
    with TextSource(path, options.progress) as source:
        header = _header(source)
        lists = read_lists(source, comments=_COMMENTS, limit=header.num_vertices)
        if lists.lengths.size < header.num_vertices:
            source.fail(
                f"the file ends after the lines of {lists.lengths.size} of {header.num_vertices} vertices"
            )
        head, keys, weight = _split(source, header, lists)
        del lists
        turned = keys << _HALF | keys >> _HALF
        loops = int(np.count_nonzero(keys == turned))
        expected = {2 * header.num_edges - loops} | ({header.num_edges} if build.directed else set())
        if keys.size not in expected:
            source.fail(
                f"{header.num_edges} edges declared, but the lines hold {keys.size} neighbors "
                f"(expected {' or '.join(map(str, sorted(expected)))})",
                header.line,
            )
        if not build.directed:
            _check_mirrored(source, keys, turned, weight)
            forth = keys <= turned
            keys, weight = keys[forth], weight[forth] if weight.size else weight
    properties = {"weight": narrowed(weight)} if header.edge_weights else {}
    edges = EdgeList(keys, properties, header.num_vertices)
    return Graph.from_edge_list(edges, build, _vertex_properties(header, head))


def _header(source: TextSource) -> _Header:
    while (line := source.line()) is not None and is_comment(line, _COMMENTS):
        pass
    if line is None:
        source.fail("the file is empty")
    words = line.split()
    fmt = words.pop(2) if len(words) > 2 else b"0"
    numbers = [number for number in map(whole_number, words) if number is not None]
    if not 2 <= len(words) == len(numbers) <= 3:
        source.fail(f"expected 'vertices edges [fmt [ncon]]', whole numbers, got {quoted(line)}")
    if len(fmt) > 3 or fmt.strip(b"01"):
        source.fail(f"fmt {quoted(fmt)} must be up to three digits 0 or 1")
    if reason := too_many_vertices(numbers[0], _BYTES_PER_VERTEX):
        source.fail(reason)
    sizes, weights, edge_weights = (digit == "1" for digit in fmt.decode().zfill(3))
    num_weights = (numbers[2] if len(numbers) > 2 else 1) if weights else 0
    if num_weights > _MAX_WEIGHTS:
        source.fail(f"{num_weights} weights for each vertex; there may be {_MAX_WEIGHTS}")
    return _Header(numbers[0], numbers[1], sizes, num_weights, edge_weights, source.line_number - 1)


def _split(
    source: TextSource, header: _Header, lists: Lists
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """Vertex numbers (n, per_vertex), the keys of the neighbors, and their weights, if they have any."""
    values, lengths = lists.values, lists.lengths
    per_vertex, per_edge = header.per_vertex, 1 + header.edge_weights
    rest = lengths - per_vertex
    wrong = (rest < 0) | (rest % per_edge != 0)
    if wrong.any():
        vertex = int(np.argmax(wrong))
        form = f"{per_vertex} numbers, then " if per_vertex else ""
        form += "pairs of neighbor and weight" if header.edge_weights else "neighbors"
        source.fail(f"expected {form}, got {lengths[vertex]} numbers", _line(source, vertex))
    starts = np.cumsum(lengths) - lengths
    own = (starts[:, np.newaxis] + np.arange(per_vertex)).ravel()
    head = values[own].reshape(lengths.size, per_vertex)
    if per_vertex:
        keep = np.ones(values.size, np.bool_)
        keep[own] = False
        values = values[keep]
    sources = np.repeat(np.arange(lengths.size, dtype=np.uint64), rest // per_edge)
    neighbors = values[::per_edge]
    bad = (neighbors < 1) | (neighbors > header.num_vertices)
    if bad.any():
        first = int(np.argmax(bad))
        source.fail(
            f"neighbor {neighbors[first]} is out of range 1..{header.num_vertices}",
            _line(source, int(sources[first])),
        )
    keys = (sources << _HALF) | (neighbors - 1).astype(np.uint64)
    return head, keys, values[1::per_edge] if header.edge_weights else neighbors[:0]


def _line(source: TextSource, vertex: int) -> int:
    return source.line_of(vertex, _COMMENTS, blanks=True)


def _check_mirrored(
    source: TextSource, keys: NDArray[np.uint64], turned: NDArray[np.uint64], weight: NDArray[np.int64]
) -> None:
    """Refuse an edge that does not stand, with its weight, in the lines of both its ends."""
    weights = weight if weight.size else np.zeros(keys.size, np.int8)
    sides = []
    for part, ends in ((keys <= turned, keys), (keys >= turned, turned)):
        columns = weights[part], ends[part]
        order = np.lexsort(columns)
        sides.append([column[order] for column in columns])
    (up_weights, up), (down_weights, down) = sides
    size = min(up.size, down.size)
    differ = (up[:size] != down[:size]) | (up_weights[:size] != down_weights[:size])
    if not differ.any() and up.size == down.size:
        return
    at = int(np.argmax(differ)) if differ.any() else size
    key, _, upper = min((int(k[at]), int(w[at]), end) for end, (w, k) in enumerate(sides) if at < k.size)
    low, high = key >> 32, key & 0xFFFFFFFF
    source.fail(
        f"the edge between {low + 1} and {high + 1} does not stand in both their lines with the same weight",
        _line(source, high if upper else low),
    )


def _vertex_properties(header: _Header, head: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    properties: dict[str, NDArray[Any]] = {}
    if header.sizes:
        properties["size"] = narrowed(head[:, 0])
    if header.num_weights:
        weights = head[:, int(header.sizes) :]
        properties["vertex_weight"] = narrowed(weights[:, 0] if header.num_weights == 1 else weights)
    return properties


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write an undirected graph, with `weight` if it has one, which must be of integers."""
    if graph.directed:
        raise GraphError("a METIS file holds undirected graphs; this graph is directed")
    weight = graph.edge_properties.get("weight")
    if weight is not None and (weight.dtype.kind not in "iu" or weight.ndim != 1):
        raise GraphError(f"a METIS file holds integer weights; this graph has {weight.dtype}")
    if weight is not None and weight.size and not 0 <= weight.min() <= weight.max() < 1 << 63:
        raise GraphError("a METIS file holds no negative weights, and none from 2**63 on")
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
