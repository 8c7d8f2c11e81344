"""What is written is read back: every format, plain and compressed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vgraph.errors import GraphError, GraphFormatError
from vgraph.graph import Graph
from vgraph.io import read, streams, write
from vgraph.io.streams import open_compressed

COMPRESSIONS = ["", ".gz", ".xz", ".bz2", ".zst"]


def contents(graph: Graph) -> dict[str, Any]:
    """Everything that a text format keeps."""
    return {
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "offsets": graph.out.row_offsets.tolist(),
        "columns": graph.out.column_indices.tolist(),
        "properties": {name: values.tolist() for name, values in graph.edge_properties.items()},
    }


def example(*, directed: bool, weight: Any, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    sources, targets = rng.integers(0, 40, (2, 120))
    values = {} if weight is None else {"weight": rng.integers(-50, 1000, 120).astype(weight) / weight(4)}
    if weight is np.int32:
        values = {"weight": rng.integers(0, 1000, 120).astype(np.int32)}
    return Graph.from_edges(sources, targets, num_vertices=45, directed=directed, **values)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("suffix", [".npz", ".el", ".wel", ".txt", ".tsv", ".csv", ".mtx", ".graph", ".gr"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, np.int32, np.float64])
def test_round_trip(tmp_path: Path, suffix: str, compression: str, directed: bool, weight: Any) -> None:
    graph = example(directed=directed, weight=weight)
    path = tmp_path / f"graph{suffix}{compression}"
    refused = (suffix == ".graph" and (directed or weight is np.float64)) or (
        suffix == ".gr" and directed and weight is None
    )
    if refused:
        with pytest.raises(GraphError):
            write(graph, path)
        assert list(tmp_path.iterdir()) == []
        return
    write(graph, path)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    again = read(path)
    if suffix == ".gr" and not directed and weight is not None:
        assert again.directed  # both arcs of every edge
        assert again.num_edges == graph.num_arcs
        again = Graph.from_csr(
            again.out.row_offsets, again.out.column_indices, directed=False, **again.edge_properties
        )
    assert contents(again) == contents(graph)


def test_npz_keeps_everything(tmp_path: Path) -> None:
    graph = Graph.from_edges(
        [3, 0, 1],
        [0, 1, 1],
        directed=False,
        id_bits=64,
        weight=np.array([1, 2, 3], np.uint64),
        color=[[True, False]] * 3,
        vertex_properties={"x": np.arange(4, dtype=np.float32)},
    )
    write(graph, tmp_path / "g.npz")
    again = read(tmp_path / "g.npz")
    assert repr(again) == repr(graph)
    assert contents(again) == contents(graph)
    assert again.id_dtype == np.uint64
    assert again.vertex_properties["x"].tolist() == [0, 1, 2, 3]
    assert read(tmp_path / "g.npz", self_loops=False).num_edges == 2
    both = read(tmp_path / "g.npz", directed=True)  # the same arcs, each an edge of its own
    assert (both.num_edges, both.out.column_indices.tolist()) == (5, graph.out.column_indices.tolist())


def test_npz_of_scipy(tmp_path: Path) -> None:
    from scipy import sparse

    matrix = sparse.random_array((20, 20), density=0.2, rng=np.random.default_rng(0), format="csr")
    for form in ("csr", "coo"):
        sparse.save_npz(tmp_path / "m.npz", matrix.asformat(form))
        graph = read(tmp_path / "m.npz")
        np.testing.assert_array_equal(graph.to_scipy().toarray(), matrix.toarray())


def test_coordinates_are_written_beside(tmp_path: Path) -> None:
    graph = Graph.from_edges(
        [0, 1], [1, 2], weight=[5, 6], vertex_properties={"x": [1.5, 2, 3], "y": [-1, -2, 9]}
    )
    write(graph, tmp_path / "g.gr.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.co.gz", "g.gr.gz"]
    again = read(tmp_path / "g.gr.gz")
    assert again.vertex_properties["x"].tolist() == [1.5, 2, 3]
    assert again.vertex_properties["y"].dtype == np.int32
    assert not read(tmp_path / "g.gr.gz", coordinates=False).vertex_properties


numbers = st.one_of(
    st.integers(-(1 << 63) + 1, (1 << 63) - 1),
    st.integers(-99, 99),
    st.floats(allow_nan=False),
    st.decimals(-100, 100, places=3).map(float),
)


@given(st.lists(numbers, min_size=1, max_size=30))
def test_numbers_are_read_exactly(tmp_path: Path, values: list[float]) -> None:
    path = tmp_path / "n.wel"
    path.write_text("".join(f"{i} 0 {value!r}\n" for i, value in enumerate(values)))
    weight = read(path).edge_properties["weight"]
    if any(isinstance(value, float) for value in values):
        assert weight.dtype == np.float64
        values = [float(value) for value in values]
    else:
        fits = all(-(1 << 31) <= value < 1 << 31 for value in values)
        assert weight.dtype == (np.int32 if fits else np.int64)
    assert weight.tolist() == values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 1 2\n1 0 -3\n", [2, -3]),
        ("0 1 1e3\n1 0 .5\n", [1000, 0.5]),
        ("0 1 5.\n1 0 +2\n", [5, 2]),
        ("0 1 inf\n1 0 -Infinity\n", [np.inf, -np.inf]),
        ("0 1 0.1234567890123456789012345\n1 0 -0.0\n", [0.1234567890123456789, -0.0]),
        ("0 1 123456789012345678\n1 0 1\n", [123456789012345678, 1]),
        ("  0\t1   2\r\n\r\n# a comment\n1 0 3", [2, 3]),
        ("% one\n0 1 2 # two\n1 0 3 % three\n", [2, 3]),
        ("0,1,2\n1,0,3\n", [2, 3]),
        ("0, 1, 2.5\n\n1 ,0, 3\n", [2.5, 3]),
        ("source,target,weight\n0,1,2\n1,0,3\n", [2, 3]),
        ("0 1 9007199254740993\n1 0 0.5\n", [9007199254740992, 0.5]),
        ("0 1 1.5D+02\n1 0 2d0\n", [150, 2]),
        ("0 1 -9223372036854775808\n1 0 +9223372036854775807\n", [-(2**63), 2**63 - 1]),
    ],
)
def test_spellings_of_an_edge_list(tmp_path: Path, text: str, expected: list[float]) -> None:
    path = tmp_path / "e.wel"
    path.write_text(text)
    assert read(path).edge_properties["weight"].tolist() == expected


def test_named_columns(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 0], cost=[1.5, 2], lanes=[2, 3])
    for suffix in (".csv", ".tsv", ".txt"):
        write(graph, tmp_path / f"e{suffix}")
        assert contents(read(tmp_path / f"e{suffix}")) == contents(graph)
    (tmp_path / "four.txt").write_text("0 1 5 6\n")
    named = read(tmp_path / "four.txt", edge_properties=["cost", "time"])
    assert named.edge_properties["time"].tolist() == [6]


def test_metis_weights(tmp_path: Path) -> None:
    (tmp_path / "w.graph").write_text(
        "% comment\n3 2 111 2\n1 10 20 2 7\n% inside\n2 11 21 1 7 3 8\n3 12 22 2 8\n"
    )
    graph = read(tmp_path / "w.graph")
    assert graph.edges()[2]["weight"].tolist() == [7, 8]
    assert graph.vertex_properties["size"].tolist() == [1, 2, 3]
    assert graph.vertex_properties["vertex_weight"].tolist() == [[10, 20], [11, 21], [12, 22]]


def test_skew_symmetric_and_dense_matrices(tmp_path: Path) -> None:
    (tmp_path / "skew.mtx").write_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n")
    assert read(tmp_path / "skew.mtx").to_scipy().toarray().tolist() == [[0, -5], [5, 0]]
    (tmp_path / "dense.mtx").write_text("%%MatrixMarket matrix array real general\n2 2\n0\n1.5\n2\n0\n")
    assert read(tmp_path / "dense.mtx").to_scipy().toarray().tolist() == [[0, 2], [1.5, 0]]


MTX = "%%MatrixMarket matrix {} {} {}\n"


@pytest.mark.parametrize(
    ("banner", "text", "options", "expected"),
    [
        (("coordinate", "real", "general"), "2 2 1\n1 2 1.5D+02\n", {}, [[0, 150], [0, 0]]),
        (("coordinate", "unsigned-integer", "general"), "2 2 1\n1 2 7\n", {}, [[0, 7], [0, 0]]),
        (
            ("coordinate", "integer", "symmetric"),
            "2 2 2\n1 2 7\n2 2 1\n",
            {},
            [[0, 7], [7, 1]],
        ),  # the upper triangle
        (
            ("coordinate", "integer", "symmetric"),
            "2 2 2\n2 1 7\n2 2 1\n",
            {"directed": True},
            [[0, 7], [7, 1]],
        ),
        (
            ("coordinate", "integer", "skew-symmetric"),
            "2 2 1\n2 1 -2147483648\n",
            {},
            [[0, 2**31], [-(2**31), 0]],
        ),
        (("coordinate", "integer", "skew-symmetric"), "2 2 1\n1 2 5\n", {}, [[0, 5], [-5, 0]]),
        (("array", "integer", "symmetric"), "3 3\n1\n2\n0\n3\n4\n5\n", {}, [[1, 2, 0], [2, 3, 4], [0, 4, 5]]),
        (
            ("array", "real", "skew-symmetric"),
            "3 3\n1.5\n2\n0\n",
            {},
            [[0, -1.5, -2], [1.5, 0, 0], [2, 0, 0]],
        ),
        (("array", "real", "general"), "0 0\n", {}, []),
        (("array", "real", "general"), "2 2\n% c\n1\n-0.0\n\n0\n1e-400\n", {}, [[1, 0], [0, 0]]),
    ],
)
def test_matrices(
    tmp_path: Path, banner: tuple[str, ...], text: str, options: dict[str, Any], expected: list[list[float]]
) -> None:
    (tmp_path / "m.mtx").write_text(MTX.format(*banner) + text)
    graph = read(tmp_path / "m.mtx", **options)
    assert graph.to_scipy().toarray().tolist() == expected
    assert graph.directed == (banner[2] != "symmetric" or "directed" in options)
    if banner[0] == "array":
        assert graph.num_arcs == np.count_nonzero(expected)


def test_colorings(tmp_path: Path) -> None:
    for form in ("edge", "col"):
        (tmp_path / "g.col").write_text(f"c a path\np {form} 4 2\ne 1 2\ne 3 2\n")
        graph = read(tmp_path / "g.col")
        assert (graph.num_vertices, graph.directed) == (4, False)
        assert graph.edges()[1].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 3 1\n2 5 3 6\n\n1 7\n", [(0, 1, 5), (0, 2, 6), (2, 0, 7)]),
        ("3 2 1\n2 5\n1 5 3 6\n2 6\n", [(0, 1, 5), (1, 0, 5), (1, 2, 6), (2, 1, 6)]),
    ],
    ids=["m counts arcs", "m counts edges"],
)
def test_directed_metis(tmp_path: Path, text: str, expected: list[tuple[int, int, int]]) -> None:
    """Asked for arcs, lines are lists of targets, whether or not each edge stands in both."""
    (tmp_path / "g.graph").write_text(text)
    graph = read(tmp_path / "g.graph", directed=True)
    sources, targets, properties = graph.edges()
    found = zip(sources.tolist(), targets.tolist(), properties["weight"].tolist(), strict=True)
    assert (graph.directed, list(found)) == (True, expected)


def test_weights_of_directed_metis_are_an_array_of_their_own(tmp_path: Path) -> None:
    """They stand between the neighbors; kernels want them one behind the other."""
    (tmp_path / "g.graph").write_text("3 3 1\n2 5 3 9000000000\n\n1 7\n")
    weight = read(tmp_path / "g.graph", directed=True).edge_properties["weight"]
    assert (weight.tolist(), weight.flags.c_contiguous) == ([5, 9000000000, 7], True)


def test_what_a_text_cannot_hold(tmp_path: Path) -> None:
    vectors = Graph.from_edges([0], [1], weight=[[1, 2]], vertex_properties={"x": [[1], [2]], "y": [1, 2]})
    for suffix in (".el", ".mtx", ".gr"):
        with pytest.raises(GraphError, match="'weight' holds vectors"):
            write(vectors, tmp_path / f"g{suffix}")
    with pytest.raises(GraphError, match="'x' holds vectors"):
        write(vectors.with_edge_property("weight", [1]), tmp_path / "g.gr")
    large = Graph.from_edges([0], [1], directed=False, weight=np.array([1 << 63], np.uint64))
    with pytest.raises(GraphError, match=r"none from 2\*\*63 on"):
        write(large, tmp_path / "g.graph")


def test_a_data_set_with_a_dot_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "g.e.v").write_text("1\n2\n")
    (tmp_path / "g.e.e").write_text("1 2\n")
    assert read(tmp_path / "g.e.v").num_edges == 1
    (tmp_path / ".v").write_text("1\n")
    with pytest.raises(GraphFormatError, match="missing"):
        read(tmp_path / ".v", format="graphalytics")


def test_values_of_vertices(tmp_path: Path) -> None:
    (tmp_path / "g.v").write_text("30 1.5\n10 2\n\n# c\n20 -1\n")
    (tmp_path / "g.e").write_text("30 10\n20 30\n")
    graph = read(tmp_path / "g.v")
    assert graph.vertex_properties["id"].tolist() == [30, 10, 20]
    assert graph.vertex_properties["value"].tolist() == [1.5, 2, -1]
    assert graph.edges()[1].tolist() == [1, 0]
    (tmp_path / "g.properties").write_text("graph.g.vertex-properties.names = height\n")
    assert list(read(tmp_path / "g.e").vertex_properties) == ["height", "id"]


@pytest.mark.parametrize("name", ["cls", "self", "directed", "sources", "key", "u_for_edge"])
def test_names_that_python_uses(tmp_path: Path, name: str) -> None:
    """Properties may be called as parameters are, in files and in other libraries."""
    graph = (
        Graph.from_edges([0, 0], [1, 1]).with_edge_property(name, [5, 6]).with_vertex_property(name, [7, 8])
    )
    for suffix in (".npz", ".csv"):
        write(graph, tmp_path / f"g{suffix}")
        assert read(tmp_path / f"g{suffix}").edge_properties[name].tolist() == [5, 6]
    assert Graph.from_scipy(graph.to_scipy(name), weight=name).edge_properties[name].tolist() == [5, 6]
    assert Graph.from_pandas(graph.to_pandas()).edge_properties[name].tolist() == [5, 6]
    again = Graph.from_networkx(graph.to_networkx(), edge_attributes=[name], node_attributes=[name])
    assert again.edge_properties[name].tolist() == [5, 6]
    assert again.vertex_properties[name].tolist() == [7, 8]


def test_format_from_content(tmp_path: Path) -> None:
    graph = example(directed=True, weight=np.int32)
    for suffix in (".npz", ".el", ".mtx", ".gr"):
        write(graph, tmp_path / f"g{suffix}")
        unnamed = (tmp_path / f"g{suffix}").rename(tmp_path / "unnamed")
        assert contents(read(unnamed)) == contents(graph)


@pytest.mark.parametrize("suffix", ["gz", "xz", "bz2", "zst"])
def test_several_frames_and_members(tmp_path: Path, suffix: str) -> None:
    parts = []
    for text in (b"0 1\n1 ", b"2\n"):
        with open_compressed(tmp_path / "part", suffix, "wb") as file:
            file.write(text)
        parts.append((tmp_path / "part").read_bytes())
    path = tmp_path / f"two.el.{suffix}"
    path.write_bytes(b"".join(parts))
    assert read(path).edges()[1].tolist() == [1, 2]


def test_zst_without_a_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(Graph.from_edges([0], [1]), tmp_path / "g.el.zst")
    for name in ("compression", "compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(GraphError, match=r"pip install 'vgraph\[zst\]'"):
        read(tmp_path / "g.el.zst")


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    write(example(directed=True, weight=np.float64), tmp_path / "g.wel.gz")
    calls: list[tuple[int, int]] = []
    read(tmp_path / "g.wel.gz", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1] == (tmp_path / "g.wel.gz").stat().st_size


def test_blocks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same graph, whatever the size of the blocks that the text is cut into."""
    from vgraph.io import columns, streams

    graph = example(directed=True, weight=np.float64)
    write(graph, tmp_path / "g.wel")
    monkeypatch.setattr(columns, "CHUNK_ROWS", 7)
    for size in (1, 13, 100):
        monkeypatch.setattr(streams, "BLOCK", size)
        assert contents(read(tmp_path / "g.wel")) == contents(graph)


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    graph = example(directed=True, weight=None)
    with pytest.raises(GraphError, match="there is no file"):
        read(tmp_path / "absent.el")
    with pytest.raises(GraphError, match="is a directory"):
        read(tmp_path, format="edgelist")
    with pytest.raises(GraphError, match="no writer for this suffix"):
        write(graph, tmp_path / "g.xyz")
    write(graph, tmp_path / "g.el")
    with pytest.raises(GraphError, match="unknown format 'gml'"):
        read(tmp_path / "g.el", format="gml")
    with pytest.raises(GraphError, match="the edgelist reader takes no option 'sources'"):
        read(tmp_path / "g.el", sources=1)
    with pytest.raises(GraphError, match="id_bits must be"):
        read(tmp_path / "g.el", id_bits=8)


UNSIGNED = np.array([0, 7, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)


@pytest.mark.parametrize("suffix", [".el", ".wel", ".csv", ".tsv", ".txt", ".mtx", ".gr", ".npz", ".csv.gz"])
@pytest.mark.parametrize("values", [UNSIGNED, UNSIGNED[::-1], UNSIGNED[-1:]], ids=["up", "down", "one"])
def test_unsigned_weights_come_back(tmp_path: Path, suffix: str, values: np.ndarray[Any, Any]) -> None:
    """Up to 2**64 - 1, whichever comes first."""
    graph = Graph.from_edges(np.zeros(values.size, int), np.arange(1, values.size + 1), weight=values)
    write(graph, tmp_path / f"g{suffix}")
    weight = read(tmp_path / f"g{suffix}").edge_properties["weight"]
    assert weight.dtype == np.uint64
    assert weight.tolist() == values.tolist()


def test_unsigned_weights_of_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The widest number decides, in whichever block it stands."""
    monkeypatch.setattr(streams, "BLOCK", 64)
    large = str(2**64 - 1)
    for words in (["5"] * 50 + [large], [large] + ["5"] * 50, ["70000000000"] * 40 + [large] + ["1"] * 40):
        (tmp_path / "g.wel").write_text("".join(f"{i} {i + 1} {word}\n" for i, word in enumerate(words)))
        weight = read(tmp_path / "g.wel").edge_properties["weight"]
        assert (weight.dtype, weight.tolist()) == (np.uint64, [int(word) for word in words])
    mixed = ["-1"] * 40 + [large] + ["1"] * 40
    (tmp_path / "g.wel").write_text("".join(f"{i} {i + 1} {word}\n" for i, word in enumerate(mixed)))
    with pytest.raises(GraphFormatError, match=r"g.wel:41: no 64-bit type holds both"):
        read(tmp_path / "g.wel")
    (tmp_path / "g.wel").write_text(
        "".join(f"{i} {i + 1} {word}\n" for i, word in enumerate([*mixed, "0.5"]))
    )
    weight = read(tmp_path / "g.wel").edge_properties["weight"]
    assert weight.tolist() == [float(word) for word in [*mixed, "0.5"]]


def test_matrices_of_unsigned_numbers(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1], weight=UNSIGNED[-1:], directed=False)
    write(graph, tmp_path / "g.mtx")
    assert "coordinate unsigned-integer symmetric" in (tmp_path / "g.mtx").read_text()
    assert read(tmp_path / "g.mtx", directed=True).edge_properties["weight"].tolist() == [2**64 - 1] * 2
    banner = "%%MatrixMarket matrix array unsigned-integer general\n2 2\n"
    (tmp_path / "d.mtx").write_text(f"{banner}0\n{2**64 - 1}\n1\n0\n")
    assert sorted(read(tmp_path / "d.mtx").edge_properties["weight"].tolist()) == [1, 2**64 - 1]
    (tmp_path / "s.mtx").write_text(
        f"%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 {2**63}\n"
    )
    with pytest.raises(GraphFormatError, match="no 64-bit type holds this value and its opposite"):
        read(tmp_path / "s.mtx")


@pytest.mark.parametrize(
    ("text", "sources", "names"),
    [
        ("# target,source\n0,1\n", [1], []),
        ("# target,source,cost\n0,1,5\n", [1], ["cost"]),
        ("#target source\n0 1\n", [1], []),
        ("% To From\n0 1\n", [1], []),
        ('# "target","source"\n# 3 vertices\n0,1\n', [1], []),
        ("# from the web, to\n0 1\n", [0], []),  # a sentence
        ("# source and target\n0 1\n", [0], []),  # not as many as columns
        ("# to from\nsource target\n0 1\n", [0], []),  # the file's own line counts
        ("# FromNodeId ToNodeId\n0 1\n", [0], []),  # names of no ends
        ("0 1\n# target source\n", [0], []),  # behind the first edge
    ],
)
def test_names_in_a_comment(tmp_path: Path, text: str, sources: list[int], names: list[str]) -> None:
    (tmp_path / "g.csv").write_text(text)
    graph = read(tmp_path / "g.csv")
    assert graph.edges()[0].tolist() == sources
    assert list(graph.edge_properties) == names


def test_names_in_a_comment_that_the_caller_tells(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("# ToNodeId FromNodeId\n0 1\n")
    named = read(tmp_path / "g.txt", source="FromNodeId", target="ToNodeId")
    assert named.edges()[0].tolist() == [1]
    np.savetxt(tmp_path / "t.csv", [[2, 0, 7]], fmt="%d", delimiter=",", header="cost,target,source")
    assert read(tmp_path / "t.csv").edges()[0].tolist() == [7]


@pytest.mark.parametrize("suffix", [".gr", ".col"])
def test_undirected_graphs_in_dimacs_files(tmp_path: Path, suffix: str) -> None:
    """With weights there are arcs; without, edges."""
    graph = Graph.from_edges([0, 1, 1], [1, 2, 1], directed=False, weight=[5, 6, 7])
    write(graph, tmp_path / f"w{suffix}")
    arcs = read(tmp_path / f"w{suffix}")
    assert (arcs.directed, arcs.num_edges) == (True, graph.num_arcs)
    assert arcs.out.column_indices.tolist() == graph.out.column_indices.tolist()
    assert arcs.edge_properties["weight"].tolist() == graph.edge_properties["weight"].tolist()
    plain = Graph.from_edges([0, 1, 1], [1, 2, 1], directed=False)
    write(plain, tmp_path / f"p{suffix}")
    assert contents(read(tmp_path / f"p{suffix}")) == contents(plain)
