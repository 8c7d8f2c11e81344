"""Tables of numbers, an edge per line: block by block with `tokens.scan`, by line where that gives up."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph.arrays import check_name, max_vertices, too_many_vertices
from vgraph.graph.build import bytes_per_edge
from vgraph.io.columns import Column, NumberColumn
from vgraph.io.streams import TextSource, is_comment, quoted, without_comment
from vgraph.io.tokens import is_integer, no_number, parse_number, scan
from vgraph.records import dataclass

MAX_FIELDS = 1024  # of a line
MAX_WORKERS = 4  # more of them wait for the interpreter lock: with 8, 1.2 times as long on 16 cores
_QUOTED = re.compile(rb'(?<![^\s,])"[ \t]*([^\s",]+)[ \t]*"(?![^\s,])')

Block = tuple[list[NDArray[np.uint64]], list[NDArray[Any]]]  # the columns of ids, the other columns


@dataclass(frozen=True)
class Layout:
    """What a line holds: vertex ids in the columns `ids`, other numbers in the rest; `fields` names them all.

    Ids count from `base`; `num_vertices` is the declared number, or None. `mark` is the word that each line
    begins with. A line that begins with a byte of `comments` is skipped. `comma`: fields are separated by
    commas; `quotes`: they may stand in double quotes. `values`: which numbers may stand in the other columns.
    `way_out`: what to do where a column holds text, whose name is told then.
    """

    fields: tuple[str, ...]
    ids: tuple[int, ...] = (0, 1)
    base: int = 0
    num_vertices: int | None = None
    mark: bytes = b""
    comments: bytes = b"#%"
    comma: bool = False
    quotes: bool = False
    values: Literal["real", "integer", "unsigned"] = "real"
    way_out: str = ""

    @property
    def last_id(self) -> int:
        """The largest id that a line may hold."""
        count = max_vertices() if self.num_vertices is None else self.num_vertices
        return count - 1 + self.base

    def told(self, column: int) -> str:
        """Which column holds text, and what to do about it."""
        return f" (column {self.fields[column]!r}); {self.way_out}" if self.way_out else ""

    @property
    def others(self) -> list[int]:
        """The columns that hold no ids."""
        return [column for column in range(len(self.fields)) if column not in self.ids]


@dataclass
class Rows:
    """A table read to its end: a key for every row, and the columns that hold no ids."""

    keys: NDArray[np.uint64]
    columns: dict[str, NDArray[Any]]


Key = Callable[[int, list[NDArray[np.uint64]]], NDArray[np.uint64]]


def edge_keys(_: int, ids: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """`source << 32 | target` for each row."""
    keys = ids[0] << np.uint64(32)
    keys |= ids[1]
    return keys


def only_id(_: int, ids: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """The id itself, where a row has one."""
    return ids[0]


def read_rows(
    source: TextSource, layout: Layout, *, directed: bool = True, key: Key = edge_keys, more_bytes: int = 0
) -> Rows:
    """All rows from the next line of `source` on.

    `key` makes the keys of a block from the number of its first row, from 0, and its columns of ids. `directed` says
    what will be built of them, `more_bytes` what a row takes besides: rows that the memory does not hold are refused
    as soon as that shows.
    """
    keys = Column(np.uint64)
    columns = [NumberColumn() for _ in layout.others]
    rows = 0
    for size, (ids, values) in _read_blocks(source, layout):
        keys.append(key(rows, ids))
        for column, part in zip(columns, values, strict=True):
            column.append(part)
        found = len((*ids, *values)[0])
        rows += found
        source.check_data(size, found)
        row_bytes = bytes_per_edge([column.dtype for column in columns], directed=directed)
        source.check_memory(rows, row_bytes + more_bytes)
    for column in columns:
        if column.conflict is not None:
            reason = (
                "no 64-bit type holds both negative integers and such from 2**63 on, and this column has both"
            )
            source.fail(reason, source.line_of(column.conflict, layout.comments))
    named = zip(layout.others, columns, strict=True)
    return Rows(keys.finish(), {layout.fields[at]: column.finish() for at, column in named})


def check_columns(source: TextSource, names: Sequence[str]) -> None:
    """Refuse names of columns that cannot be properties of edges, at the next line."""
    line = source.line_number
    if len(names) > MAX_FIELDS:
        source.fail(f"{len(names)} columns; there may be {MAX_FIELDS}", line)
    for index, name in enumerate(names):
        if name in names[:index]:
            source.fail(f"two columns are called {name!r}", line)
        try:
            check_name(name)
        except GraphError as error:
            source.fail(str(error), line)


def _read_blocks(source: TextSource, layout: Layout) -> Iterator[tuple[int, Block]]:
    """The bytes and the columns of every block, some ahead of time: NumPy works outside the interpreter lock."""
    workers = min(MAX_WORKERS, os.cpu_count() or 1)
    ahead: deque[tuple[int, Future[Block]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for first, block in source.blocks():
            ahead.append((len(block), pool.submit(read_block, source, first, block, layout)))
            if len(ahead) > 2 * workers:
                size, found = ahead.popleft()
                yield size, found.result()
        while ahead:
            size, found = ahead.popleft()
            yield size, found.result()


def read_block(source: TextSource, first: int, block: bytes, layout: Layout) -> Block:
    """The columns of a block: ids, uint64, from 0, and other numbers, each column as `NumberColumn` takes it.

    `first` is the number of the first line. Raises GraphFormatError at the line that is not as `layout` says.
    """
    if layout.quotes:
        block = unquoted(block)
    fast = _read_fast(block, layout)
    return _read_lines(source, first, block, layout) if fast is None else fast


def unquoted(text: bytes) -> bytes:
    """The text without the double quotes around whole fields."""
    return _QUOTED.sub(rb"\1", text) if b'"' in text else text


def _read_fast(block: bytes, layout: Layout) -> Block | None:
    """None unless each line is exactly as `layout` says."""
    if layout.mark:
        before = len(block)
        block = (b"\n" + block).replace(b"\n" + layout.mark + b" ", b"\n")[1:]
        marks = (before - len(block)) // (len(layout.mark) + 1)
    columns = len(layout.fields)
    tokens = scan(block, columns, comma=layout.comma)
    if tokens is None:
        return None
    rows = tokens.values.size // columns
    if layout.mark and (marks != rows or tokens.per_line is not None):  # a blank line may have had a mark
        return None
    if tokens.per_line is not None and not _regular(tokens.per_line, columns):
        return None
    ids = [tokens.plain(slice(column, None, columns)) for column in layout.ids]
    parts = [tokens.numbers(slice(column, None, columns)) for column in layout.others]
    checked = [part for part in ids if part is not None and _in_range(part, layout)]
    values = [part for part in parts if part is not None and _allowed(part, layout)]
    if len(checked) + len(values) < columns:
        return None
    base = np.uint64(layout.base)
    return [part - base if base else np.ascontiguousarray(part) for part in checked], values


def _in_range(ids: NDArray[np.uint64], layout: Layout) -> bool:
    return not ids.size or (int(ids.max()) <= layout.last_id and int(ids.min()) >= layout.base)


def _allowed(values: NDArray[Any], layout: Layout) -> bool:
    if layout.values == "real":
        return True
    return values.dtype.kind == "i" and (layout.values == "integer" or values.min(initial=0) >= 0)


def _regular(per_line: NDArray[np.int64], columns: int) -> bool:
    return bool(((per_line == 0) | (per_line == columns)).all())


def _read_lines(source: TextSource, first: int, block: bytes, layout: Layout) -> Block:
    """The same, a line at a time: slower, tolerant of blank lines and comments, and exact about faults."""
    ids: list[list[int]] = [[] for _ in layout.ids]
    others: list[list[int | float]] = [[] for _ in layout.others]
    for number, text in enumerate(block.split(b"\n"), first):
        line = text.strip()
        if is_comment(line, layout.comments):
            continue
        fields = _fields(source, number, line, layout)
        for column, at in zip(ids, layout.ids, strict=True):
            column.append(_id(source, number, fields[at], layout, at))
        for values, at in zip(others, layout.others, strict=True):
            values.append(_value(source, number, fields[at], layout, at))
    parts = [_column(values) for values in others]
    return [np.array(column, np.uint64) - np.uint64(layout.base) for column in ids], parts


def _column(values: list[int | float]) -> NDArray[Any]:
    if any(isinstance(value, float) for value in values):
        return np.array(values, np.float64)
    if max(values, default=0) < 1 << 63:
        return np.array(values, np.int64)
    return np.array(values, np.uint64 if min(values) >= 0 else object)


def _fields(source: TextSource, number: int, line: bytes, layout: Layout) -> Sequence[bytes]:
    if b"#" in layout.comments:
        line = without_comment(line)
    fields = [field.strip() for field in line.split(b",")] if layout.comma else line.split()
    if layout.mark:
        if fields[0] != layout.mark:
            form = " ".join((layout.mark.decode(), *layout.fields))
            source.fail(f"expected a line '{form}', got {quoted(line)}", number)
        fields = fields[1:]
    if len(fields) != len(layout.fields):
        names = " ".join(layout.fields)
        count = "1 field" if len(layout.fields) == 1 else f"{len(layout.fields)} fields"
        source.fail(f"expected {count} ({names}), got {len(fields)}: {quoted(line)}", number)
    return fields


def _id(source: TextSource, number: int, field: bytes, layout: Layout, column: int) -> int:
    if not field.isdigit():
        source.fail(f"{quoted(field)} is not a vertex id{layout.told(column)}", number)
    value = parse_number(field)
    if value is None:
        source.fail(f"vertex {quoted(field)} {no_number(field)}", number)
    assert isinstance(value, int)
    if layout.base <= value <= layout.last_id:
        return value
    if layout.num_vertices is not None:
        source.fail(f"vertex {value} is out of range {layout.base}..{layout.last_id}", number)
    return source.fail(f"vertex {value}: {too_many_vertices(value + 1)}", number)


def _value(source: TextSource, number: int, field: bytes, layout: Layout, column: int) -> int | float:
    value = parse_number(field)
    if value is None:
        source.fail(f"{quoted(field)} {no_number(field)}{layout.told(column)}", number)
    if layout.values != "real" and not is_integer(field):
        source.fail(f"{quoted(field)} is not an integer, which the header announces", number)
    if layout.values == "unsigned" and value < 0:
        source.fail(f"{quoted(field)} is negative, and the header announces unsigned integers", number)
    return value
