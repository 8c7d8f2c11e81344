"""Files that would take memory or time without end, and sources that can be read only once."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from vgraph.cli.main import main
from vgraph.errors import GraphError, GraphFormatError, VGraphError
from vgraph.graph import Graph, arrays
from vgraph.io import read, streams, write
from vgraph.io.streams import TextSource

MIB = 1 << 20


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> int:
    """A machine of 64 MiB, so that what goes beyond is quickly made."""
    monkeypatch.setattr(arrays, "memory", lambda: 64 * MIB)
    return 64 * MIB


def peak(path: Path, **options: Any) -> int:
    """The bytes that reading takes, the file being refused."""
    tracemalloc.start()
    try:
        with pytest.raises(GraphFormatError):
            read(path, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("h.el", "0 3000000000"),
        ("h.el", "# 3000000000 vertices\n0 1\n"),
        ("h.el", "# vgraph: 3000000000 vertices, directed\n0 1\n"),
        ("h.gr", "p sp 3000000000 1\na 1 2 3\n"),
        ("h.col", "p edge 3000000000 1\ne 1 2\n"),
        ("h.mtx", "%%MatrixMarket matrix coordinate real general\n3000000000 3000000000 1\n1 1 1\n"),
        ("h.mtx", "%%MatrixMarket matrix array real general\n3000000000 3000000000\n1\n1\n"),
        ("h.graph", "3000000000 0\n\n\n"),
    ],
)
def test_more_vertices_than_the_memory_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setattr(arrays, "memory", lambda: 24 << 30)
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(GraphFormatError, match=r"300000000\d vertices need (48|192) GB of memory"):
        read(path)
    assert peak(path) < 2 * MIB


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("b.el", b"0 1\n"),
        ("b.wel", b"0 1 0.5\n"),
        ("b.adj", b"1 1 1 1\n"),
        ("b.graph", b"1 1 1 1\n"),
        ("b.mtx", b"1\n"),
    ],
)
def test_more_edges_than_the_memory_holds(tmp_path: Path, small_machine: int, name: str, line: bytes) -> None:
    heads = {
        "b.graph": b"500000 1000000\n",
        "b.mtx": b"%%MatrixMarket matrix array real general\n3000 3000\n",
    }
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(heads.get(name, b"") + line * (24 * MIB // len(line)), 1))
    with pytest.raises(GraphFormatError, match="more than this machine has"):
        read(path)


def test_every_reader_keeps_to_the_bytes_that_it_counts_for_a_vertex(tmp_path: Path) -> None:
    n = 400_000
    texts = {
        "n.el": (f"0 {n - 1}\n", {}),
        "n.gr": (f"p sp {n} 1\na 1 2 5\n", {}),
        "n.mtx": (f"%%MatrixMarket matrix coordinate pattern symmetric\n{n} {n} 1\n2 1\n", {}),
        "n.wel": (f"0 {n - 1} 5\n", {"directed": False, "multi_edges": "sum", "self_loops": False}),
        "n.graph": (f"{n} 0\n" + "\n" * n, {}),
    }
    for name, (text, options) in texts.items():
        path = tmp_path / name
        path.write_text(text)
        read(path, **options)  # what is imported on the way does not count
        tracemalloc.start()
        graph = read(path, **options)
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert graph.num_vertices == n
        allowed = arrays.BYTES_PER_VERTEX if name != "n.graph" else 64
        chunks = 4 * (8 << 23)  # columns of 8 bytes, of which little is touched
        assert taken - chunks < allowed * n + 4 * MIB, name


@pytest.mark.parametrize(
    ("name", "head", "filler", "reason"),
    [
        ("e.el", b"", b"\n", "first 64 KiB of the file hold no data"),
        ("e.el", b"", b" ", "first 64 KiB of the file hold no data"),
        ("e.el", b"", b"# c\n", "first 64 KiB of the file hold no data"),
        ("e.el", b"0 1\n", b"\n", "more than 64 KiB in a row hold no data"),
        ("e.el", b"0 1\n", b"# c\n", "more than 64 KiB in a row hold no data"),
        ("e.el", b"0 1\n", b" ", "is longer than 512 KiB"),
        ("e.el", b"0 1\n", b"1", "is longer than 512 KiB"),
        ("e.gr", b"", b"c\n", "first 64 KiB of the file hold no data"),
        ("e.gr", b"p sp 3 1\n", b"c\n", "more than 64 KiB in a row hold no data"),
        (
            "e.mtx",
            b"%%MatrixMarket matrix coordinate real general\n",
            b"%\n",
            "first 64 KiB of the file hold no data",
        ),
        ("e.graph", b"2 1\n2\n1\n", b"\n", "more than 64 KiB in a row hold no data"),
        ("e.graph", b"2 1\n", b" ", "is longer than 512 KiB"),
        ("e.adj", b"1 2\n", b"\n", "more than 64 KiB in a row hold no data"),
        ("unknown", b"", b"\n", "first 64 KiB of the file hold no data"),
    ],
)
def test_nothing_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, head: bytes, filler: bytes, reason: str
) -> None:
    monkeypatch.setattr(streams, "MAX_EMPTY", MIB // 16)
    monkeypatch.setattr(streams, "BLOCK", MIB // 4)
    monkeypatch.setattr(arrays, "memory", lambda: 64 * MIB)
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(head + filler * (2 * MIB // len(filler)), 1))
    with pytest.raises(GraphFormatError, match=reason):
        read(path)


def test_a_long_line_is_joined_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read before is not copied for every block that follows."""
    path = tmp_path / "long.el"
    path.write_text("# " + "x" * 100_000 + "\n0 1\n")
    monkeypatch.setattr(streams, "BLOCK", 100)
    pending = []
    whole = TextSource._read

    def watched(self: TextSource) -> bytes:
        pending.append(len(getattr(self, "_pending", b"")))
        return whole(self)

    monkeypatch.setattr(TextSource, "_read", watched)
    assert read(path).num_edges == 1
    assert len(pending) > 1000
    assert sum(pending) < 50 * len(pending) * 100


def test_a_zst_bomb(tmp_path: Path, small_machine: int) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "b.el.zst"
    compressor = zstandard.ZstdCompressor(level=1).compressobj()
    blanks = b" " * MIB
    path.write_bytes(b"".join([*(compressor.compress(blanks) for _ in range(150)), compressor.flush()]))
    assert path.stat().st_size < 16_000
    assert peak(path) < 120 * MIB


def archive(path: Path, members: dict[str, Any], **raw: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, values in members.items():
            data = io.BytesIO()
            np.save(data, values)
            file.writestr(f"{name}.npy", data.getvalue())
        for name, content in raw.items():
            file.writestr(f"{name}.npy", content)
    return path


def header(shape: str, dtype: str = "<u4") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


OWN = {
    "vgraph": 1,
    "directed": True,
    "row_offsets": np.array([0, 1], np.uint32),
    "column_indices": np.zeros(1, np.uint32),
}


@pytest.mark.parametrize(
    ("change", "raw", "reason"),
    [
        ({"column_indices": np.zeros(20 * MIB, np.uint8)}, {}, "needs 345 MiB or more"),
        ({"edge.w": np.zeros(60 * MIB, np.uint8)}, {}, "needs 75 MiB or more"),
        ({"vgraph": np.ones(MIB, np.int64)}, {}, "'vgraph' holds more than a few numbers"),
        ({}, {"row_offsets": header("(99999999999999,)")}, "'row_offsets' is not as large as it says"),
        ({}, {"row_offsets": header("(4294967296, 4294967296)")}, "is not as large as it says"),
        ({}, {"row_offsets": header("(-1,)")}, "is not as large as it says"),
        ({}, {"row_offsets": header("(" * 5000)}, "header of the array 'row_offsets' cannot be read"),
        ({}, {"row_offsets": b"\x93NUMPY\x03\x00"}, "unknown version of the .npy format"),
        ({}, {"row_offsets": b"nothing"}, "truncated or corrupt archive"),
        ({"directed": [True, False]}, {}, r"'directed' holds bool \(2,\), not one whole number"),
        ({"vgraph": 1.0}, {}, "not one whole number"),
        ({"edge.a b": [1]}, {}, "property name 'a b' must be an identifier"),
        ({"edge.\ufb01": [1]}, {}, "would be read as 'fi' by Python"),
    ],
)
def test_archives_that_promise_more(
    tmp_path: Path, small_machine: int, change: dict[str, Any], raw: dict[str, bytes], reason: str
) -> None:
    members = {name: values for name, values in (OWN | change).items() if name not in raw}
    path = archive(tmp_path / "b.npz", members, **raw)
    with pytest.raises(GraphFormatError, match=reason):
        read(path)
    assert peak(path) < 16 * MIB


def test_an_archive_within_a_bomb(tmp_path: Path, small_machine: int) -> None:
    path = tmp_path / "b.npz.gz"
    path.write_bytes(gzip.compress(b"PK\x03\x04" + bytes(80 * MIB), 1))
    assert peak(path) < 16 * MIB
    with pytest.raises(GraphFormatError, match="needs 64 MiB or more"):
        read(path)


def test_an_encrypted_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.npz", OWN)
    data = bytearray(path.read_bytes())
    for mark, flags in (
        (b"PK\x03\x04", 6),
        (b"PK\x01\x02", 8),
    ):  # the bit that says so, in both headers of each member
        at = data.find(mark)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(mark, at + 1)
    path.write_bytes(data)
    with pytest.raises(GraphFormatError, match="encrypted"):
        read(path)


def test_two_arrays_of_one_name(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.npz", OWN)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("directed.npy", header("()", "|b1") + b"\x00")
    with pytest.raises(GraphFormatError, match="two arrays of the archive have the same name"):
        read(path)


# --- paths ------------------------------------------------------------------------------------------------


def test_paths_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "loop.el").symlink_to(tmp_path / "loop.el")
    for path, reason in (
        (tmp_path / "loop.el", "symbolic links"),
        (str(tmp_path / "nul\0.el"), "null"),
        (str(tmp_path / "half\ud800.el"), "surrogates"),
        (tmp_path / ("x" * 300), "too long"),
        (tmp_path / "absent.el" / "x.el", "there is no file"),
        (tmp_path, "is a directory"),
        ("/dev/zero", "is a device"),
        (None, "a path is a str or an os.PathLike, not None"),
        (b"x.el", "a path is a str"),
    ):
        with pytest.raises(GraphError, match=reason):
            read(path)  # type: ignore[arg-type]


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1])
    for path, reason in (
        (tmp_path / "absent" / "x.el", "No such file"),
        (str(tmp_path / "nul\0.el"), "null"),
        (5, "a path is a"),
    ):
        with pytest.raises(GraphError, match=reason):
            write(graph, path)  # type: ignore[arg-type]


# --- pipes ------------------------------------------------------------------------------------------------


def through_a_pipe(path: Path, data: bytes, **options: Any) -> Graph:
    def send() -> None:
        with contextlib.suppress(BrokenPipeError):
            path.write_bytes(data)

    os.mkfifo(path)
    writer = threading.Thread(target=send)
    writer.start()
    try:
        return read(path, **options)
    finally:
        writer.join()
        path.unlink()


def test_pipes(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], weight=[5, 6])
    for name in ("g.el", "g.mtx", "g.npz", "g.npz.xz", "g.wel.zst"):
        write(graph, tmp_path / name)
        data = (tmp_path / name).read_bytes()
        assert through_a_pipe(tmp_path / f"pipe.{name}", data).edges()[2]["weight"].tolist() == [5, 6]
    assert through_a_pipe(tmp_path / "pipe", b"0 1\n1 2\n").num_edges == 2
    with pytest.raises(GraphFormatError, match=r"'x' is not a vertex id") as caught:
        through_a_pipe(tmp_path / "bad.el", b"0 1\nx 2\n")
    assert (caught.value.path, caught.value.line) == (tmp_path / "bad.el", 2)
    with pytest.raises(GraphError, match="several files, and a pipe holds one"):
        through_a_pipe(tmp_path / "g.v", b"1\n")


def test_a_pipe_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "memory", lambda: MIB)
    with pytest.raises(GraphFormatError, match="more than 0 GiB came"):
        through_a_pipe(tmp_path / "pipe.el", b"0 1\n" * MIB)


class Stdin:
    """The standard input, of these bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", Stdin(b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n")
    )
    assert read("-").num_vertices == 3
    monkeypatch.setattr(sys, "stdin", Stdin(b"0 1\n1 -\n"))
    with pytest.raises(GraphFormatError, match=r"^<stdin>:2: '-' is not a vertex id"):
        read("-", format="edgelist")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(GraphError, match="the standard input is closed"):
        read("-")


def test_the_device_of_the_standard_input() -> None:
    program = "import sys; from vgraph.io import read; print(read('/dev/stdin').num_edges)"
    found = subprocess.run(
        [sys.executable, "-c", program], input=b"0 1\n1 2\n", capture_output=True, check=True
    )
    assert found.stdout == b"2\n"


def test_commands_read_the_standard_input(tmp_path: Path) -> None:
    found = CliRunner().invoke(main, ["info", "-"], input="0 1\n1 2\n")
    assert found.exit_code == 0, found.output
    assert "arcs        2, directed" in found.output
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    found = CliRunner().invoke(main, ["info", str(tmp_path / "loop")])
    assert found.exit_code == 2
    assert "symbolic links" in found.output


def test_memory_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an allocation fails all the same, the file is refused."""

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("vgraph.graph.build.build", fail)
    (tmp_path / "g.el").write_text("0 1\n")
    with pytest.raises(VGraphError, match="the memory of this machine does not hold the graph"):
        read(tmp_path / "g.el")
