"""DIMACS graphs: `p sp n m` with `a u v w` lines (9th challenge), and the PACE form, `p tw n m` with `u v`
lines.

Vertices count from 1 in the file and from 0 in the graph. `a` lines are directed arcs with an integer or
decimal `weight`; PACE edges are undirected and have none. Coordinates lie in a `.co` file beside the `.gr`,
compressed or not: `p aux sp co n`, then `v id x y`; they become the vertex properties `x` and `y`.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vgraph._arrays import max_vertices
from vgraph._build import EdgeList, sources_of
from vgraph.errors import GraphError
from vgraph.graph import Graph
from vgraph.io.options import ReadOptions
from vgraph.io.streams import MAGIC, TextSource, quoted, strip_compression
from vgraph.io.table import Layout, Rows, read_block, read_edges
from vgraph.io.text import write_rows


def read(path: Path, options: ReadOptions, *, coordinates: bool = True) -> Graph:
    """Read a `.gr` file. `coordinates=False` leaves a `.co` file beside it alone."""
    with TextSource(path, options.progress) as source:
        form, num_vertices, num_edges = _header(source, {b"sp": 2, b"tw": 2})
        header_line = source.line_number - 1
        fields = ("source", "target", "weight") if form == b"sp" else ("source", "target")
        mark = b"a" if form == b"sp" else b""
        layout = Layout(fields, 2, 1, num_vertices, mark, comments=b"c")
        rows = read_edges(source, layout)
        check_count(source, rows, num_edges, header_line, "arcs" if mark else "edges")
        vertex = _coordinates(path, num_vertices) if coordinates else {}
    edges = EdgeList(rows.keys, rows.columns, num_vertices)
    del rows
    return Graph.from_edge_list(edges, options.build(directed=form == b"sp"), vertex)


def check_count(source: TextSource, rows: Rows, declared: int, header_line: int, what: str) -> None:
    """Refuse a file that holds fewer or more edges than its header declares."""
    found = rows.keys.size
    if found < declared:
        source.fail(f"the file ends after {found} of {declared} {what}")
    if found > declared:
        source.fail(f"{declared} {what} declared, but the file holds {found}", header_line)


def _header(source: TextSource, forms: dict[bytes, int]) -> tuple[bytes, int, int]:
    """The form of the `p` line and its last two numbers; (form, n, 0) if the form has but one."""
    while (line := source.line()) is not None:
        words = line.split()
        if not words or words[0] == b"c":
            continue
        form = b" ".join(words[1:-1] if words[1:4] == [b"aux", b"sp", b"co"] else words[1:2])
        if words[0] != b"p" or form not in forms:
            known = " or ".join(f"'p {name.decode()} ...'" for name in forms)
            source.fail(f"expected a comment 'c ...' or {known}, got {quoted(line)}")
        numbers = words[len(words) - forms[form] :]
        if len(words) != 1 + len(form.split()) + forms[form] or not all(word.isdigit() for word in numbers):
            source.fail(f"expected {forms[form]} whole numbers after 'p {form.decode()}', got {quoted(line)}")
        count = int(numbers[0])
        if count > max_vertices():
            source.fail(f"{count} vertices declared; this machine holds at most {max_vertices()}")
        return form, count, int(numbers[1]) if len(numbers) > 1 else 0
    return source.fail("the file is empty" if source.line_number == 1 else "the file has no 'p' line")


def _coordinates(path: Path, num_vertices: int) -> dict[str, NDArray[Any]]:
    """The properties `x` and `y` from the `.co` file beside `path`; none if there is no such file."""
    base = strip_compression(path).with_suffix(".co")
    for candidate in (base, *(base.with_name(f"{base.name}.{suffix}") for suffix in MAGIC)):
        if candidate.exists():
            return read_coordinates(candidate, num_vertices)
    return {}


def read_coordinates(path: Path, num_vertices: int) -> dict[str, NDArray[Any]]:
    """The properties `x` and `y` of a `.co` file, which must name each of `num_vertices` vertices once."""
    with TextSource(path) as source:
        _, count, _ = _header(source, {b"aux sp co": 1})
        if count != num_vertices:
            source.fail(f"coordinates of {count} vertices, but the graph has {num_vertices}")
        layout = Layout(("vertex", "x", "y"), 1, 1, num_vertices, b"v", comments=b"c")
        ids, xs, ys = [], [], []
        for first, block in source.blocks():
            block_ids, (x, y) = read_block(source, first, block, layout)
            ids.append(block_ids[0])
            xs.append(x)
            ys.append(y)
        order = np.concatenate(ids) if ids else np.empty(0, np.uint64)
        seen = np.bincount(order.astype(np.intp), minlength=num_vertices)
        if (seen != 1).any():
            vertex = int(np.argmax(seen != 1))
            source.fail(f"vertex {vertex + 1} has {seen[vertex]} lines; each vertex has one")
    position = np.argsort(order)
    return {name: _narrow(parts)[position] for name, parts in (("x", xs), ("y", ys))}


def _narrow(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """One array, int32 if all values are integers that fit."""
    values = np.concatenate(parts) if parts else np.empty(0, np.int32)
    if values.dtype.kind == "i" and values.size and values.min() >= -(1 << 31) and values.max() < 1 << 31:
        return values.astype(np.int32)
    return values


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write a `.gr` file: with `weight`, every arc as an `a` line (so an undirected edge in both directions,
    as is the custom); an undirected graph without, in the PACE form.
    """
    if "weight" in graph.edge_properties:
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
    file.write(f"p aux sp co {graph.num_vertices}\n".encode())
    ids = np.arange(1, graph.num_vertices + 1)
    write_rows(file, [ids, graph.vertex_properties["x"], graph.vertex_properties["y"]], prefix="v ")
