"""Ratings, or whatever else some give to others, as a graph of two sides: users come first, then items."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError, shown
from vgraph.graph import Graph
from vgraph.graph.arrays import MAX_VERTICES, check_name
from vgraph.graph.build import BuildOptions
from vgraph.io.compression import as_path
from vgraph.io.edgelist import names_of
from vgraph.io.options import ReadOptions
from vgraph.io.streams import Progress, TextSource, is_comment, quoted, without_comment
from vgraph.io.table import Layout, check_columns, read_rows, unquoted
from vgraph.tracebacks import public

_PLAIN: Final = BuildOptions()
COLUMNS = ("user", "item", "rating")
_WAY_OUT = "columns of text, and ids of any kind, are taken by vg.from_ratings(pandas.read_csv(...))"


@public
def from_ratings(
    ratings: Any,
    items: Any = None,
    values: Any = None,
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
) -> Graph:
    """A graph of who rated what: an arc from each user to each item that it rated, with edge property `rating`.

    ratings: a pandas data frame, whose first three columns are users, items and ratings unless `user`, `item` and
    `rating` name others, and whose further columns of numbers are edge properties, too; or a SciPy sparse matrix with a
    row for each user and a column for each item; or, with `items` and `values`, an array of users: ids of any type that
    can be sorted. Users are vertices 0, 1, ... by ascending id, and items follow; rows and columns of a matrix are all
    there. The vertex property `id` has ids that are integers. Edges come in the order given, those of a matrix row by
    row. Raises GraphError for what is none of these, and for ratings that are no finite numbers.
    """
    if items is not None or values is not None:
        if items is None or values is None:
            raise GraphError("from_ratings(users, items, values): one of three arrays is missing")
        _no_names(user, item, rating)
        return _of_arrays(
            _array(ratings, "users"), _array(items, "items"), {"rating": _array(values, "values")}
        )
    if hasattr(ratings, "columns"):
        titles = {str(n): n for n in ratings.columns}
        names = _chosen(list(map(str, ratings.columns)), (user, item, rating))
        columns = [ratings[titles[name]].to_numpy() for name in names]
        more = {name: ratings[n].to_numpy() for name, n in titles.items() if name not in names}
        numbers = {name: x for name, x in more.items() if x.dtype.kind in "biuf" and name != "rating"}
        return _of_arrays(columns[0], columns[1], {"rating": columns[2], **numbers})
    if hasattr(ratings, "tocoo") and getattr(ratings, "ndim", 2) == 2:
        _no_names(user, item, rating)
        found = ratings.tocsr().tocoo()
        users, things = found.shape
        ids = np.r_[np.arange(users), np.arange(things)]
        return _graph(found.row, users, found.col, things, ids, {"rating": found.data})
    raise GraphError(
        f"from_ratings takes a data frame, a SciPy matrix or three arrays, not {type(ratings).__name__}"
    )


@public
def read_ratings(
    path: str | os.PathLike[str],
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    progress: Progress | None = None,
) -> Graph:
    """`from_ratings` of a file, as is `read(path, format="ratings")`: a user, an item and a rating on each line.

    Between them are commas, tabs or blanks. A first line of names tells what columns are called; then those beyond the
    first three, or those that `user`, `item` and `rating` do not name, are edge properties, too. Without one, further
    columns are left out. Users and items are integers from 0 to 2**32 - 1, ratings are finite. Lines that begin with
    `#` or `%` are comments; `.gz`, `.xz`, `.bz2` and `.zst` are unpacked. Raises GraphFormatError, with the line, for
    what is none of this; a file with text in it is for `from_ratings(pandas.read_csv(path))`, which takes ids of any
    kind and leaves out other text.
    """
    return read(as_path(path), ReadOptions(progress=progress), user=user, item=item, rating=rating)


def read(
    path: Path,
    common: ReadOptions,
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
) -> Graph:
    """Read ratings."""
    if common.directed is False:
        raise GraphError("directed=False: ratings lead from users to items")
    with TextSource(path, common.progress) as text:
        while (line := text.peek()) is not None and is_comment(line):
            text.line()
        if line is None:
            text.fail("the file has no ratings")
        words, named = names_of(line)
        if len(words) < 3:
            text.fail(f"expected a user, an item and a rating, got {quoted(line)}", text.line_number)
        titles = [w.decode("utf-8", "replace") for w in words] if named else _untitled(len(words))
        if not named and (user, item, rating) != (None, None, None):
            text.fail("the file has no line of names, so that no column is called by one", text.line_number)
        check_columns(text, titles)
        try:
            chosen = _chosen(titles, (user, item, rating))
        except GraphError as error:
            text.fail(str(error), text.line_number)
        if named:
            text.line()
        at = titles.index(chosen[0]), titles.index(chosen[1])
        comma = b"," in without_comment(unquoted(line))
        layout = Layout(
            tuple(titles), at, num_vertices=MAX_VERTICES, comma=comma, quotes=True, way_out=_WAY_OUT
        )
        rows = read_rows(text, layout)
        wrong = np.flatnonzero(~np.isfinite(rows.columns[chosen[2]]))
        if wrong.size:
            value = rows.columns[chosen[2]][wrong[0]]
            text.fail(f"a rating is {value}", text.line_of(int(wrong[0]), layout.comments))
    users, items = rows.keys >> np.uint64(32), rows.keys & np.uint64(0xFFFFFFFF)
    more = {name: x for name, x in rows.columns.items() if name not in (chosen[2], "rating") and named}
    properties = {"rating": rows.columns[chosen[2]], **more}
    return _of_arrays(users, items, properties, common.build(directed=True))


def _no_names(*given: str | None) -> None:
    for what, name in zip(COLUMNS, given, strict=True):
        if name is not None:
            raise GraphError(f"{what}={shown(name)}: only data frames have columns with names")


def _array(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise GraphError(f"{name}: {error}") from None


def _untitled(count: int) -> list[str]:
    return [*COLUMNS, *(f"column_{k}" for k in range(3, count))]


def _chosen(names: list[str], given: tuple[str | None, str | None, str | None]) -> list[str]:
    """The columns of users, items and ratings."""
    if len(names) < 3:
        raise GraphError(f"ratings have three columns; there are {', '.join(names) or 'none'}")
    for what, name in zip(COLUMNS, given, strict=True):
        if name is not None and name not in names:
            raise GraphError(f"{what}={shown(name)}: there is no such column; there are {', '.join(names)}")
    chosen = [names[k] if name is None else name for k, name in enumerate(given)]
    if len({*chosen}) < 3:
        raise GraphError(
            f"one column for two things: users are {', items '.join(chosen[:2])}, ratings {chosen[2]}"
        )
    return chosen


def _of_arrays(
    users: NDArray[Any],
    items: NDArray[Any],
    properties: dict[str, NDArray[Any]],
    build: BuildOptions = _PLAIN,
) -> Graph:
    for name, values in (("users", users), ("items", items), *properties.items()):
        if values.ndim != 1 or values.size != users.size:
            raise GraphError(
                f"{name}: one dimension and {users.size} elements, one for each rating; not {values.shape}"
            )
    try:
        first, u = np.unique(users, return_inverse=True)
        second, i = np.unique(items, return_inverse=True)
    except TypeError as error:
        raise GraphError(f"ids of users or items cannot be sorted: {error}") from None
    for name, found in (("users", first), ("items", second)):
        if found.dtype.kind == "f" and np.isnan(found).any():
            raise GraphError(f"{name}: an id is NaN; leave out ratings whose {name} are not known")
        if found.dtype.kind == "u" and found.max(initial=0) > np.iinfo(np.int64).max:
            raise GraphError(f"{name}: the id {found.max()} does not fit int64")
    whole = first.dtype.kind in "biu" and second.dtype.kind in "biu"
    ids = np.r_[first.astype(np.int64), second.astype(np.int64)] if whole else None
    return _graph(u, first.size, i, second.size, ids, properties, build)


def _graph(
    u: NDArray[Any],
    users: int,
    i: NDArray[Any],
    items: int,
    ids: NDArray[Any] | None,
    edge: dict[str, NDArray[Any]],
    build: BuildOptions = _PLAIN,
) -> Graph:
    for name in edge:
        check_name(name)
    if edge["rating"].dtype.kind not in "biuf":
        raise GraphError(f"ratings are numbers, not {edge['rating'].dtype}")
    wrong = np.flatnonzero(~np.isfinite(edge["rating"]))
    if wrong.size:
        raise GraphError(
            f"rating {wrong[0]} (counted from 0) is {edge['rating'][wrong[0]]}; leave out ratings that are not known"
        )
    vertex = {} if ids is None else {"id": ids}
    return Graph.from_ends(u, users + i.astype(np.int64), users + items, build, edge, vertex)
