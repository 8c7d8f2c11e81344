"""Matrix Market files: each stored entry of a square matrix is an edge, its value the `weight`.

Symmetric and hermitian matrices are undirected graphs, others directed; a skew-symmetric matrix has the arcs
(i, j, v) and (j, i, -v). A pattern matrix has no weights. Of a dense matrix the entries that are not zero are edges.
See R. F. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.graph.arrays import too_many_vertices
from vgraph.graph.build import EdgeList
from vgraph.io.columns import narrowed
from vgraph.io.dimacs import check_count
from vgraph.io.options import ReadOptions
from vgraph.io.streams import TextSource, is_comment, quoted, whole_number
from vgraph.io.table import Layout, Rows, edge_keys, read_rows
from vgraph.io.text import check_scalar, write_rows
from vgraph.records import dataclass

_VALUES: dict[str, Literal["real", "integer", "unsigned"]] = {
    "real": "real",
    "double": "real",
    "integer": "integer",
    "unsigned-integer": "unsigned",
    "pattern": "real",
}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_COMMENTS = b"%"
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class _Header:
    """What the banner and the line of sizes say; `line` is that of the sizes."""

    dense: bool
    field: str
    symmetry: str
    num_vertices: int
    num_entries: int
    line: int

    @property
    def undirected(self) -> bool:
        return self.symmetry in ("symmetric", "hermitian")


def read(path: Path, options: ReadOptions) -> Graph:
    """Read a `.mtx` file."""
    with TextSource(path, options.progress) as source:
        header = _header(source)
        build = options.build(directed=not header.undirected)
        names = ("source", "target") if header.field == "pattern" else ("source", "target", "weight")
        values = _VALUES[header.field]
        if header.dense:
            layout = Layout(names[2:], (), comments=_COMMENTS, values=values)
            rows = read_rows(source, layout, key=lambda *_: np.empty(0, np.uint64), more_bytes=24)
            check_count(source, rows.columns["weight"].size, header.num_entries, header.line, "entries")
            rows = _dense(rows.columns["weight"], header)
        else:
            layout = Layout(names, (0, 1), 1, header.num_vertices, comments=_COMMENTS, values=values)
            rows = read_rows(source, layout, directed=build.directed and header.symmetry == "general")
            check_count(source, rows.keys.size, header.num_entries, header.line, "entries")
            _check_triangle(rows, source, header)
    if header.symmetry == "skew-symmetric" or (header.undirected and build.directed):
        rows = _mirrored(rows, opposite=not header.undirected)
    return Graph.from_edge_list(EdgeList(rows.keys, rows.columns, header.num_vertices), build, {})


# --- the header -------------------------------------------------------------------------------------------


def _header(source: TextSource) -> _Header:
    form, field, symmetry = _banner(source)
    while (line := source.line()) is not None and is_comment(line, _COMMENTS):
        pass
    if line is None:
        source.fail("the file ends before the line of sizes")
    dense = form == "array"
    words = line.split()
    sizes = [number for number in map(whole_number, words) if number is not None]
    wanted = "2 whole numbers (rows, columns)" if dense else "3 whole numbers (rows, columns, entries)"
    if not len(words) == len(sizes) == (2 if dense else 3):
        source.fail(f"expected {wanted}, got {quoted(line)}")
    if sizes[0] != sizes[1]:
        source.fail(f"a graph needs a square matrix, this one is {sizes[0]} x {sizes[1]}")
    if reason := too_many_vertices(sizes[0]):
        source.fail(reason)
    entries = _dense_entries(sizes[0], symmetry) if dense else sizes[2]
    return _Header(dense, field, symmetry, sizes[0], entries, source.line_number - 1)


def _banner(source: TextSource) -> tuple[str, str, str]:
    """The format, field and symmetry of the first line."""
    line = source.line()
    if line is None:
        source.fail("the file is empty")
    words = line.decode("utf-8", "replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        source.fail(f"expected '%%MatrixMarket matrix FORMAT FIELD SYMMETRY', got {quoted(line)}")
    form, field, symmetry = words[2:]
    if form not in ("coordinate", "array"):
        source.fail(f"unknown format {form!r}; known are coordinate and array")
    if field not in _VALUES:
        source.fail(f"{field} entries cannot be edge weights; known are {', '.join(_VALUES)}")
    if symmetry not in _SYMMETRIES:
        source.fail(f"unknown symmetry {symmetry!r}; known are {', '.join(_SYMMETRIES)}")
    if form == "array" and field == "pattern":
        source.fail("a dense matrix has values; a pattern is a coordinate file")
    return form, field, symmetry


# --- entries ----------------------------------------------------------------------------------------------


def _check_triangle(entries: Rows, source: TextSource, header: _Header) -> None:
    """Refuse entries on both sides of the diagonal of a matrix that is its own mirror image."""
    if header.symmetry == "general":
        return

    def refuse(wrong: NDArray[np.bool_], reason: str) -> None:
        if wrong.any():
            source.fail(reason, source.line_of(int(np.argmax(wrong)), _COMMENTS))

    rows, columns = entries.keys >> _HALF, entries.keys & _LOW
    if header.symmetry == "skew-symmetric":
        refuse(rows == columns, "a skew-symmetric matrix has nothing on its diagonal")
        for values in entries.columns.values():
            reason = "no 64-bit type holds this value and its opposite"
            if values.dtype == np.int64:
                refuse(values == np.iinfo(np.int64).min, reason)
            if values.dtype == np.uint64:
                refuse(values >= 1 << 63, reason)
    below, above = rows > columns, rows < columns
    if below.any() and above.any():
        other = above if np.argmax(below) < np.argmax(above) else below
        refuse(other, f"the other triangle has entries, too; of a {header.symmetry} matrix one is stored")


def _mirrored(rows: Rows, *, opposite: bool) -> Rows:
    """The entries and, behind them, their mirror images, those on the diagonal once; `opposite` negates values."""
    turned = (rows.keys << _HALF) | (rows.keys >> _HALF)
    off = turned != rows.keys
    columns = {}
    for name, values in rows.columns.items():
        wide = values.astype(np.int64) if values.dtype.kind == "i" else values  # no int32 holds 2**31
        columns[name] = narrowed(np.concatenate((wide, -wide[off] if opposite else wide[off])))
    return Rows(np.concatenate((rows.keys, turned[off])), columns)


def _dense_entries(size: int, symmetry: str) -> int:
    """How many entries a dense file has: all, or those of the lower triangle with or without the diagonal."""
    if symmetry == "general":
        return size * size
    return size * (size - 1) // 2 if symmetry == "skew-symmetric" else size * (size + 1) // 2


def _dense(values: NDArray[Any], header: _Header) -> Rows:
    """The entries that are not zero; a dense file holds column after column."""
    places = np.flatnonzero(values)
    size = header.num_vertices
    if header.symmetry == "general":
        columns, rows = np.divmod(places, size)
    else:
        skipped = 1 + np.arange(size) if header.symmetry == "skew-symmetric" else np.arange(size)
        starts = np.cumsum(size - skipped) - (size - skipped)
        columns = np.searchsorted(starts, places, side="right") - 1
        rows = skipped[columns] + places - starts[columns]
    keys = edge_keys(0, [rows.astype(np.uint64), columns.astype(np.uint64)])
    return Rows(keys, {"weight": values[places]})


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write a coordinate file with the property `weight`, or a pattern; symmetric if undirected."""
    sources, targets, properties = graph.edges()
    field = "pattern"
    columns = [targets.astype(np.int64) + 1, sources.astype(np.int64) + 1]  # the lower triangle, if symmetric
    if graph.directed:
        columns.reverse()
    if "weight" in properties:
        weight = properties["weight"]
        check_scalar("weight", weight)
        large = weight.dtype == np.uint64 and weight.max(initial=0) >= 1 << 63
        field = "real" if weight.dtype.kind == "f" else "unsigned-integer" if large else "integer"
        columns.append(weight)
    symmetry = "general" if graph.directed else "symmetric"
    file.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n".encode())
    file.write(f"{graph.num_vertices} {graph.num_vertices} {graph.num_edges}\n".encode())
    write_rows(file, columns)
