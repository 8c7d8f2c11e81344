"""`read` and `write`: which format a file has, and who reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from vgraph.errors import GraphError, GraphFormatError
from vgraph.graph import Graph
from vgraph.graph.build import MultiEdges
from vgraph.io import dimacs, edgelist, graphalytics, matrix_market, metis, npz, ratings
from vgraph.io.compression import as_path, open_compressed, strip_compression, why
from vgraph.io.options import ReadOptions
from vgraph.io.spool import readable
from vgraph.io.streams import Progress, TextSource, is_comment
from vgraph.tracebacks import public

READERS: dict[str, Callable[..., Graph]] = {
    "dimacs": dimacs.read,
    "edgelist": edgelist.read,
    "matrix_market": matrix_market.read,
    "metis": metis.read,
    "npz": npz.read,
    "graphalytics": graphalytics.read,
    "adjacency": graphalytics.read_adjacency,
    "ratings": ratings.read,
}
WRITERS: dict[str, Callable[[Graph, IO[bytes]], None]] = {
    "dimacs": dimacs.write,
    "edgelist": edgelist.write,
    "matrix_market": matrix_market.write,
    "metis": metis.write,
    "npz": npz.write,
}
SUFFIXES = {
    ".gr": "dimacs",
    ".col": "dimacs",
    ".el": "edgelist",
    ".wel": "edgelist",
    ".txt": "edgelist",
    ".tsv": "edgelist",
    ".csv": "edgelist",
    ".edges": "edgelist",
    ".mtx": "matrix_market",
    ".graph": "metis",
    ".metis": "metis",
    ".npz": "npz",
    ".v": "graphalytics",
    ".e": "graphalytics",
    ".properties": "graphalytics",
    ".adj": "adjacency",
}
_SAMPLE_LINES = 20


@public
def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    self_loops: bool = True,
    multi_edges: MultiEdges = True,
    id_bits: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Graph:
    """Read a graph file, plain or compressed with gz, xz, bz2 or zst; vertices are numbered from 0 in its
    order.

    `path`: a file, a pipe, or "-" for the standard input, which are copied to a temporary file first. `format`: dimacs
    (`.gr` with `.co` beside it, `.col`), edgelist (`.el .wel .txt .tsv .csv`), matrix_market (`.mtx`), metis (`.graph
    .metis`), npz, graphalytics (`.v .e .properties`), adjacency, or ratings (`vg.read_ratings`), which no suffix tells;
    by default from the suffix, else from the content. `directed`: None leaves it to the format: METIS, PACE, DIMACS
    edges and symmetric matrices are undirected, edge lists and DIMACS arcs are directed. `self_loops`, `multi_edges`,
    `id_bits`: as in `Graph.from_edges`. `progress(done, total)` is called with bytes of the file. `options` are those
    of the format's own reader.

    Raises GraphFormatError, with file, line and reason, on a malformed file, or one that the memory does not hold;
    GraphError if the file cannot be opened.
    """
    common = ReadOptions(directed, self_loops, multi_edges, id_bits, progress)
    common.build(directed=True)  # checks the options before a long file is read
    if format is not None and not (isinstance(format, str) and format in READERS):
        raise GraphError(f"unknown format {format!r}; known are {', '.join(READERS)}")
    if progress is not None and not callable(progress):
        raise GraphError(f"progress is a function of the bytes read and the bytes to read, not {progress!r}")
    with readable(path) as file:
        name = format or detect(file)
        if name == "graphalytics" and file != Path(path):
            raise GraphError(f"{path}: a Graphalytics data set has several files, and a pipe holds one")
        try:
            return READERS[name](file, common, **options)
        except MemoryError:
            raise GraphFormatError(file, None, "the memory of this machine does not hold the graph") from None
        except TypeError as error:
            if "unexpected keyword argument" not in str(error):
                raise
            raise GraphError(f"the {name} reader takes no option {str(error).rsplit(' ', 1)[-1]}") from None


@public
def write(graph: Graph, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a graph to a file whose suffix, or `format`, says how; a second suffix gz, xz, bz2 or zst
    compresses.

    `.npz` keeps everything. `.el`, `.wel`, `.txt`, `.tsv` and `.csv` keep the scalar edge properties, `.gr`,
    `.mtx` and `.graph` keep `weight`; beside a `.gr` file, vertex properties `x` and `y` are written as
    `.co`. Raises GraphError for what the format cannot hold, and where the file cannot be written.
    """
    path = as_path(path)
    plain = strip_compression(path)
    name = format or SUFFIXES.get(plain.suffix)
    if name not in WRITERS:
        known = ", ".join(WRITERS)
        raise GraphError(
            f"cannot write {path.name!r}: no writer for this suffix; pass format= one of {known}"
        )
    writer = WRITERS[name]
    if name == "edgelist":
        writer = {".csv": edgelist.write_csv, ".tsv": edgelist.write_tsv}.get(plain.suffix, writer)
    compression = path.suffix[1:] if plain != path else None
    _write(graph, path, compression, writer)
    if name == "dimacs" and {"x", "y"} <= set(graph.vertex_properties):
        beside = plain.with_suffix(".co")
        beside = beside.with_name(beside.name + path.suffix) if compression else beside
        _write(graph, beside, compression, dimacs.write_coordinates)


def _write(
    graph: Graph, path: Path, compression: str | None, writer: Callable[[Graph, IO[bytes]], None]
) -> None:
    """Write to a file beside `path` that takes its name when it is complete."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        try:
            with open_compressed(partial, compression, "wb") as file:
                writer(graph, file)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except GraphError:
        raise
    except (OSError, ValueError) as error:
        raise GraphError(f"the file {str(path)!r} cannot be written: {why(error)}") from None


def detect(path: Path) -> str:
    """The format of a file, by its suffix, else by its first lines."""
    suffix = strip_compression(path).suffix
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    with TextSource(path) as source:
        lines: list[bytes] = []
        first = source.peek()
        while len(lines) < _SAMPLE_LINES and (line := source.line()) is not None:
            if not is_comment(line):
                lines.append(line)
    if first is None:
        raise GraphFormatError(path, None, "the file is empty")
    if first.lower().startswith(b"%%matrixmarket"):
        return "matrix_market"
    if first.startswith(b"PK\x03\x04"):
        return "npz"
    if lines and lines[0].split()[0] in (b"c", b"p"):
        return "dimacs"
    widths = {len(line.replace(b",", b" ").split()) for line in lines}
    if widths in ({2}, {3}):
        return "edgelist"
    raise GraphFormatError(path, None, f"cannot tell the format; pass format= one of {', '.join(READERS)}")
