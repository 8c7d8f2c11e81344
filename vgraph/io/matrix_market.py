"""Matrix Market files: each stored entry of a square matrix is an edge, its value the `weight`.

Symmetric and hermitian matrices are undirected graphs, others directed; a skew-symmetric matrix has the arcs
(i, j, v) and (j, i, -v). A pattern matrix has no weights. Coordinate files are read here, dense ones by
SciPy. See R. F. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vgraph._arrays import max_vertices
from vgraph._build import EdgeList
from vgraph.errors import GraphError, GraphFormatError
from vgraph.graph import Graph
from vgraph.io.dimacs import check_count
from vgraph.io.options import ReadOptions
from vgraph.io.streams import CORRUPT, TextSource, compression_of, is_comment, open_compressed, quoted
from vgraph.io.table import Layout, Rows, read_edges
from vgraph.io.text import write_rows

_UNREADABLE: tuple[type[Exception], ...] = (ValueError, MemoryError, OverflowError, *CORRUPT)
_FIELDS = ("real", "double", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read(path: Path, options: ReadOptions) -> Graph:
    """Read a `.mtx` file."""
    with TextSource(path, options.progress) as source:
        form, field, symmetry = _banner(source)
        sizes = _sizes(source, 3 if form == "coordinate" else 2)
        if form == "array":
            return _read_dense(path, options, symmetric=symmetry in ("symmetric", "hermitian"))
        header_line = source.line_number - 1
        names = ("source", "target") if field == "pattern" else ("source", "target", "weight")
        rows = read_edges(source, Layout(names, 2, 1, sizes[0], comments=b"%"))
        check_count(source, rows, sizes[2], header_line, "entries")
    undirected = symmetry in ("symmetric", "hermitian")
    edges = _edges(rows, sizes[0], mirror=symmetry == "skew-symmetric")
    del rows
    return Graph.from_edge_list(edges, options.build(directed=not undirected), {})


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
    if field not in _FIELDS:
        source.fail(f"{field} entries cannot be edge weights; known are {', '.join(_FIELDS)}")
    if symmetry not in _SYMMETRIES:
        source.fail(f"unknown symmetry {symmetry!r}; known are {', '.join(_SYMMETRIES)}")
    return form, field, symmetry


def _sizes(source: TextSource, count: int) -> list[int]:
    """The line of sizes, the first that is no comment."""
    while (line := source.line()) is not None and is_comment(line, b"%"):
        pass
    if line is None:
        source.fail("the file ends before the line of sizes")
    words = line.split()
    if len(words) != count or not all(word.isdigit() for word in words):
        source.fail(f"expected {count} whole numbers (rows, columns, entries), got {quoted(line)}")
    sizes = [int(word) for word in words]
    if sizes[0] != sizes[1]:
        source.fail(f"a graph needs a square matrix, this one is {sizes[0]} x {sizes[1]}")
    if sizes[0] > max_vertices():
        source.fail(f"{sizes[0]} vertices declared; this machine holds at most {max_vertices()}")
    return sizes


def _edges(rows: Rows, num_vertices: int, *, mirror: bool) -> EdgeList:
    """The entries as edges; mirrored with the opposite sign if the matrix is skew-symmetric."""
    if not mirror:
        return EdgeList(rows.keys, rows.columns, num_vertices)
    keys = rows.keys
    both = np.concatenate((keys, (keys << np.uint64(32)) | (keys >> np.uint64(32))))
    columns: dict[str, NDArray[Any]] = {
        name: np.concatenate((values, -values)) for name, values in rows.columns.items()
    }
    return EdgeList(both, columns, num_vertices)


def _read_dense(path: Path, options: ReadOptions, *, symmetric: bool) -> Graph:
    """A dense file: its nonzero entries."""
    from scipy.io import mmread
    from scipy.sparse import coo_array

    with open_compressed(path, compression_of(path), "rb") as file:
        try:
            matrix = coo_array(np.asarray(mmread(file)))
        except _UNREADABLE as error:
            raise GraphFormatError(path, None, str(error)) from None
    sources, targets, entries = matrix.row, matrix.col, matrix.data
    build = options.build(directed=not symmetric)
    if symmetric and not build.directed:
        once = sources <= targets
        sources, targets, entries = sources[once], targets[once], entries[once]
    return Graph.from_edges(
        sources,
        targets,
        num_vertices=matrix.shape[0],
        directed=build.directed,
        self_loops=build.self_loops,
        multi_edges=build.multi_edges,
        id_bits=build.id_bits,
        weight=entries,
    )


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write a coordinate file with the property `weight`, or a pattern; symmetric if undirected."""
    sources, targets, properties = graph.edges()
    field = "pattern"
    columns = [targets.astype(np.int64) + 1, sources.astype(np.int64) + 1]  # the lower triangle, if symmetric
    if graph.directed:
        columns.reverse()
    if "weight" in properties:
        weight = properties["weight"]
        if weight.ndim != 1:
            raise GraphError("edge property 'weight' holds vectors, which are no matrix entries")
        field = "real" if weight.dtype.kind == "f" else "integer"
        columns.append(weight)
    symmetry = "general" if graph.directed else "symmetric"
    file.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n".encode())
    file.write(f"{graph.num_vertices} {graph.num_vertices} {graph.num_edges}\n".encode())
    write_rows(file, columns)
