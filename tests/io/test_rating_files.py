"""Ratings from files, tables, matrices and arrays: the same graph of two sides."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vgraph as vg

USERS, ITEMS, RATINGS = [7, 3, 3, 900], [50, 50, 8, 8], [2.5, 4.0, 1.0, 5.0]
TITLED = "userId,movieId,rating,timestamp\n7,50,2.5,11\n3,50,4.0,12\n3,8,1.0,13\n900,8,5.0,14\n"
PLAIN = "# ratings: user item rating\n7\t50\t2.5\n3\t50\t4\n3\t8\t1\n\n900\t8\t5\n"


def check(graph: vg.Graph, names: tuple[str, ...] = ("rating",), ids: bool = True) -> None:
    """Users 3, 7 and 900 are 0, 1 and 2; items 8 and 50 are 3 and 4."""
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (5, 4, True)
    assert tuple(graph.edge_properties) == names
    s, t, properties = graph.edges()
    assert s.tolist() == [0, 0, 1, 2]
    assert t.tolist() == [3, 4, 4, 3]
    assert properties["rating"].tolist() == [1.0, 4.0, 2.5, 5.0]
    assert not ids or graph.vertex_properties["id"].tolist() == [3, 7, 900, 8, 50]


def test_the_same_from_everywhere(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    from scipy.sparse import coo_array

    check(vg.from_ratings(USERS, ITEMS, RATINGS))
    check(vg.from_ratings([f"u{u:03}" for u in USERS], [f"i{i:02}" for i in ITEMS], RATINGS), ids=False)
    table = pandas.DataFrame(
        {"who": USERS, "what": ITEMS, "note": list("abcd"), "stars": RATINGS, "when": range(4)}
    )
    check(vg.from_ratings(table, rating="stars"), ("rating", "when"))
    matrix = coo_array((RATINGS, ([1, 0, 0, 2], [1, 1, 0, 0])), shape=(3, 2))
    check(vg.from_ratings(matrix), ids=False)
    assert vg.from_ratings(matrix).vertex_properties["id"].tolist() == [0, 1, 2, 0, 1]
    (tmp_path / "a.csv").write_text(TITLED)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(PLAIN.encode()))
    check(vg.read_ratings(tmp_path / "a.csv"), ("rating", "timestamp"))
    check(vg.read_ratings(tmp_path / "b.txt.gz"))
    turned = vg.read_ratings(tmp_path / "a.csv", user="movieId", item="userId", rating="timestamp")
    assert turned.vertex_properties["id"].tolist() == [8, 50, 3, 7, 900]
    assert turned.edges()[2]["rating"].tolist() == [13, 14, 12, 11]


def test_text_goes_by_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    (tmp_path / "a.csv").write_text(
        'user,item,stars,tag,when\nbob,"b, or c",2.5,"so, so",1\nann,"b, or c",4,good,2\nann,a,1,bad,3\nzoe,a,5,,4\n'
    )
    check(vg.from_ratings(pandas.read_csv(tmp_path / "a.csv")), ("rating", "when"), ids=False)


def test_rows_and_columns_without_ratings_are_there() -> None:
    from scipy.sparse import csr_matrix

    graph = vg.from_ratings(csr_matrix(([3], ([1], [2])), shape=(4, 5)))
    assert (graph.num_vertices, graph.edges()[0].tolist(), graph.edges()[1].tolist()) == (9, [1], [6])


def test_results_of_edges_come_in_the_order_of_the_ratings() -> None:
    graph = vg.from_ratings(USERS, ITEMS, RATINGS)
    assert graph.in_given_order(graph.edges()[2]["rating"]).tolist() == RATINGS


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "the file has no ratings"),
        ("# nothing\n", 1, "the file has no ratings"),
        ("1,2\n", 1, "expected a user, an item and a rating, got '1,2'"),
        ("user,item,rating\n1,2,3\n1,2\n", 3, "2"),
        ("user,item,rating\n1,2,3\n4,5,six\n", 3, "six"),
        (
            "user,item,stars,tag\n1,2,3,good\n",
            2,
            "'good' is not a number \\(column 'tag'\\); columns of text",
        ),
        ("user,item,stars\nann,2,3\n", 2, "'ann' is not a vertex id \\(column 'user'\\); .* vg.from_ratings"),
        ("1 2 3\n\n# more\n4 -5 6\n", 4, "-5"),
        ("1 2 3\n4 5.5 6\n", 2, "5.5"),
        ("1 2 3\n4 5 6 7\n", 2, "4"),
        (f"1 2 3\n{2**32} 5 6\n", 2, str(2**32)),
        ("user,item,rating\n1,2,3\n\n4,5,nan\n6,7,nan\n", 4, "a rating is nan"),
        ("1 2 inf\n", 1, "a rating is inf"),
        ("user,item,item\n1,2,3\n", 1, "two columns are called 'item'"),
    ],
)
def test_malformed_lines(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    with pytest.raises(vg.GraphFormatError, match=says) as caught:
        vg.read_ratings(path)
    assert f"{path}:{line}:" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        (([1], [2], None), {}, "one of three arrays is missing"),
        (([1, 2], [2], [3]), {}, "items: one dimension and 2 elements"),
        (([1], [2], ["x"]), {}, "ratings are numbers, not <U1"),
        (([1, "a", None], [1, 2, 3], [1, 2, 3]), {}, "cannot be sorted"),
        (([1.0, np.nan], [1, 2], [1, 2]), {}, "users: an id is NaN"),
        ((np.array([2**63], np.uint64), [1], [1]), {}, "users: the id 9223372036854775808 does not fit"),
        (([1, 2], [[1], [2, 3]], [1, 2]), {}, "items: setting an array element"),
        (([1], [2], [3]), {"user": "who"}, "user='who': only data frames"),
        (("ratings.csv",), {}, "takes a data frame, a SciPy matrix or three arrays, not str"),
    ],
)
def test_what_is_refused(given: tuple[Any, ...], options: dict[str, Any], says: str) -> None:
    given = tuple(np.array(x, object) if isinstance(x, list) and None in x else x for x in given)
    with pytest.raises(vg.GraphError, match=says):
        vg.from_ratings(*given, **options)


def test_ids_of_mixed_integers_are_exact() -> None:
    graph = vg.from_ratings(np.array([2**53 + 1], np.uint64), np.array([-5]), [1])
    assert graph.vertex_properties["id"].tolist() == [2**53 + 1, -5]


def test_columns_called_by_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    check(vg.from_ratings(pandas.DataFrame(list(zip(USERS, ITEMS, RATINGS, strict=True)))))


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TITLED)
    (tmp_path / "b.txt").write_text(PLAIN)
    for name, options, says in (
        ("a.csv", {"user": "who"}, "user='who': there is no such column; there are userId, movieId, rating"),
        ("a.csv", {"user": "movieId"}, "one column for two things"),
        ("b.txt", {"user": "who"}, "no line of names"),
    ):
        with pytest.raises(vg.GraphFormatError, match=says):
            vg.read_ratings(tmp_path / name, **options)


def test_a_format_of_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TITLED)
    check(vg.read(tmp_path / "a.csv", format="ratings"), ("rating", "timestamp"))
    assert vg.read(tmp_path / "a.csv", format="ratings", id_bits=64).id_dtype == np.uint64
    assert vg.read(tmp_path / "a.csv", format="ratings", rating="timestamp").edges()[2]["rating"][0] == 13
    with pytest.raises(vg.GraphError, match="ratings lead from users to items"):
        vg.read(tmp_path / "a.csv", format="ratings", directed=False)
