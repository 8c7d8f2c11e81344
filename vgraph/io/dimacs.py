"""DIMACS graphs: `p sp n m` with `a u v w` lines (9th challenge), `p edge n m` with `e u v` lines (colorings and
cliques), and the PACE form, `p tw n m` with `u v` lines.

Vertices count from 1 in the file and from 0 in the graph. `a` lines are directed arcs with an integer or
decimal `weight`; the edges of the other forms are undirected and have none. Coordinates lie in a `.co` file beside
the `.gr`, compressed or not: `p aux sp co n`, then `v id x y`; they become the vertex properties `x` and `y`.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph import Graph
from vgraph.graph.arrays import too_many_vertices
from vgraph.graph.build import EdgeList, sources_of
from vgraph.io.compression import beside, strip_compression
from vgraph.io.options import ReadOptions
from vgraph.io.streams import TextSource, quoted, whole_number
from vgraph.io.table import Layout, only_id, read_rows
from vgraph.io.text import check_scalar, write_rows


class _Form(NamedTuple):
    """What follows a `p` line: how many numbers stand in it, and the lines of the table."""

    numbers: int
    mark: bytes
    fields: tuple[str, ...]


_GRAPHS = {
    "sp": _Form(2, b"a", ("source", "target", "weight")),
    "tw": _Form(2, b"", ("source", "target")),
    "edge": _Form(2, b"e", ("source", "target")),
    "col": _Form(2, b"e", ("source", "target")),
}
_COORDINATES = {"aux sp co": _Form(1, b"v", ("vertex", "x", "y"))}


def read(path: Path, options: ReadOptions, *, coordinates: bool = True) -> Graph:
    """Read a `.gr` or `.col` file. `coordinates=False` leaves a `.co` file beside it alone."""
    with TextSource(path, options.progress) as source:
        form, (num_vertices, num_edges) = _header(source, _GRAPHS)
        header_line = source.line_number - 1
        build = options.build(directed=form.mark == b"a")
        layout = Layout(form.fields, (0, 1), 1, num_vertices, form.mark, comments=b"c")
        rows = read_rows(source, layout, directed=build.directed)
        check_count(source, rows.keys.size, num_edges, header_line, "arcs" if form.mark == b"a" else "edges")
        vertex = _coordinates(path, num_vertices) if coordinates else {}
    edges = EdgeList(rows.keys, rows.columns, num_vertices)
    del rows
    return Graph.from_edge_list(edges, build, vertex)


def check_count(source: TextSource, found: int, declared: int, header_line: int, what: str) -> None:
    """Refuse a file that holds fewer or more edges than its header declares."""
    if found < declared:
        source.fail(f"the file ends after {found} of {declared} {what}")
    if found > declared:
        source.fail(f"{declared} {what} declared, but the file holds {found}", header_line)


def _header(source: TextSource, forms: dict[str, _Form]) -> tuple[_Form, list[int]]:
    """The form that the `p` line names, and its numbers; the first is that of the vertices."""
    while (line := source.line()) is not None:
        words = line.split()
        if not words or words[0] == b"c":
            continue
        starts = {name: [b"p", *name.encode().split()] for name in forms}
        name = next((name for name, start in starts.items() if words[: len(start)] == start), None)
        if name is None:
            known = " or ".join(f"'p {name} ...'" for name in forms)
            source.fail(f"expected a comment 'c ...' or {known}, got {quoted(line)}")
        form, given = forms[name], words[len(starts[name]) :]
        numbers = [number for number in map(whole_number, given) if number is not None]
        if not len(given) == len(numbers) == form.numbers:
            what = "1 whole number" if form.numbers == 1 else f"{form.numbers} whole numbers"
            source.fail(f"expected {what} after 'p {name}', got {quoted(line)}")
        if reason := too_many_vertices(numbers[0]):
            source.fail(reason)
        return form, numbers
    return source.fail("the file is empty" if source.line_number == 1 else "the file has no 'p' line")


def _coordinates(path: Path, num_vertices: int) -> dict[str, NDArray[Any]]:
    """The properties `x` and `y` from the `.co` file beside `path`; none if there is no such file."""
    found = beside(strip_compression(path).with_suffix(".co"))
    return {} if found is None else read_coordinates(found, num_vertices)


def read_coordinates(path: Path, num_vertices: int) -> dict[str, NDArray[Any]]:
    """The properties `x` and `y` of a `.co` file, which must name each of `num_vertices` vertices once."""
    with TextSource(path) as source:
        form, (count,) = _header(source, _COORDINATES)
        if count != num_vertices:
            source.fail(f"coordinates of {count} vertices, but the graph has {num_vertices}")
        header_line = source.line_number - 1
        layout = Layout(form.fields, (0,), 1, num_vertices, form.mark, comments=b"c")
        rows = read_rows(source, layout, key=only_id)
        check_count(source, rows.keys.size, num_vertices, header_line, "vertices")
        seen = np.zeros(num_vertices, np.bool_)
        seen[rows.keys] = True
        if not seen.all():
            source.fail(f"vertex {int(np.argmin(seen)) + 1} has no line; each vertex has one")
    properties = {}
    for name, values in rows.columns.items():
        placed = np.empty_like(values)
        placed[rows.keys] = values
        properties[name] = placed
    return properties


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write a `.gr` file: with `weight`, every arc as an `a` line (so an undirected edge in both directions,
    as is the custom); an undirected graph without, in the PACE form.
    """
    if "weight" in graph.edge_properties:
        check_scalar("weight", graph.edge_properties["weight"])
        sources = sources_of(graph.out.row_offsets, np.dtype(np.int64))
        file.write(f"p sp {graph.num_vertices} {graph.num_arcs}\n".encode())
        columns = [
            sources + 1,
            graph.out.column_indices.astype(np.int64) + 1,
            graph.edge_properties["weight"],
        ]
        write_rows(file, columns, prefix="a ")
        return
    if graph.directed:
        raise GraphError(
            "the arcs of a .gr file have weights; this directed graph has no edge property 'weight'"
        )
    sources, targets, _ = graph.edges()
    file.write(f"p tw {graph.num_vertices} {graph.num_edges}\n".encode())
    write_rows(file, [sources.astype(np.int64) + 1, targets.astype(np.int64) + 1])


def write_coordinates(graph: Graph, file: IO[bytes]) -> None:
    """Write the vertex properties `x` and `y` as a `.co` file."""
    for name in ("x", "y"):
        check_scalar(name, graph.vertex_properties[name])
    file.write(f"p aux sp co {graph.num_vertices}\n".encode())
    ids = np.arange(1, graph.num_vertices + 1)
    write_rows(file, [ids, graph.vertex_properties["x"], graph.vertex_properties["y"]], prefix="v ")
