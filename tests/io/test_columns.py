"""Edge lists with a line of names: columns are bound by name; quotes, byte order marks, comments that count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vgraph.errors import GraphError, GraphFormatError
from vgraph.graph import Graph
from vgraph.io import read, write


def file(folder: Path, text: str | bytes, name: str = "e.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def edges(graph: Graph) -> tuple[list[tuple[int, int]], dict[str, list[float]]]:
    sources, targets, properties = graph.edges()
    ends = list(zip(sources.tolist(), targets.tolist(), strict=True))
    return ends, {name: values.tolist() for name, values in properties.items()}


@pytest.mark.parametrize(
    ("text", "ends", "properties"),
    [
        ("source,target\n0,1\n5,2\n", [(0, 1), (5, 2)], {}),
        ("target,source\n0,1\n5,2\n", [(1, 0), (2, 5)], {}),
        ("weight,source,target\n0,1,2\n9,5,3\n", [(1, 2), (5, 3)], {"weight": [0, 9]}),
        ("weight source target\n0 1 2\n9 5 3\n", [(1, 2), (5, 3)], {"weight": [0, 9]}),
        ("dst\tcost\tsrc\tlanes\n0\t1.5\t2\t3\n", [(2, 0)], {"cost": [1.5], "lanes": [3]}),
        ("Weight,Source,TARGET\n7,1,2\n", [(1, 2)], {"Weight": [7]}),
        ("to,from\n1,0\n", [(0, 1)], {}),
        ("v,u,inf\n1,0,5\n", [(0, 1)], {"inf": [5]}),
        ("source,u,v,target\n1,2,3,4\n", [(1, 4)], {"u": [2], "v": [3]}),
        ('"target","source","cost"\n"1","0","2.5"\n2, "1" ," 3 "\n', [(0, 1), (1, 2)], {"cost": [2.5, 3]}),
        ('"0" "1" "5"\n1 2 "6"\n', [(0, 1), (1, 2)], {"weight": [5, 6]}),
        ("# target source\n0 1\n", [(1, 0)], {}),
        ("source,target,größe\n0,1,5\n", [(0, 1)], {"größe": [5]}),
        ("source,target\n", [], {}),
    ],
)
def test_columns_are_bound_by_name(
    tmp_path: Path, text: str, ends: list[tuple[int, int]], properties: dict[str, list[float]]
) -> None:
    assert edges(read(file(tmp_path, text))) == (ends, properties)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("source,target,source\n0,1,2\n", 1, "two columns are called 'source'"),
        ("source,target,Target\n0,1,2\n", 1, "two columns are called 'target'"),
        ("source,target,cost,cost\n0,1,2,3\n", 1, "two columns are called 'cost'"),
        (
            "# c\nweight,source\n0,1\n",
            2,
            "which columns are the ends of edges, source and target or src and dst",
        ),
        ("head,tail\n0,1\n", 1, "this one is 'head, tail'; pass source= and target="),
        ("source,target,a b\n0,1,2\n", 1, "property name 'a b' must be an identifier"),
        ('"source","target","edge weight"\n0,1,2\n', 1, "must be an identifier"),
        ("source,target,\ufb01\n0,1,2\n", 1, "would be read as 'fi'"),
        ("source,target,,\n0,1,2,3\n", 1, "property name '' must be"),
        ("source,target\n0,1,2\n", 2, r"expected 2 fields \(source target\), got 3"),
        ("source,target,cost\n0,1,high\n", 2, "'high' is not a number"),
        ("source,target,5\n0,1,2\n", 1, "'source' is not a vertex id"),
        ('0,1,"2\n', 1, """'"2' is not a number"""),
        ('0,1,"2"3\n', 1, "is not a number"),
        ('0,1,""\n', 1, "is not a number"),
        ('"0 1"\n', 1, "is not a vertex id"),
        (
            ",".join(["source", "target", *(f"c{i}" for i in range(2000))]),
            1,
            "2002 columns; there may be 1024",
        ),
    ],
)
def test_what_a_line_of_names_must_not_be(tmp_path: Path, text: str, line: int, reason: str) -> None:
    with pytest.raises(GraphFormatError, match=reason) as caught:
        read(file(tmp_path, text))
    assert caught.value.line == line


def test_ends_of_other_names(tmp_path: Path) -> None:
    path = file(tmp_path, "id_2,kind,id_1\n0,7,1\n")
    assert edges(read(path, source="id_1", target="id_2")) == ([(1, 0)], {"kind": [7]})
    with pytest.raises(GraphFormatError, match="the ends of edges, id_1 and x; this one is"):
        read(path, source="id_1", target="x")
    with pytest.raises(GraphError, match="give both or none"):
        read(path, source="id_1")
    with pytest.raises(GraphFormatError, match="has no line of names, so that no column is called 'a'"):
        read(file(tmp_path, "0,1\n"), source="a", target="b")


def test_an_edge_has_two_ends(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="both 'a'"):
        read(file(tmp_path, "a,b\n0,1\n"), source="a", target="a")


@pytest.mark.parametrize("options", [{"progress": "bar"}, {"format": ["edgelist"]}], ids=str)
def test_options_of_wrong_types(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(GraphError, match=next(iter(options))):
        read(file(tmp_path, "0,1\n"), **options)


def test_columns_to_keep(tmp_path: Path) -> None:
    path = file(tmp_path, "a,target,b,source,c\n1,2,3,4,5\n")
    assert edges(read(path, edge_properties=["c", "a"])) == ([(4, 2)], {"c": [5], "a": [1]})
    assert edges(read(path, edge_properties=[])) == ([(4, 2)], {})
    with pytest.raises(GraphFormatError, match="names a column 'd'; there are a, b, c"):
        read(path, edge_properties=["d"])
    with pytest.raises(GraphError, match="a list of names, not 'ab'"):
        read(path, edge_properties="ab")
    with pytest.raises(GraphFormatError, match="two columns are called 'x'"):
        read(file(tmp_path, "0,1,2,3\n"), edge_properties=["x", "x"])


def test_a_byte_order_mark(tmp_path: Path) -> None:
    for name, text in (
        ("e.csv", "target,source\r\n1,0\r\n"),
        ("e.el", "0 1\n"),
        ("e.gr", "p sp 2 1\na 1 2 5\n"),
        ("e.graph", "2 1\n2\n1\n"),
        ("e.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
    ):
        assert edges(read(file(tmp_path, "\ufeff" + text, name)))[0] == [(0, 1)]


@pytest.mark.parametrize(
    ("comment", "options", "vertices"),
    [
        ("# a graph of 7 vertices", {}, 7),
        ("# 1,000,100 vertices, 3.0100 vertices, -0100 vertices", {}, 2),
        ("# vgraph: 7 vertices, directed", {}, 7),
        ("# vgraph: 7 vertices, directed", {"num_vertices": 9}, 9),
        ("# 0100 vertices", {"num_vertices": 9}, 9),
        ("# 99999999999999999999 vertices", {"num_vertices": np.int64(9)}, 9),
    ],
)
def test_comments_that_count(tmp_path: Path, comment: str, options: dict[str, Any], vertices: int) -> None:
    path = file(tmp_path, f"{comment}\n0 1\n", "e.el")
    assert read(path, **options).num_vertices == vertices


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# 0100 vertices", "'0100' is no number of vertices: it begins with 0"),
        ("# vgraph: 0100 vertices, directed", "'0100' is no number of vertices"),
        ("# " + "9" * 5000 + " vertices", "has too many digits"),
        ("# 999999999999 vertices", "vertices need 15999 GB .* if the comment is wrong, pass num_vertices="),
        ("# vgraph: 7 vertices, undirecte", "expected '# vgraph: N vertices, directed'"),
        ("# vgraph: -7 vertices, directed", "expected '# vgraph: N vertices, directed'"),
    ],
)
def test_comments_that_do_not(tmp_path: Path, comment: str, reason: str) -> None:
    with pytest.raises(GraphFormatError, match=reason) as caught:
        read(file(tmp_path, f"# first\n{comment}\n0 1\n", "e.el"))
    assert caught.value.line == 2


@pytest.mark.parametrize("number", ["3", 2.5, -1, 10**400])
def test_numbers_of_vertices_that_are_none(tmp_path: Path, number: Any) -> None:
    with pytest.raises(GraphError, match=r"num_vertices must|vertices need"):
        read(file(tmp_path, "0 1\n"), num_vertices=number)


def test_names_that_would_be_ends_are_not_written(tmp_path: Path) -> None:
    for name in ("source", "Target"):
        graph = Graph.from_edges([0], [1]).with_edge_property(name, [5])
        with pytest.raises(GraphError, match=f"'{name}' would stand for an end of the edge"):
            write(graph, tmp_path / "e.csv")
    graph = Graph.from_edges([0], [1]).with_edge_property("u", [5]).with_edge_property("nan", [6])
    write(graph, tmp_path / "e.csv")
    assert edges(read(tmp_path / "e.csv")) == ([(0, 1)], {"u": [5], "nan": [6]})
