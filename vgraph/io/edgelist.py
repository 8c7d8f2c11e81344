"""Edge lists: `source target` or `source target weight` on each line, separated by blanks, tabs or commas.

Vertices count from 0 and keep their ids: the graph has (largest id + 1) vertices. Lines that begin with `#`
or `%` are comments. A first line of names (`source,target,weight`) names the columns; without one, a third
column is `weight`. Files that vgraph writes say in a comment how many vertices there are, and whether edges
are directed.
A comment `... 120 vertices ...` of others, before the first edge, is taken as a hint that there may be
vertices beyond the largest id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from vgraph._arrays import max_vertices
from vgraph._build import EdgeList
from vgraph.errors import GraphError
from vgraph.graph import Graph
from vgraph.io.options import ReadOptions
from vgraph.io.streams import TextSource, is_comment, quoted, without_comment
from vgraph.io.table import Layout, read_edges
from vgraph.io.text import write_rows

_OURS = re.compile(rb"# vgraph: (\d+) vertices, (directed|undirected)")
_HINT = re.compile(rb"\b(\d+) vertices\b")


def read(
    path: Path,
    options: ReadOptions,
    *,
    num_vertices: int | None = None,
    edge_properties: Sequence[str] | None = None,
) -> Graph:
    """Read an edge list.

    `num_vertices`: if there are vertices beyond the largest id. `edge_properties`: names of the columns after
    source and target, needed where there are several and no line of names.
    """
    with TextSource(path, options.progress) as source:
        declared, hint, directed = _comments(source)
        if num_vertices is None:
            num_vertices = declared
        layout = _layout(source, num_vertices, edge_properties)
        rows = read_edges(source, layout)
    if num_vertices is None:
        num_vertices = max(rows.max_id + 1, hint)
    edges = EdgeList(rows.keys, rows.columns, num_vertices)
    del rows
    return Graph.from_edge_list(edges, options.build(directed=directed), {})


def _comments(source: TextSource) -> tuple[int | None, int, bool]:
    """Skip the comments at the start: the declared number of vertices, a hint at it, whether directed."""
    declared, hint, directed, empty = None, 0, True, True
    while (line := source.peek()) is not None and is_comment(line):
        empty = empty and not line.strip()
        if ours := _OURS.match(line):
            declared, directed = int(ours[1]), ours[2] == b"directed"
            if declared > max_vertices():
                source.line()
                source.fail(f"{declared} vertices declared; this machine holds at most {max_vertices()}")
        elif (other := _HINT.search(line)) and int(other[1]) <= max_vertices():
            hint = int(other[1])
        source.line()
    if line is None and empty:
        source.fail("the file is empty")
    return declared, hint, directed


def _layout(source: TextSource, num_vertices: int | None, names: Sequence[str] | None) -> Layout:
    """The columns, from the first line of data, or the line of names, which is then skipped."""
    line = source.peek()
    if line is None:
        return Layout(("source", "target", *(names or ())), num_vertices=num_vertices)
    line = without_comment(line)
    comma = b"," in line
    fields = [field.strip() for field in line.split(b",")] if comma else line.split()
    if len(fields) >= 2 and all(field.isascii() and field.decode().isidentifier() for field in fields):
        source.line()
        if names is None:
            names = [field.decode() for field in fields[2:]]
    elif names is None and len(fields) in (2, 3):
        names = ("weight",)[: len(fields) - 2]
    if names is None or len(names) != len(fields) - 2:
        source.line()
        wanted = "2 or 3 fields (source target weight)" if names is None else f"{len(names) + 2} fields"
        source.fail(
            f"expected {wanted}, got {len(fields)}: {quoted(line)}; name further columns in edge_properties="
        )
    return Layout(("source", "target", *names), num_vertices=num_vertices, comma=comma)


def write(graph: Graph, file: IO[bytes], *, separator: str = " ") -> None:
    """Write an edge list with all scalar edge properties, undirected edges once."""
    sources, targets, properties = graph.edges()
    for name, values in properties.items():
        if values.ndim != 1:
            raise GraphError(
                f"edge property {name!r} holds vectors; an edge list holds numbers. Write a .npz file"
            )
    kind = "directed" if graph.directed else "undirected"
    file.write(f"# vgraph: {graph.num_vertices} vertices, {kind}\n".encode())
    if properties and list(properties) != ["weight"]:
        file.write((separator.join(("source", "target", *properties)) + "\n").encode())
    write_rows(file, [sources, targets, *properties.values()], separator=separator)


def write_csv(graph: Graph, file: IO[bytes]) -> None:
    """Write an edge list separated by commas."""
    write(graph, file, separator=",")


def write_tsv(graph: Graph, file: IO[bytes]) -> None:
    """Write an edge list separated by tabs."""
    write(graph, file, separator="\t")
