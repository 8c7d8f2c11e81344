"""LDBC Graphalytics data sets: `.v` (vertex ids), `.e` (edges, perhaps weighted), `.properties`; adjacency
lists.

Ids are arbitrary; vertices are numbered in the order of the `.v` file, and the ids kept in the vertex
property `id`. The early validation graphs are adjacency lists instead: `id neighbor neighbor ...` on each
line. Vertices without a
line come last, in the order in which they are met.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vgraph._build import EdgeList
from vgraph.errors import GraphFormatError
from vgraph.graph import Graph
from vgraph.io.lists import read_lists
from vgraph.io.options import ReadOptions
from vgraph.io.streams import MAGIC, TextSource, is_comment, quoted, strip_compression
from vgraph.io.table import Column, Layout, NumberColumn, read_block


def read(path: Path, options: ReadOptions) -> Graph:
    """Read the data set to which a `.v`, `.e` or `.properties` file belongs.

    The `.properties` file, if there is one, says whether edges are directed and what their properties are
    called; without one they are directed, and a third column is `weight`.
    """
    stem = strip_compression(path)
    stem = stem.with_name(stem.name.removesuffix(".properties").removesuffix(".v").removesuffix(".e"))
    settings = _settings(_beside(stem, ".properties", required=False), stem.name)
    directed = _boolean(stem, settings.get("directed", "true"))
    ids = _read_ids(_beside(stem, ".v"), options)
    edges = _read_edges(_beside(stem, ".e"), options, ids, settings.get("edge-properties.names", "weight"))
    return Graph.from_edge_list(edges, options.build(directed=directed), {"id": ids})


def read_adjacency(path: Path, options: ReadOptions) -> Graph:
    """Read adjacency lists; `directed=False` asks that each edge stands in the lines of both its ends."""
    with TextSource(path, options.progress) as source:
        lists = read_lists(source, comments=b"#%")
        used = lists.lengths > 0
        lengths, line_of = lists.lengths[used], lists.line_of[used]
        if not lengths.size:
            source.fail("the file is empty")
        starts = np.cumsum(lengths) - lengths
        ids = lists.values[starts]
        sources = np.repeat(np.arange(ids.size), lengths - 1)
        neighbors = np.delete(lists.values, starts)
        _numbering(source, ids, line_of)
        others, first = np.unique(neighbors[~np.isin(neighbors, ids)], return_index=True)
        ids = np.concatenate((ids, others[np.argsort(first)]))
        order = np.argsort(ids)
        targets = order[np.searchsorted(ids, neighbors, sorter=order)]
        if options.directed is False:
            sources, targets = _undirected(source, sources, targets, ids, line_of)
    keys = (sources.astype(np.uint64) << np.uint64(32)) | targets.astype(np.uint64)
    return Graph.from_edge_list(EdgeList(keys, {}, ids.size), options.build(directed=True), {"id": ids})


def _undirected(
    source: TextSource,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    ids: NDArray[np.int64],
    line_of: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each edge once; refuse one that stands in the line of one end alone."""
    forth, back = np.lexsort((targets, sources)), np.lexsort((sources, targets))
    differ = (sources[forth] != targets[back]) | (targets[forth] != sources[back])
    if differ.any():
        arc = forth[int(np.argmax(differ))]
        u, v = sources[arc], targets[arc]
        source.fail(f"the edge between {ids[u]} and {ids[v]} stands in only one line", int(line_of[u]))
    once = sources <= targets
    return sources[once], targets[once]


def _beside(stem: Path, suffix: str, *, required: bool = True) -> Path | None:
    """The file of the data set with this suffix, compressed or not."""
    plain = stem.with_name(stem.name + suffix)
    for candidate in (plain, *(plain.with_name(f"{plain.name}.{packed}") for packed in MAGIC)):
        if candidate.exists():
            return candidate
    if required:
        raise GraphFormatError(plain, None, "this file of the data set is missing")
    return None


def _settings(path: Path | None, name: str) -> dict[str, str]:
    """The lines `graph.<name>.key = value` of a `.properties` file."""
    settings: dict[str, str] = {}
    if path is None:
        return settings
    with TextSource(path) as source:
        while (line := source.line()) is not None:
            if is_comment(line):
                continue
            key, equals, value = line.decode("utf-8", "replace").partition("=")
            if not equals:
                source.fail(f"expected 'key = value', got {quoted(line)}")
            settings[key.strip().removeprefix(f"graph.{name}.")] = value.strip()
    return settings


def _boolean(stem: Path, text: str) -> bool:
    if text not in ("true", "false"):
        raise GraphFormatError(f"{stem}.properties", None, f"directed must be true or false, got {text!r}")
    return text == "true"


def _read_ids(path: Path | None, options: ReadOptions) -> NDArray[np.int64]:
    assert path is not None
    with TextSource(path, options.progress) as source:
        lists = read_lists(source, comments=b"#")
        used = lists.lengths > 0
        more = lists.lengths > 1
        if more.any():
            source.fail("expected one vertex id", int(lists.line_of[int(np.argmax(more))]))
        _numbering(source, lists.values, lists.line_of[used])
    return lists.values


def _numbering(source: TextSource, ids: NDArray[np.int64], line_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order that sorts `ids`, which must be distinct."""
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if twice.size:
        again = int(order[twice + 1].min())
        source.fail(f"vertex {ids[again]} stands here a second time", int(line_of[again]))
    return order


def _read_edges(path: Path | None, options: ReadOptions, ids: NDArray[np.int64], names: str) -> EdgeList:
    """The edges between `ids`, with as many properties as the first line has."""
    assert path is not None
    keys = Column(np.uint64)
    order = np.argsort(ids, kind="stable")
    with TextSource(path, options.progress) as source:
        line = source.peek()
        width = len(line.split()) if line is not None else 2
        wanted = [name.strip() for name in names.split(",")][: max(width - 2, 0)]
        if width != 2 + len(wanted):
            source.line()
            source.fail(f"expected source, target and {names}; got {width} fields: {quoted(line or b'')}")
        last = int(ids.max(initial=0)) + 1
        layout = Layout(("source", "target", *wanted), num_vertices=last, comments=b"#")
        columns = [NumberColumn() for _ in wanted]
        for first, block in source.blocks():
            ends, values = read_block(source, first, block, layout)
            rows = np.stack(ends, axis=1).astype(np.int64)
            numbers = _numbers(source, first, block, rows, ids, order)
            keys.append((numbers[:, 0] << np.uint64(32)) | numbers[:, 1])
            for column, part in zip(columns, values, strict=True):
                column.append(part)
    properties = {name: column.finish() for name, column in zip(wanted, columns, strict=True)}
    return EdgeList(keys.finish(), properties, ids.size)


def _numbers(
    source: TextSource,
    first: int,
    block: bytes,
    ends: NDArray[np.int64],
    ids: NDArray[np.int64],
    order: NDArray[np.int64],
) -> NDArray[np.uint64]:
    """The vertex numbers of the ids `ends`, (rows, 2)."""
    if not ids.size and ends.size:
        source.fail(f"vertex {ends[0, 0]} is not in the .v file", first)
    found = (
        order[np.searchsorted(ids, ends, sorter=order).clip(max=max(ids.size - 1, 0))] if ids.size else ends
    )
    unknown = ids[found] != ends
    if unknown.any():
        row, end = (int(index) for index in np.argwhere(unknown)[0])
        data = [n for n, text in enumerate(block.split(b"\n"), first) if not is_comment(text, b"#")]
        source.fail(f"vertex {ends[row, end]} is not in the .v file", data[row])
    return found.astype(np.uint64)
