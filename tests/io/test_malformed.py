"""Malformed files are refused with the file, the line and the reason."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vgraph.errors import GraphFormatError
from vgraph.graph import Graph
from vgraph.io import read, write

GR = "c comment\np sp 3 2\na 1 2 5\na 2 3 6\n"
MTX = "%%MatrixMarket matrix coordinate real general\n"
SKEW = MTX.replace("general", "skew-symmetric")
DENSE = MTX.replace("coordinate", "array")
HUGE = 10**15

CASES: list[tuple[str, str, int | None, str]] = [
    # edge lists
    ("empty.el", "", 1, "the file is empty"),
    ("blank.el", "\n \n", 2, "the file is empty"),
    ("short.el", "0 1\n1\n", 2, r"expected 2 fields \(source target\), got 1: '1'"),
    ("long.el", "0 1\n1 2 3\n", 2, "expected 2 fields"),
    ("single.el", "7\n", 1, "expected 2 or 3 fields"),
    ("four.el", "0 1 2 3\n", 1, "expected 2 or 3 fields .*edge_properties="),
    ("text.el", "0 1\n1 x\n", 2, "'x' is not a vertex id"),
    (
        "names.el",
        "alice bob\nbob carol\n",
        1,
        "which columns are the ends of edges, source and target or src",
    ),
    ("negative.el", "0 1\n\n# c\n0 -1\n", 4, "'-1' is not a vertex id"),
    ("fraction.el", "0 1\n0 1.5\n", 2, "'1.5' is not a vertex id"),
    ("weight.wel", "0 1 5\n1 2 heavy\n", 2, "'heavy' is not a number"),
    ("dash.wel", "0 1 5\n1 2 -\n", 2, "'-' is not a number"),
    ("minus.wel", "0 1 5\n1 2 3-4\n", 2, "'3-4' is not a number"),
    ("dots.wel", "0 1 5\n1 2 1.2.3\n", 2, "'1.2.3' is not a number"),
    ("exponent.wel", "0 1 5\n1 2 1e\n", 2, "'1e' is not a number"),
    ("underscore.wel", "0 1 5\n1 2 1_000\n", 2, "'1_000' is not a number"),
    ("wide.wel", "0 1 5\n1 2 99999999999999999999\n", 2, "does not fit 64 bits"),
    ("missing.wel", "0 1 5\n1 2\n", 2, "expected 3 fields"),
    ("behind.wel", "0 1 5\n1 2 5-\n", 2, "'5-' is not a number"),
    ("large.wel", "0 1 5\n1 2 1e400\n", 2, "'1e400' does not fit 64 bits"),
    ("small.wel", "0 1 5\n1 2 -9223372036854775809\n", 2, "does not fit 64 bits"),
    ("digits.wel", "0 1 5\n1 2 " + "7" * 4301, 2, "has 4301 characters; numbers have at most 2048"),
    ("digits.el", "0 1\n1 " + "7" * 4301, 2, "has 4301 characters"),
    ("id.el", "0 1\n1 " + "7" * 25, 2, "vertex '7777777777777777777777777' does not fit 64 bits"),
    ("beside.wel", "0 1 0.5\n1 2 18446744073709551616\n", 2, "does not fit 64 bits"),
    ("signs.wel", "0 1 -5\n1 2 7\n1 3 9223372036854775808\n", 3, "no 64-bit type holds both"),
    (
        "signs.mtx",
        "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 18446744073709551615\n2 1 -1\n",
        4,
        "no 64-bit type holds both",
    ),
    (
        "list.metis",
        "2 1 001\n2 9223372036854775808\n1 9223372036854775808\n",
        2,
        "numbers in lists are below",
    ),
    ("twice.csv", "# source,target,source\n0,1,2\n", 2, "two columns are called 'source'"),
    ("plus.el", "0 1\n1 +2\n", 2, r"'\+2' is not a vertex id"),
    ("field.csv", "0,1,5\n1,,5\n", 2, "'' is not a vertex id"),
    ("comma.csv", "0,1,5\n1,2,\n", 2, "'' is not a number"),
    ("count.csv", "0,1\n1,2,3\n", 2, "expected 2 fields"),
    ("shifted.csv", "0,1\n1,,2\n3 4\n", 2, "expected 2 fields"),
    ("mixed.txt", "0 1\n1,2\n", 2, "expected 2 fields"),
    ("sparse.el", f"0 1\n{HUGE} 1\n", 2, "1000000000000001 vertices need 16000000 GB of memory"),
    ("binary.el", "\x00\x01\x02\x03", 1, "expected 2 or 3 fields"),
    ("nul.el", "0 1\n1\x002\n", 2, "expected 2 fields"),
    ("declared.el", "# vgraph: 2 vertices, directed\n0 1\n1 2\n", 3, r"vertex 2 is out of range 0\.\.1"),
    (
        "declared2.el",
        f"# vgraph: {HUGE} vertices, directed\n0 1\n",
        1,
        "vertices need 16000000 GB .* pass num_vertices=",
    ),
    # DIMACS
    ("empty.gr", "", 1, "the file is empty"),
    ("header.gr", "c only\n", 1, "the file has no 'p' line"),
    ("first.gr", "a 1 2 3\n", 1, "'p sp ...' or 'p tw ...' or 'p edge ...' or 'p col ...', got 'a 1 2 3'"),
    ("kind.gr", "p max 3 2\n", 1, "got 'p max 3 2'"),
    ("words.gr", "p sp 3\n", 1, "expected 2 whole numbers after 'p sp'"),
    ("negative.gr", "p sp 3 -2\n", 1, "expected 2 whole numbers"),
    ("few.gr", GR.replace("3 2", "3 3"), 4, "the file ends after 2 of 3 arcs"),
    ("many.gr", GR.replace("3 2", "3 1"), 2, "1 arcs declared, but the file holds 2"),
    ("range.gr", GR.replace("a 2 3", "a 2 4"), 4, r"vertex 4 is out of range 1\.\.3"),
    ("zero.gr", GR.replace("a 2 3", "a 0 3"), 4, r"vertex 0 is out of range 1\.\.3"),
    (
        "unmarked.gr",
        GR.replace("a 2 3 6", "2 3 6"),
        4,
        "expected a line 'a source target weight', got '2 3 6'",
    ),
    ("fields.gr", GR.replace("a 2 3 6", "a 2 3"), 4, "expected 3 fields"),
    ("text.gr", GR.replace("a 2 3 6", "a 2 3 six"), 4, "'six' is not a number"),
    ("huge.gr", f"p sp {HUGE} 1\na 1 2 3\n", 1, "vertices need 16000000 GB"),
    ("arcs.gr", f"p sp 3 {HUGE}\na 1 2 3\n", 2, "the file ends after 1 of 1000000000000000 arcs"),
    ("pace.gr", "p tw 3 2\n1 2\na 2 3\n", 3, "expected 2 fields"),
    ("lone.gr", "p sp 3 1\na \n1 2 3\n", 2, r"expected 3 fields \(source target weight\), got 0: 'a'"),
    ("zeros.gr", "p sp 0100 1\na 1 2 3\n", 1, "expected 2 whole numbers after 'p sp'"),
    ("digits.gr", "p sp " + "7" * 4301 + " 1\na 1 2 3\n", 1, "expected 2 whole numbers after 'p sp'"),
    ("colors.col", "c c\np edge 3 2\ne 1 2\nn 2 3\n", 4, "expected a line 'e source target', got 'n 2 3'"),
    ("count.col", "p col 3 2\ne 1 2\n", 2, "the file ends after 1 of 2 edges"),
    # Matrix Market
    ("empty.mtx", "", 1, "the file is empty"),
    ("banner.mtx", "3 3 1\n1 1 1\n", 1, "expected '%%MatrixMarket matrix"),
    ("form.mtx", MTX.replace("coordinate", "list"), 1, "unknown format 'list'"),
    ("complex.mtx", MTX.replace("real", "complex"), 1, "complex entries cannot be edge weights"),
    ("symmetry.mtx", MTX.replace("general", "odd"), 1, "unknown symmetry 'odd'"),
    ("nosize.mtx", MTX + "% c\n", 2, "the file ends before the line of sizes"),
    ("size.mtx", MTX + "3 3\n", 2, "expected 3 whole numbers"),
    ("square.mtx", MTX + "3 4 1\n1 1 1\n", 2, "a graph needs a square matrix, this one is 3 x 4"),
    ("huge.mtx", MTX + f"{HUGE} {HUGE} 1\n1 1 1\n", 2, "vertices need 16000000 GB"),
    ("few.mtx", MTX + "3 3 2\n1 1 1\n", 3, "the file ends after 1 of 2 entries"),
    ("many.mtx", MTX + "3 3 1\n1 1 1\n1 2 1\n", 2, "1 entries declared, but the file holds 2"),
    ("range.mtx", MTX + "3 3 1\n1 4 1\n", 3, r"vertex 4 is out of range 1\.\.3"),
    ("pattern.mtx", MTX.replace("real", "pattern") + "3 3 1\n1 2 1\n", 3, "expected 2 fields"),
    ("value.mtx", MTX + "3 3 1\n1 2 x\n", 3, "'x' is not a number"),
    (
        "dense.mtx",
        MTX.replace("coordinate", "array") + "2 2\n1\n2\n",
        4,
        "the file ends after 2 of 4 entries",
    ),
    ("zeros.mtx", MTX + "0100 0100 1\n1 1 1\n", 2, "expected 3 whole numbers"),
    ("integer.mtx", MTX.replace("real", "integer") + "3 3 2\n1 2 2\n1 3 2.5\n", 4, "'2.5' is not an integer"),
    ("round.mtx", MTX.replace("real", "integer") + "3 3 2\n1 2 2\n1 3 3.0\n", 4, "'3.0' is not an integer"),
    ("sign.mtx", MTX.replace("real", "unsigned-integer") + "3 3 1\n1 3 -2\n", 3, "'-2' is negative"),
    ("skew.mtx", SKEW + "3 3 2\n2 1 5\n3 3 0\n", 4, "a skew-symmetric matrix has nothing on its diagonal"),
    (
        "least.mtx",
        SKEW + "3 3 2\n% c\n2 1 5\n3 2 -9223372036854775808\n",
        5,
        "no 64-bit type holds this value and its opposite",
    ),
    (
        "both.mtx",
        SKEW + "3 3 2\n2 1 5\n\n1 2 -5\n",
        5,
        "the other triangle has entries, too; of a skew-symmetric",
    ),
    (
        "both2.mtx",
        MTX.replace("general", "symmetric") + "3 3 3\n1 1 5\n1 2 6\n3 2 7\n",
        5,
        "the other triangle has",
    ),
    (
        "dense2.mtx",
        DENSE + "99999999 99999999\n1\n2\n3\n",
        5,
        "the file ends after 3 of 9999999800000001 entries",
    ),
    ("dense3.mtx", DENSE + "2 2\n1\n2\n3\n4e", 6, "'4e' is not a number"),
    ("dense4.mtx", DENSE + "2 2\n1 2\n3 4\n5\n6\n", 3, r"expected 1 field \(weight\), got 2: '1 2'"),
    ("dense5.mtx", DENSE + "2 2\n1\n2\n3\n4\n5\n", 2, "4 entries declared, but the file holds 5"),
    ("dense6.mtx", DENSE + "2 2\n1\n2\n5-\n4\n", 5, "'5-' is not a number"),
    (
        "dense7.mtx",
        DENSE.replace("general", "skew-symmetric") + "3 3\n1\n2\n",
        4,
        "ends after 2 of 3 entries",
    ),
    ("dense8.mtx", DENSE.replace("general", "symmetric") + "2 2\n1\n2\n", 4, "ends after 2 of 3 entries"),
    ("dense9.mtx", DENSE.replace("real", "integer") + "1 1\n3.5\n", 3, "'3.5' is not an integer"),
    ("dense10.mtx", DENSE.replace("real", "pattern") + "1 1\n1\n", 1, "a dense matrix has values"),
    # METIS
    ("empty.graph", "", 1, "the file is empty"),
    ("words.graph", "3\n", 1, "expected 'vertices edges"),
    ("negative.graph", "-3 2\n", 1, "expected 'vertices edges"),
    ("fmt.graph", "3 2 7\n", 1, "fmt '7' must be up to three digits 0 or 1"),
    ("huge.graph", f"{HUGE} 1\n", 1, "vertices need 64000000 GB"),
    ("few.graph", "3 1\n2\n1\n", 3, "the file ends after the lines of 2 of 3 vertices"),
    ("many.graph", "% c\n2 1\n2\n1\n\n1\n", 6, "2 vertices declared, but here is one more line"),
    ("range.graph", "2 1\n2\n3\n", 3, r"neighbor 3 is out of range 1\.\.2"),
    ("zero.graph", "2 1\n2\n0\n", 3, r"neighbor 0 is out of range 1\.\.2"),
    ("minus.graph", "2 1\n2\n-1\n", 3, "'-1' is not a whole number"),
    ("edges.graph", "2 2\n2\n1\n", 1, "2 edges declared, but the lines hold 2 neighbors"),
    ("mirror.graph", "% c\n3 2\n2 3\n% c\n1\n2\n", 3, "the edge between 1 and 3 does not stand in both"),
    (
        "weights.graph",
        "2 1 001\n2 5\n1 6\n",
        2,
        "between 1 and 2 does not stand in both their lines with the same",
    ),
    ("pairs.graph", "2 1 001\n2 5\n1\n", 3, "expected pairs of neighbor and weight, got 1 numbers"),
    ("ncon.graph", "2 1 010 1" + "0" * 25 + "\n", 1, "expected 'vertices edges"),
    ("ncon2.graph", "2 1 010 1" + "0" * 15 + "\n", 1, "weights for each vertex; there may be 65536"),
    ("ncon3.graph", "0 0 010 65536\n1\n", 2, "0 vertices declared, but here is one more line"),
    ("digits.graph", "2 1\n2\n" + "1" * 4301, 3, "has 4301 characters"),
    ("zeros.graph", "0100 1\n2\n1\n", 1, "expected 'vertices edges"),
    ("back.graph", "3 2\n2\n1\n2 1\n", 4, "the edge between 1 and 3 does not stand in both"),
    ("own.graph", "2 1 010\n4 2\n\n", 3, "expected 1 numbers, then neighbors, got 0"),
    # others
    ("empty.npz", "", None, "the file is empty"),
    ("junk.npz", "junk", None, "this is no .npz archive"),
    ("zip.npz", "PK\x03\x04junk", None, "truncated or corrupt archive"),
    ("unknown.xyz", "a b c d\n", None, "cannot tell the format"),
    ("unknown.abc", "", None, "the file is empty"),
    ("false.el.gz", "0 1\n", None, "the content is not gz data"),
    ("false.el.zst", "", None, "the file is empty"),
    ("twice.adj", "1 2\n2 1\n1 3\n", 3, "vertex 1 stands here a second time"),
    ("digits.adj", "1 2\n2 " + "3" * 4301, 2, "has 4301 characters"),
    ("text.adj", "1 2\n2 one\n", 2, "'one' is not a whole number"),
]


@pytest.mark.parametrize(("name", "text", "line", "reason"), CASES, ids=[case[0] for case in CASES])
def test_malformed(tmp_path: Path, name: str, text: str, line: int | None, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(GraphFormatError, match=reason) as caught:
        read(path)
    assert caught.value.path == path
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:{line}: " if line is not None else f"{path}: ")


def test_a_fault_far_down_has_its_line(tmp_path: Path) -> None:
    lines = [f"{i} {i + 1}" for i in range(200_000)]
    lines[150_000] = "150000 oops"
    (tmp_path / "far.el").write_text("# first\n" + "\n".join(lines) + "\n")
    with pytest.raises(GraphFormatError, match="'oops' is not a vertex id") as caught:
        read(tmp_path / "far.el")
    assert caught.value.line == 150_002


def coordinates(text: str, tmp_path: Path) -> GraphFormatError:
    (tmp_path / "g.gr").write_text(GR)
    (tmp_path / "g.co").write_text(text)
    with pytest.raises(GraphFormatError) as caught:
        read(tmp_path / "g.gr")
    assert caught.value.path == tmp_path / "g.co"
    return caught.value


def test_malformed_coordinates(tmp_path: Path) -> None:
    error = coordinates("p aux sp co 2\n", tmp_path)
    assert (error.line, error.reason) == (1, "coordinates of 2 vertices, but the graph has 3")
    error = coordinates("p aux sp co 3\nv 1 0 0\nv 2 0 0\nv 2 0 0\n", tmp_path)
    assert error.reason == "vertex 3 has no line; each vertex has one"
    error = coordinates("p aux sp co 3\nv 1 0 0\nv 2 0\n", tmp_path)
    assert error.line == 3


def test_malformed_graphalytics(tmp_path: Path) -> None:
    (tmp_path / "g.v").write_text("10\n20\n")
    with pytest.raises(GraphFormatError, match=r"g\.e: this file of the data set is missing"):
        read(tmp_path / "g.v")
    (tmp_path / "g.e").write_text("10 20\n\n20 15\n")
    with pytest.raises(GraphFormatError, match=r"g\.e:3: vertex 15 is not in the \.v file"):
        read(tmp_path / "g.v")
    (tmp_path / "g.properties").write_text("graph.g.vertex-properties.names = x, x\n")
    (tmp_path / "g.v").write_text("# c\n10 1 2\n20 1 2\n")
    with pytest.raises(GraphFormatError, match=r"g\.v:2: two columns are called 'x'"):
        read(tmp_path / "g.v")
    (tmp_path / "g.properties").write_text("graph.g.edge-properties.names = edge weight\n")
    (tmp_path / "g.v").write_text("10\n20\n")
    (tmp_path / "g.e").write_text("10 20 5\n")
    with pytest.raises(GraphFormatError, match=r"g\.e:1: property name 'edge weight' must be an identifier"):
        read(tmp_path / "g.v")
    (tmp_path / "g.v").write_text("10\n20\n10\n")
    with pytest.raises(GraphFormatError, match=r"g\.v:3: vertex 10 stands here a second time"):
        read(tmp_path / "g.e")
    (tmp_path / "g.properties").write_text("graph.g.directed = maybe\n")
    with pytest.raises(GraphFormatError, match="directed must be true or false, got 'maybe'"):
        read(tmp_path / "g.properties")


@pytest.mark.parametrize("suffix", ["gz", "xz", "bz2", "zst"])
@pytest.mark.parametrize("name", ["g.el", "g.gr", "g.npz", "g.mtx"])
def test_truncated_and_corrupt_compression(tmp_path: Path, name: str, suffix: str) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 5000, (2, 5000)), weight=rng.integers(0, 9, 5000))
    path = tmp_path / f"{name}.{suffix}"
    write(graph, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(GraphFormatError, match="truncated or corrupt"):
        read(path)
    if suffix != "zst":  # a zst frame need not have a checksum
        middle = len(whole) // 2
        path.write_bytes(
            whole[:middle] + bytes(byte ^ 0x5A for byte in whole[middle : middle + 64]) + whole[middle + 64 :]
        )
        with pytest.raises(GraphFormatError):
            read(path)


def test_malformed_archives(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    good = {
        "vgraph": 1,
        "directed": True,
        "row_offsets": np.array([0, 1, 2], np.uint32),
        "column_indices": np.array([1, 0], np.uint32),
    }
    for change, reason in (
        ({"vgraph": 2}, "format 2 of the archive is unknown"),
        ({"row_offsets": np.array([0, 2, 1], np.uint32)}, "row_offsets must go from 0"),
        ({"column_indices": np.array([1, 7], np.uint32)}, r"column_indices\[1\] = 7 is out of range"),
        ({"directed": False, "edge.weight": np.array([1, 2])}, "not symmetric"),
        ({"edge.weight": np.array([1])}, "has 1 rows, but there are 2 arcs"),
        ({"edge.weight": np.array(["a", None], object)}, "'edge.weight' holds Python objects"),
    ):
        np.savez(path, **(good | change))
        with pytest.raises(GraphFormatError, match=reason):
            read(path)
    np.savez(path, something=1)
    with pytest.raises(GraphFormatError, match="written neither by vgraph nor by scipy"):
        read(path)
    del good["row_offsets"]
    np.savez(path, **good)
    with pytest.raises(GraphFormatError, match="row_offsets"):
        read(path)


@given(
    st.sampled_from(["x.el", "x.csv", "x.gr", "x.mtx", "x.graph", "x.npz", "x.adj", "x.unknown"]),
    st.one_of(st.binary(max_size=80), st.text("0123456789 \n.-e,#%apsw", max_size=60).map(str.encode)),
    st.sampled_from(
        [b"", b"p sp 9 2\n", b"p tw 9 2\n", MTX.encode() + b"9 9 2\n", b"3 2\n", b"0 1\n", b"0 1 2\n"]
    ),
)
@settings(max_examples=400)
def test_junk_gives_a_graph_or_a_format_error(tmp_path: Path, name: str, junk: bytes, head: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(head + junk)
    with contextlib.suppress(GraphFormatError):
        graph = read(path)
        assert graph.num_arcs == graph.out.row_offsets[-1]
