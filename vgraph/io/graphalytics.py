"""LDBC Graphalytics data sets: `.v` (vertex ids, perhaps with values), `.e` (edges, perhaps weighted), `.properties`;
adjacency lists.

Ids are arbitrary; vertices are numbered in the order of the `.v` file, and the ids kept in the vertex
property `id`. The early validation graphs are adjacency lists instead: `id neighbor neighbor ...` on each
line. Vertices without a line come last, in the order in which they are met.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphFormatError
from vgraph.graph import Graph
from vgraph.graph.build import EdgeList
from vgraph.io.compression import beside, strip_compression
from vgraph.io.lists import read_lists
from vgraph.io.options import ReadOptions
from vgraph.io.streams import TextSource, is_comment, quoted
from vgraph.io.table import Layout, check_columns, edge_keys, only_id, read_rows

_COMMENTS, _LIST_COMMENTS = b"#", b"#%"
_IDS = 1 << 63  # what int64 holds


def read(path: Path, options: ReadOptions) -> Graph:
    """Read the data set to which a `.v`, `.e` or `.properties` file belongs.

    The `.properties` file, if there is one, says whether edges are directed and what the properties of edges and
    vertices are called; without one they are directed, a third column is `weight`, and a second of vertices `value`.
    """
    stem = strip_compression(path)
    stem = stem.with_suffix("") if stem.suffix in (".properties", ".v", ".e") else stem
    settings = _settings(stem)
    build = options.build(directed=_boolean(stem, settings.get("directed", "true")))
    ids, properties = _read_vertices(stem, options, settings)
    edges = _read_edges(stem, options, settings, ids, directed=build.directed)
    return Graph.from_edge_list(edges, build, {**properties, "id": ids})


def read_adjacency(path: Path, options: ReadOptions) -> Graph:
    """Read adjacency lists; `directed=False` asks that each edge stands in the lines of both its ends."""
    with TextSource(path, options.progress) as source:
        lists = read_lists(source, comments=_LIST_COMMENTS)
        lengths = lists.lengths[lists.lengths > 0]
        if not lengths.size:
            source.fail("the file is empty")
        starts = np.cumsum(lengths) - lengths
        ids = lists.values[starts]
        sources = np.repeat(np.arange(ids.size), lengths - 1)
        neighbors = np.delete(lists.values, starts)
        _refuse_twice(source, ids, _LIST_COMMENTS)
        others, first = np.unique(neighbors[~np.isin(neighbors, ids)], return_index=True)
        ids = np.concatenate((ids, others[np.argsort(first)]))
        order = np.argsort(ids)
        targets = order[np.searchsorted(ids, neighbors, sorter=order)]
        if options.directed is False:
            sources, targets = _undirected(source, sources, targets, ids)
    keys = edge_keys(0, [sources.astype(np.uint64), targets.astype(np.uint64)])
    return Graph.from_edge_list(EdgeList(keys, {}, ids.size), options.build(directed=True), {"id": ids})


def _undirected(
    source: TextSource, sources: NDArray[np.int64], targets: NDArray[np.int64], ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each edge once; refuse one that stands in the line of one end alone."""
    forth, back = np.lexsort((targets, sources)), np.lexsort((sources, targets))
    differ = (sources[forth] != targets[back]) | (targets[forth] != sources[back])
    if differ.any():
        arc = forth[int(np.argmax(differ))]
        u, v = sources[arc], targets[arc]
        line = source.line_of(int(u), _LIST_COMMENTS)
        source.fail(f"the edge between {ids[u]} and {ids[v]} stands in only one line", line)
    once = sources <= targets
    return sources[once], targets[once]


def _refuse_twice(source: TextSource, ids: NDArray[Any], comments: bytes) -> None:
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if twice.size:
        again = int(order[twice + 1].min())
        source.fail(f"vertex {ids[again]} stands here a second time", source.line_of(again, comments))


# --- the parts of a data set ------------------------------------------------------------------------------


def _part(stem: Path, suffix: str) -> Path:
    """The file of the data set with this suffix, compressed or not."""
    plain = stem.with_name(stem.name + suffix)
    found = beside(plain)
    if found is None:
        raise GraphFormatError(plain, None, "this file of the data set is missing")
    return found


def _settings(stem: Path) -> dict[str, str]:
    """The lines `graph.<name>.key = value` of the `.properties` file, if there is one."""
    settings: dict[str, str] = {}
    path = beside(stem.with_name(stem.name + ".properties"))
    if path is None:
        return settings
    with TextSource(path) as source:
        while (line := source.line()) is not None:
            if is_comment(line, _COMMENTS):
                continue
            key, equals, value = line.decode("utf-8", "replace").partition("=")
            if not equals:
                source.fail(f"expected 'key = value', got {quoted(line)}")
            settings[key.strip().removeprefix(f"graph.{stem.name}.")] = value.strip()
    return settings


def _boolean(stem: Path, text: str) -> bool:
    if text not in ("true", "false"):
        raise GraphFormatError(f"{stem}.properties", None, f"directed must be true or false, got {text!r}")
    return text == "true"


def _columns(source: TextSource, own: tuple[str, ...], names: str) -> tuple[str, ...]:
    """The columns of a table: `own`, then as many of the comma-separated `names` as its first line has."""
    while (line := source.peek()) is not None and is_comment(line, _COMMENTS):
        source.line()
    width = len(own) if line is None else len(line.split())
    columns = (*own, *[name.strip() for name in names.split(",")][: max(width - len(own), 0)])
    if width != len(columns):
        source.line()
        source.fail(f"expected {', '.join(own)} and {names}; got {width} fields: {quoted(line or b'')}")
    check_columns(source, columns)
    return columns


def _read_vertices(
    stem: Path, options: ReadOptions, settings: dict[str, str]
) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """The ids of the vertices and their properties."""
    with TextSource(_part(stem, ".v"), options.progress) as source:
        columns = _columns(source, ("id",), settings.get("vertex-properties.names", "value"))
        layout = Layout(columns, (0,), num_vertices=_IDS, comments=_COMMENTS)
        rows = read_rows(source, layout, key=only_id, more_bytes=24)
        _refuse_twice(source, rows.keys, _COMMENTS)
    return rows.keys.view(np.int64), rows.columns


def _read_edges(
    stem: Path, options: ReadOptions, settings: dict[str, str], ids: NDArray[np.int64], *, directed: bool
) -> EdgeList:
    """The edges between `ids`, with as many properties as the first line has."""
    known = np.append(ids, -1)
    order = np.argsort(known, kind="stable")
    with TextSource(_part(stem, ".e"), options.progress) as source:
        columns = _columns(source, ("source", "target"), settings.get("edge-properties.names", "weight"))

        def key(row: int, ends: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
            """The keys of edges between the vertices with these ids."""
            numbers = []
            for end in (part.view(np.int64) for part in ends):
                found = order[np.searchsorted(known, end, sorter=order).clip(max=ids.size)]
                unknown = known[found] != end
                if unknown.any():
                    at = int(np.argmax(unknown))
                    source.fail(
                        f"vertex {end[at]} is not in the .v file", source.line_of(row + at, _COMMENTS)
                    )
                numbers.append(found.view(np.uint64))
            return edge_keys(row, numbers)

        layout = Layout(columns, num_vertices=_IDS, comments=_COMMENTS)
        rows = read_rows(source, layout, directed=directed, key=key)
    return EdgeList(rows.keys, rows.columns, ids.size)
