"""NumPy archives: vgraph's own, which keep everything, and those of `scipy.sparse.save_npz`.

Ours hold `vgraph` (format number), `row_offsets`, `column_indices`, `directed`, and the properties as
`edge.<name>` (one row per arc) and `vertex.<name>`. Nothing in them is pickled.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError, GraphFormatError
from vgraph.graph import Graph
from vgraph.io.options import ReadOptions
from vgraph.io.streams import CORRUPT, compression_of, open_compressed

FORMAT = 1
_CORRUPT: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    ValueError,
    KeyError,
    NotImplementedError,
    MemoryError,
    *CORRUPT,
)


def read(path: Path, options: ReadOptions) -> Graph:
    """Read a `.npz` file."""
    compression = compression_of(path)
    try:
        if compression is None:
            with path.open("rb") as file:
                return _read(path, file, options)
        with open_compressed(path, compression, "rb") as packed:
            return _read(path, io.BytesIO(packed.read()), options)
    except GraphFormatError:
        raise
    except GraphError as error:
        raise GraphFormatError(path, None, str(error)) from None
    except _CORRUPT as error:
        raise GraphFormatError(path, None, f"truncated or corrupt archive: {error}") from None


def _read(path: Path, file: IO[bytes], options: ReadOptions) -> Graph:
    head = file.read(4)
    file.seek(0)
    if head != b"PK\x03\x04":
        raise GraphFormatError(path, None, "this is no .npz archive" if head else "the file is empty")
    with np.load(file, allow_pickle=False) as archive:
        if options.progress is not None:
            size = path.stat().st_size
            options.progress(size, size)
        if "vgraph" in archive:
            return _read_own(path, archive, options)
        if "format" in archive and "shape" in archive:
            return _read_scipy(path, archive, options)
    raise GraphFormatError(
        path, None, "the archive was written neither by vgraph nor by scipy.sparse.save_npz"
    )


def _read_own(path: Path, archive: Any, options: ReadOptions) -> Graph:
    version = int(archive["vgraph"])
    if version != FORMAT:
        raise GraphFormatError(
            path, None, f"format {version} of the archive is unknown; this vgraph reads {FORMAT}"
        )
    stored_directed = bool(archive["directed"])
    offsets, columns = _frozen(archive["row_offsets"]), _frozen(archive["column_indices"])
    edge, vertex = _properties(archive, "edge."), _properties(archive, "vertex.")
    id_bits = options.id_bits or (64 if columns.dtype == np.uint64 else None)
    graph = Graph.from_csr(
        offsets, columns, directed=stored_directed, id_bits=id_bits, vertex_properties=vertex, **edge
    )
    return _as_asked(graph, options, stored_directed)


def _read_scipy(path: Path, archive: Any, options: ReadOptions) -> Graph:
    """An archive of `scipy.sparse.save_npz`; entries become the property `weight`."""
    form = (
        str(archive["format"].item(), "ascii")
        if archive["format"].dtype.kind == "S"
        else str(archive["format"])
    )
    rows, columns = (int(size) for size in archive["shape"])
    if rows != columns:
        raise GraphFormatError(path, None, f"a graph needs a square matrix, this one is {rows} x {columns}")
    weight = _frozen(archive["data"])
    if form == "csr":
        graph = Graph.from_csr(
            _frozen(archive["indptr"]), _frozen(archive["indices"]), id_bits=options.id_bits, weight=weight
        )
    elif form == "coo":
        graph = Graph.from_edges(
            archive["row"], archive["col"], num_vertices=rows, id_bits=options.id_bits, weight=weight
        )
    else:
        raise GraphFormatError(path, None, f"the matrix is stored as {form}; save it as csr or coo")
    return _as_asked(graph, options, True)


def _as_asked(graph: Graph, options: ReadOptions, stored_directed: bool) -> Graph:
    """The graph with the edges and direction that `options` ask for."""
    build = options.build(directed=stored_directed)
    if build.directed == stored_directed and build.self_loops and build.multi_edges is True:
        return graph
    sources, targets, properties = graph.edges()
    return Graph.from_edges(
        sources,
        targets,
        num_vertices=graph.num_vertices,
        directed=build.directed,
        self_loops=build.self_loops,
        multi_edges=build.multi_edges,
        id_bits=build.id_bits,
        vertex_properties=graph.vertex_properties,
        **properties,
    )


def _properties(archive: Any, prefix: str) -> dict[str, NDArray[Any]]:
    return {name[len(prefix) :]: _frozen(archive[name]) for name in archive.files if name.startswith(prefix)}


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Read-only, so that the graph takes the array over instead of copying it."""
    array.flags.writeable = False
    return array


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write everything that the graph holds, uncompressed."""
    arrays: dict[str, Any] = {
        "vgraph": np.int64(FORMAT),
        "directed": np.bool_(graph.directed),
        "row_offsets": graph.out.row_offsets,
        "column_indices": graph.out.column_indices,
    }
    arrays |= {f"edge.{name}": values for name, values in graph.edge_properties.items()}
    arrays |= {f"vertex.{name}": values for name, values in graph.vertex_properties.items()}
    if isinstance(file, io.BufferedWriter):
        np.savez(file, allow_pickle=False, **arrays)
        return
    buffer = io.BytesIO()  # an archive is written back and forth, which no compressed stream allows
    np.savez(buffer, allow_pickle=False, **arrays)
    file.write(buffer.getbuffer())
