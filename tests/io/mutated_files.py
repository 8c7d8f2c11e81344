"""Valid graph files of every format, and mutations of them."""

from __future__ import annotations

import io
import random
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from vgraph.graph import Graph
from vgraph.io import write
from vgraph.io.compression import open_compressed
from vgraph.io.formats import READERS

Files = dict[str, bytes]  # what lies in the folder; the first is read

# --- valid files ------------------------------------------------------------------------------------------

_TEXTS: dict[str, str] = {
    "plain.el": "# 6 vertices\n0 1\n1 2\n\n2 0 # back\n% end\n2 3\n",
    "hint.txt": "# FromNodeId ToNodeId, 120 vertices\n0\t1\n1\t2\n",
    "weights.wel": "0 1 5\n1 2 -7\n2 0 1.25\n2 3 1e3\n3 3 +4\n3 1 .5\n0 3 inf\n0 2 nan\n",
    "names.csv": "weight,source,target\n5,0,1\n7,1,2\n2.5,2,0\n",
    "quotes.csv": '"target","source","cost","lanes"\n"1","0","2.5","3"\n"2","1","1","4"\n',
    "windows.csv": "\ufeffsource,target\r\n0,1\r\n1,2\r\n",
    "ours.tsv": "# vgraph: 5 vertices, undirected\nsource\ttarget\tcost\n0\t1\t1.5\n1\t2\t2.0\n",
    "arcs.gr": "c roads\np sp 4 3\na 1 2 5\na 2 3 6\nc between\na 4 1 -7\n",
    "pace.gr": "p tw 4 3\n1 2\n2 3\n4 1\n",
    "colors.col": "c graph\np edge 4 3\ne 1 2\ne 2 3\ne 4 1\n",
    "real.mtx": "%%MatrixMarket matrix coordinate real general\n% c\n3 3 3\n1 1 1.5D+02\n2 3 2e-3\n3 1 -1\n",
    "symmetric.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 5\n",
    "skew.mtx": "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 2\n3 2 5.5\n",
    "pattern.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 3\n",
    "dense.mtx": "%%MatrixMarket matrix array real general\n2 2\n1.5\n0\n-2\n3\n",
    "triangle.mtx": "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n0\n2\n3\n0\n6\n",
    "plain.graph": "% c\n4 3\n2 3\n1\n1 4\n3\n",
    "weights.graph": "3 2 111 2\n1 10 20 2 7\n2 11 21 1 7 3 8\n3 12 22 2 8\n",
    "edges.metis": "3 2 1\n2 5\n1 5 3 6\n2 6\n",
    "lists.adj": "10 20 30\n20 10\n\n# c\n30 10 40\n",
}
_COORDINATES = "c places\np aux sp co 4\nv 1 10 20\nv 2 -5 7\nv 3 1.5 0\nv 4 0 0\n"
_LDBC = {
    "g.v": "10 0.5\n20 1.5\n7 2.5\n",
    "g.e": "10 20 5\n20 7 6\n",
    "g.properties": "# settings\ngraph.g.directed = false\ngraph.g.vertex-properties.names = height\n"
    "graph.g.edge-properties.names = cost\n",
}
_SUFFIXES = ("", "", "", ".gz", ".xz", ".bz2", ".zst")


def seeds() -> list[Files]:
    """Valid files of every format; archives as their bytes."""
    cases: list[Files] = [{name: text.encode()} for name, text in _TEXTS.items()]
    cases.append({"arcs.gr": _TEXTS["arcs.gr"].encode(), "arcs.co": _COORDINATES.encode()})
    parts = {name: text.encode() for name, text in _LDBC.items()}
    cases += [{first: parts[first], **parts} for first in parts]
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(
        *rng.integers(0, 9, (2, 30)), directed=False, weight=rng.random(30), lanes=rng.integers(0, 4, (30, 2))
    ).with_vertex_property("x", np.arange(9))
    with tempfile.TemporaryDirectory() as folder:
        from scipy import sparse

        paths = [Path(folder) / f"{name}.npz" for name in ("own", "directed", "csr", "coo")]
        write(graph, paths[0])
        write(Graph.from_edges([0, 1], [1, 2], id_bits=64, w=[1, 2]), paths[1])
        sparse.save_npz(paths[2], graph.to_scipy("weight").astype(np.float32))
        sparse.save_npz(paths[3], graph.to_scipy("weight").tocoo(), compressed=False)
        cases += [{path.name: path.read_bytes()} for path in paths]
    return cases


# --- mutations --------------------------------------------------------------------------------------------

_NUMBERS = [
    *(
        "0",
        "1",
        "-1",
        "-0",
        "+3",
        "007",
        "0100",
        "2",
        "3",
        "4",
        "5",
        "255",
        "65536",
        "2147483647",
        "2147483648",
    ),
    *("4294967295", "4294967296", "3000000000", "99999999999", "9223372036854775807", "9223372036854775808"),
    *("-9223372036854775808", "18446744073709551615", "18446744073709551616", "1" + "0" * 25, "9" * 4301),
    *(
        "2.5",
        "3.0",
        "1e400",
        "-1e400",
        "1e-400",
        "1.5D+02",
        "5-",
        "--5",
        "1e",
        ".",
        "-",
        "1_000",
        "0x10",
        "nan",
    ),
    *(
        "inf",
        "-Infinity",
        "1e25",
        "0." + "3" * 3000,
        "\u0661",
        "",
        '"7"',
        '"',
        "a",
        "e",
        "c",
        "p",
        "#",
        "%",
        ",",
    ),
]
_PIECES = [
    *(b"\n", b"\r\n", b"\r", b" ", b"\t", b",", b'"', b"#", b"%", b"\x00", b"\xef\xbb\xbf", b"\xff", b"\x0b"),
    *(b"\n" * 5000, b" " * 5000, b"1 " * 3000, b"vertices", b"source,target,source\n", b"# 7 vertices\n"),
    *(b"# vgraph: 3 vertices, directed\n", b"inf nan\n", "\ufb01".encode(), b"cls", b"self"),
]


def _token(rng: random.Random, data: bytes) -> bytes:
    """A number for a word of the text."""
    words = data.split(b" ")
    words[rng.randrange(len(words))] = rng.choice(_NUMBERS).encode()
    return b" ".join(words)


def _field(rng: random.Random, data: bytes) -> bytes:
    """A number for a word of one line, whatever separates the words."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    separator = rng.choice([s for s in (b" ", b"\t", b",") if s in lines[at]] or [b" "])
    words = lines[at].split(separator)
    words[rng.randrange(len(words))] = rng.choice(_NUMBERS).encode()
    lines[at] = separator.join(words)
    return b"\n".join(lines)


def _lines(rng: random.Random, data: bytes) -> bytes:
    """Lines dropped, doubled, swapped or moved to the end."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines[j:j] = [lines[i]] * rng.choice((1, 2, 50))
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.append(lines.pop(i))
    return b"\n".join(lines)


def _digit(rng: random.Random, data: bytes) -> bytes:
    """Another digit for a digit."""
    places = [place for place, byte in enumerate(data) if 48 <= byte < 58]
    if not places:
        return data
    at = rng.choice(places)
    return data[:at] + rng.choice("0123456789").encode() + data[at + 1 :]


def _flip(rng: random.Random, data: bytes) -> bytes:
    """Bits of a few bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes) -> bytes:
    """A range dropped or repeated, or the end."""
    i, j = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice(
        (data[:i] + data[j:], data[:j] + data[i:], data[:i], data[:j] + data[i:j] * 20 + data[j:])
    )


def _insert(rng: random.Random, data: bytes) -> bytes:
    """Something from a list, or random bytes."""
    at = rng.randrange(len(data) + 1)
    piece = rng.choice(_PIECES) if rng.random() < 0.8 else rng.randbytes(rng.randrange(1, 9))
    return data[:at] + piece + data[at:]


def _splice(rng: random.Random, data: bytes) -> bytes:
    """The beginning of this file and the end of another."""
    other = rng.choice(list(_TEXTS.values())).encode()
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other)) :]


_MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    _digit,
    _digit,
    _token,
    _field,
    _field,
    _lines,
    _flip,
    _cut,
    _insert,
    _splice,
]


def _mutated(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 1, 2, 4))):
        data = rng.choice(_MUTATIONS)(rng, data)
    return data


def _repacked(rng: random.Random, data: bytes) -> bytes:
    """An archive whose members are mutated, whose checksums are right all the same."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(packed, "w") as new,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of names that come twice
        members = [(name, old.read(name)) for name in old.namelist()]
        chosen = rng.randrange(len(members))
        for index, (name, content) in enumerate(members):
            if index == chosen:
                how = rng.randrange(6)
                if how == 0:
                    continue
                if how == 1:
                    name = (
                        rng.choice(
                            (
                                "edge.cls",
                                "edge.self",
                                "edge.\ufb01",
                                "edge.",
                                "vertex.a b",
                                members[0][0][:-4],
                            )
                        )
                        + ".npy"
                    )
                elif how == 2:
                    content = _array(rng)
                else:
                    content = _mutated(rng, content)
            new.writestr(name, content, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    return packed.getvalue()


def _array(rng: random.Random) -> bytes:
    """Another array, of another shape or type; one claims a size that it does not have."""
    file = io.BytesIO()
    values: list[Any] = [
        np.arange(3),
        np.zeros((2, 2)),
        np.float64(2.5),
        np.array([-1, 5]),
        np.array(["csr"]),
        np.empty(0),
    ]
    values += [np.array([1 << 63], np.uint64), np.array([1j]), np.zeros((1, 2, 3)), np.array([True, False])]
    np.save(file, rng.choice(values))
    return file.getvalue().replace(b"(3,)", rng.choice((b"(3,)", b"(9999999999999,)", b"(-1,)", b"(2**9,)")))


def mutation(rng: random.Random, cases: list[Files]) -> tuple[Files, dict[str, Any]]:
    """One case of many: files of which one is mutated, perhaps compressed, and options to read them with."""
    files = dict(rng.choice(cases))
    first, chosen = next(iter(files)), rng.choice(list(files))
    if chosen.endswith(".npz") and rng.random() < 0.6:
        files[chosen] = _repacked(rng, files[chosen])
    else:
        files[chosen] = _mutated(rng, files[chosen])
    suffix = rng.choice(_SUFFIXES)
    if suffix:
        packed = io.BytesIO()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "packed"
            with open_compressed(path, suffix[1:], "wb") as file:
                file.write(files[chosen])
            packed = path.read_bytes()
        del files[chosen]
        files[chosen + suffix] = rng.choice((_flip, _cut))(rng, packed) if rng.random() < 0.2 else packed
        first = first + suffix if first == chosen else first
    options: dict[str, Any] = {"directed": rng.choice((None, None, True, False))}
    if rng.random() < 0.05:
        options["format"] = rng.choice(list(READERS))
    if rng.random() < 0.2:
        options["multi_edges"] = rng.choice((False, "min", "sum"))
    if rng.random() < 0.1 and first.endswith((".csv", ".tsv", ".wel", ".el", ".txt")):
        options |= rng.choice(
            ({"num_vertices": 4}, {"edge_properties": ["cost"]}, {"source": "target", "target": "source"})
        )
    return {first: files.pop(first), **files}, options
