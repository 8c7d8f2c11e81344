"""Edge lists: `source target` or `source target weight` on each line, separated by blanks, tabs or commas.

Vertices count from 0 and keep their ids: the graph has (largest id + 1) vertices. Lines that begin with `#`
or `%` are comments. A first line of names (`weight,source,target`) says which column is which; without one, the first
two are source and target, and a third is `weight`. Fields may stand in double quotes. Files that vgraph writes say in
a comment how many vertices there are, and whether edges are directed.
A comment `... 120 vertices ...` of others, before the first edge, is taken as a hint that there may be
vertices beyond the largest id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError, shown
from vgraph.graph import Graph
from vgraph.graph.arrays import check_num_vertices, too_many_vertices
from vgraph.graph.build import EdgeList
from vgraph.io.options import ReadOptions
from vgraph.io.streams import TextSource, is_comment, quoted, whole_number, without_comment
from vgraph.io.table import Layout, check_columns, edge_keys, read_rows, unquoted
from vgraph.io.text import check_scalar, write_rows

ENDS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
"""What a line of names calls the ends of an edge, in letters of any size."""
_OURS = re.compile(rb"# vgraph: (\d+) vertices, (directed|undirected)\s*")
_HINT = re.compile(rb"(?<![\w.,-])(\d+) vertices\b")


def read(
    path: Path,
    options: ReadOptions,
    *,
    num_vertices: int | None = None,
    edge_properties: Sequence[str] | None = None,
    source: str | None = None,
    target: str | None = None,
) -> Graph:
    """Read an edge list.

    `num_vertices`: if there are vertices beyond the largest id, or what comments say of them is wrong.
    `edge_properties`: the columns to keep, by name; without a line of names, what the columns after source and target
    are called, which is needed where there are several. `source`, `target`: the columns that hold the ends of edges,
    if the line of names calls them none of `ENDS`.
    """
    if num_vertices is not None:
        num_vertices = check_num_vertices(num_vertices)
    if isinstance(edge_properties, str) or not isinstance(edge_properties, Sequence | None):
        raise GraphError(f"edge_properties is a list of names, not {shown(edge_properties)}")
    if (source is None) != (target is None):
        raise GraphError("source and target name the columns of both ends: give both or none")
    if source is not None and source == target:
        raise GraphError(f"source and target are both {source!r}: an edge has two ends")
    max_id = -1

    def key(row: int, ids: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        nonlocal max_id
        max_id = max([max_id, *(int(part.max()) for part in ids if part.size)])
        return edge_keys(row, ids)

    with TextSource(path, options.progress) as text:
        ends = None if source is None or target is None else (source, target)
        declared, hint, directed, titles = _comments(text, ends, counted=num_vertices is None)
        if num_vertices is None:
            num_vertices = declared
        layout, kept = _layout(text, num_vertices, edge_properties, ends, titles)
        build = options.build(directed=directed)
        rows = read_rows(text, layout, directed=build.directed, key=key)
    if num_vertices is None:
        num_vertices = max(max_id + 1, hint)
    edges = EdgeList(rows.keys, {name: rows.columns[name] for name in kept}, num_vertices)
    del rows
    return Graph.from_edge_list(edges, build, {})


def _comments(
    text: TextSource, ends: tuple[str, str] | None, *, counted: bool
) -> tuple[int | None, int, bool, list[str]]:
    """Skip the comments at the start: the declared number of vertices, a hint at it, whether directed, column names.

    `counted`: numbers of vertices are of interest.
    """
    declared, hint, directed, empty = None, 0, True, True
    titles: list[str] = []
    while (line := text.peek()) is not None and is_comment(line):
        text.line()
        empty = empty and not line.strip()
        titles = _named(line, ends) or titles
        ours = _OURS.fullmatch(line)
        if line.startswith(b"# vgraph:") and not ours:
            text.fail(f"expected '# vgraph: N vertices, directed' (or undirected), got {quoted(line)}")
        if ours:
            directed = ours[2] == b"directed"
        found = ours or _HINT.search(line)
        if found and counted:
            number = _count(text, found[1])
            declared, hint = (number, hint) if ours else (declared, number)
    if line is None and empty:
        text.fail("the file is empty")
    return declared, hint, directed, titles


def _named(comment: bytes, ends: tuple[str, str] | None) -> list[str]:
    """The names in a comment that is a line of names, as `# source,target`: it has those of both ends. Else none."""
    words = unquoted(comment.lstrip(b"#% \t")).replace(b",", b" ").decode("utf-8", "replace").split()
    known = [word.lower() for word in words] if ends is None else words
    both = any(set(pair) <= set(known) for pair in (ENDS if ends is None else (ends,)))
    return words if both and all(word.isidentifier() for word in words) else []


def _count(text: TextSource, word: bytes) -> int:
    """The number of vertices that a comment tells."""
    number = whole_number(word)
    if number is None:
        text.fail(f"{quoted(word)} is no number of vertices: it begins with 0 or has too many digits")
    if reason := too_many_vertices(number):
        text.fail(f"{reason}; if the comment is wrong, pass num_vertices=")
    return number


def _layout(
    text: TextSource,
    num_vertices: int | None,
    names: Sequence[str] | None,
    ends: tuple[str, str] | None,
    titles: list[str],
) -> tuple[Layout, Sequence[str]]:
    """The columns, and those to keep: from the line of names, which is then skipped, or the first line of data.

    `titles`: the names in a comment, which count where the data has as many columns and no line of names of its own.
    """
    line = text.peek()
    words, own = names_of(line or b"")
    line = None if line is None else without_comment(unquoted(line))
    options: dict[str, Any] = {"num_vertices": num_vertices, "comma": b"," in (line or b""), "quotes": True}
    if own or (titles and len(titles) == len(words)):
        titles = [word.decode("utf-8", "replace") for word in words] if own else titles
        check_columns(text, titles)
        if own:
            text.line()
        at = _ends(text, titles, ends)
        others = [title for index, title in enumerate(titles) if index not in at]
        for name in names or ():
            if name not in others:
                text.fail(f"edge_properties names a column {name!r}; there are {', '.join(others) or 'none'}")
        return Layout(tuple(titles), at, **options), others if names is None else names
    if ends is not None:
        text.fail(f"the file has no line of names, so that no column is called {ends[0]!r}", text.line_number)
    if names is None and len(words) in (0, 2, 3):
        names = ("weight",)[: max(len(words) - 2, 0)]
    if names is None or (words and len(names) != len(words) - 2):
        wanted = "2 or 3 fields (source target weight)" if names is None else f"{len(names) + 2} fields"
        reason = f"expected {wanted}, got {len(words)}: {quoted(line or b'')}"
        more = "; name further columns in edge_properties=" if len(words) > 3 else ""
        text.fail(reason + more, text.line_number)
    check_columns(text, names)
    return Layout(("source", "target", *names), **options), names


def names_of(line: bytes) -> tuple[list[bytes], bool]:
    """The words of a line, and whether they name columns."""
    line = without_comment(unquoted(line))
    words = [word.strip() for word in line.split(b",")] if b"," in line else line.split()
    return words, _are_names(words)


def _are_names(words: list[bytes]) -> bool:
    """Whether a line names its columns: no field looks like a number, and one is an identifier."""
    if len(words) < 2 or any(word[:1] in b"0123456789+-." for word in words if word):
        return False
    return any(word.decode("utf-8", "replace").isidentifier() for word in words)


def _ends(text: TextSource, titles: list[str], given: tuple[str, str] | None) -> tuple[int, int]:
    """Which columns hold the sources and the targets, by the line of names just read."""
    if given is not None:
        found, pairs = titles, [given]
    else:
        found, pairs = [title.lower() for title in titles], list(ENDS)
    for source, target in pairs:
        if source in found and target in found:
            for name in (source, target):
                if found.count(name) > 1:
                    text.fail(f"two columns are called {name!r}")
            return found.index(source), found.index(target)
    wanted = " or ".join(f"{source} and {target}" for source, target in pairs)
    line = ", ".join(titles)
    return text.fail(
        f"a line of names says which columns are the ends of edges, {wanted}; this one is {quoted(line.encode())}; "
        "pass source= and target= for other names; ratings have a format of that name"
    )


def write(graph: Graph, file: IO[bytes], *, separator: str = " ") -> None:
    """Write an edge list with all scalar edge properties, undirected edges once."""
    sources, targets, properties = graph.edges()
    for name, values in properties.items():
        check_scalar(name, values)
        if name.lower() in ENDS[0]:
            raise GraphError(f"edge property {name!r} would stand for an end of the edge. Write a .npz file")
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
