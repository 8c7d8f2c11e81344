"""NumPy archives: vgraph's own, which keep everything, and those of `scipy.sparse.save_npz`.

Ours hold `vgraph` (format number), `row_offsets`, `column_indices`, `directed`, and the properties as
`edge.<name>` (one row per arc) and `vertex.<name>`. Nothing in them is pickled.
"""

from __future__ import annotations

import io
import math
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from vgraph.errors import GraphError, GraphFormatError
from vgraph.graph import Graph, arrays
from vgraph.graph.build import BuildOptions, sources_of
from vgraph.io.compression import CORRUPT, compression_of, open_compressed, open_file
from vgraph.io.options import ReadOptions

FORMAT = 1
_CORRUPT: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    ValueError,
    RuntimeError,  # an encrypted member, or one compressed in a way that Python does not know
    *CORRUPT,
)
_MAGIC = b"PK\x03\x04"
_PIECE = 1 << 20
_SMALL = 1 << 12
_BYTES_PER_ARC = 16  # what sorting rows, or finding the other arc of each edge, takes beside the arrays


def read(path: Path, options: ReadOptions) -> Graph:
    """Read a `.npz` file."""
    try:
        with open_file(path) as file:
            compression = compression_of(file, path)
            if compression is None:
                return _read(path, file, options)
            with open_compressed(file, compression, "rb") as packed, tempfile.TemporaryFile() as plain:
                _unpack(packed, plain)
                return _read(path, plain, options)
    except GraphFormatError:
        raise
    except GraphError as error:
        raise GraphFormatError(path, None, str(error)) from None
    except _CORRUPT as error:
        raise GraphFormatError(path, None, f"truncated or corrupt archive: {error}") from None


def _unpack(packed: IO[bytes], plain: IO[bytes]) -> None:
    """Decompress an archive to a file, because it is read back and forth."""
    left = arrays.memory()
    while piece := packed.read(_PIECE):
        left -= len(piece)
        if left < 0:
            raise GraphError(_too_large(arrays.memory() + 1))
        plain.write(piece)
    plain.seek(0)


def _too_large(size: int) -> str:
    return f"the archive needs {size >> 20} MiB or more, and this machine has a memory of {arrays.memory() >> 20} MiB"


class _Archive:
    """The arrays of an archive. Each is read once, when it is asked for, and belongs to who asks."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file)
        members = self._zip.infolist()
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) < len(members):
            raise GraphError("two arrays of the archive have the same name")
        self._size = sum(member.file_size for member in members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def check_memory(self, name: str) -> None:
        """Refuse an archive whose graph does not fit the memory; the array `name` has an element for each arc."""
        needed = self._size * 5 // 4 + _BYTES_PER_ARC * math.prod(self._shape(name))
        if needed > arrays.memory():
            raise GraphError(_too_large(needed))

    def array(self, name: str) -> NDArray[Any]:
        """The array of this name."""
        self._shape(name)
        with self._zip.open(self._members[name]) as file:
            array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
        return array

    def _shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, whose header is compared with its size before memory is asked for."""
        if name not in self._members:
            raise GraphError(f"the archive lacks the array {name!r}")
        member = self._members[name]
        with self._zip.open(member) as file:
            version = npy.read_magic(file)
            read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
            if read_header is None:
                raise GraphError(f"the array {name!r} is of an unknown version of the .npy format")
            try:
                shape, _, dtype = read_header(file)
            except Exception:  # NumPy evaluates the header, and hands on what that raises
                raise GraphError(f"the header of the array {name!r} cannot be read") from None
            if dtype.hasobject:
                raise GraphError(f"the array {name!r} holds Python objects")
            if math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
                raise GraphError(f"the array {name!r} is not as large as it says")
        return tuple(shape)

    def small(self, name: str) -> NDArray[Any]:
        """An array of a few numbers or letters."""
        if name in self._members and self._members[name].file_size > _SMALL:
            raise GraphError(f"the array {name!r} holds more than a few numbers")
        return self.array(name)

    def number(self, name: str) -> int:
        """The one whole number, or truth value, that an array holds."""
        array = self.small(name)
        if array.size != 1 or array.dtype.kind not in "iub":
            raise GraphError(f"the array {name!r} holds {array.dtype} {array.shape}, not one whole number")
        return int(array.item())

    def properties(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The arrays whose names begin with `prefix`, by the rest of their names."""
        names = [name for name in self._members if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.array(name) for name in names}


def _read(path: Path, file: IO[bytes], options: ReadOptions) -> Graph:
    head = file.read(4)
    file.seek(0)
    if head != _MAGIC:
        raise GraphFormatError(path, None, "this is no .npz archive" if head else "the file is empty")
    archive = _Archive(file)
    if options.progress is not None:
        size = path.stat().st_size
        options.progress(size, size)
    if "vgraph" in archive:
        return _read_own(archive, options)
    if "format" in archive and "shape" in archive:
        return _read_scipy(archive, options)
    raise GraphError("the archive was written neither by vgraph nor by scipy.sparse.save_npz")


def _read_own(archive: _Archive, options: ReadOptions) -> Graph:
    version = archive.number("vgraph")
    if version != FORMAT:
        raise GraphError(f"format {version} of the archive is unknown; this vgraph reads {FORMAT}")
    directed = bool(archive.number("directed"))
    archive.check_memory("column_indices")
    offsets, columns = archive.array("row_offsets"), archive.array("column_indices")
    edge, vertex = archive.properties("edge."), archive.properties("vertex.")
    id_bits = options.id_bits or (64 if columns.dtype == np.uint64 else None)
    graph = Graph.from_rows(offsets, columns, directed, id_bits, edge, vertex, copy=False)
    return _as_asked(graph, options, directed)


def _read_scipy(archive: _Archive, options: ReadOptions) -> Graph:
    """An archive of `scipy.sparse.save_npz`; entries become the property `weight`."""
    word, shape = archive.small("format"), archive.small("shape")
    form = word.astype(str).item() if word.size == 1 and word.dtype.kind in "SU" else "something else"
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1]:
        size = " x ".join(map(str, shape.ravel().tolist()))
        raise GraphError(f"a graph needs a square matrix, this one is {size}")
    archive.check_memory("data")
    weight = {"weight": archive.array("data")}
    if form == "csr":
        offsets, columns = archive.array("indptr"), archive.array("indices")
        if offsets.size != int(shape[0]) + 1:
            raise GraphError(f"the matrix has {shape[0]} rows, but {offsets.size} row offsets")
        graph = Graph.from_rows(offsets, columns, True, options.id_bits, weight, {}, copy=False)
    elif form == "coo":
        ends = archive.array("row"), archive.array("col")
        build = BuildOptions(id_bits=options.id_bits)
        graph = Graph.from_ends(*ends, int(shape[0]), build, weight, {})
    else:
        raise GraphError(f"the matrix is stored as {form}; save it as csr or coo")
    return _as_asked(graph, options, True)


def _as_asked(graph: Graph, options: ReadOptions, stored_directed: bool) -> Graph:
    """The graph with the edges and direction that `options` ask for."""
    build = options.build(directed=stored_directed)
    if build.directed == stored_directed and build.self_loops and build.multi_edges is True:
        return graph
    sources, targets, properties = graph.edges()
    if build.directed:  # an undirected graph holds every edge as two arcs
        sources = sources_of(graph.out.row_offsets, graph.id_dtype)
        targets, properties = graph.out.column_indices, dict(graph.edge_properties)
    return Graph.from_ends(sources, targets, graph.num_vertices, build, properties, graph.vertex_properties)


def write(graph: Graph, file: IO[bytes]) -> None:
    """Write everything that the graph holds, uncompressed."""
    members: dict[str, Any] = {
        "vgraph": np.int64(FORMAT),
        "directed": np.bool_(graph.directed),
        "row_offsets": graph.out.row_offsets,
        "column_indices": graph.out.column_indices,
    }
    members |= {f"edge.{name}": values for name, values in graph.edge_properties.items()}
    members |= {f"vertex.{name}": values for name, values in graph.vertex_properties.items()}
    if isinstance(file, io.BufferedWriter):
        np.savez(file, allow_pickle=False, **members)
        return
    buffer = io.BytesIO()  # an archive is written back and forth, which no compressed stream allows
    np.savez(buffer, allow_pickle=False, **members)
    file.write(buffer.getbuffer())
