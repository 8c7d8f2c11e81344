"""Tables of numbers, an edge per line: block by block with `tokens.scan`, by line where that gives up."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph._arrays import max_vertices
from vgraph.io.streams import TextSource, is_comment, quoted, without_comment
from vgraph.io.tokens import parse_number, scan

MAX_WORKERS = 4  # the interpreter lock leaves little to gain beyond
CHUNK_ROWS = 1 << 23  # large enough that the memory of a chunk returns to the system when it is freed
_INT64_MAX = (1 << 63) - 1


Block = tuple[list[NDArray[np.uint64]], list[NDArray[Any]]]  # the columns of ids, the other columns


@dataclass(frozen=True)
class Layout:
    """What a line holds: `num_ids` vertex ids, then numbers; `fields` names them all.

    Ids count from `base`; `num_vertices` is the declared number, or None. `mark` is the word that each line
    begins with. A line that begins with a byte of `comments` is skipped. `comma`: fields are separated by
    commas.
    """

    fields: tuple[str, ...]
    num_ids: int = 2
    base: int = 0
    num_vertices: int | None = None
    mark: bytes = b""
    comments: bytes = b"#%"
    comma: bool = False

    @property
    def last_id(self) -> int:
        """The largest id that a line may hold."""
        count = max_vertices() if self.num_vertices is None else self.num_vertices
        return count - 1 + self.base


class Column:
    """Numbers that come in pieces, kept in chunks, each of which is freed when the whole is joined."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._chunks: list[NDArray[Any]] = []

    def append(self, values: NDArray[Any]) -> None:
        """Add `values`, which fit the dtype."""
        done = 0
        while done < values.size:
            at = self.size % CHUNK_ROWS
            if at == 0:
                self._chunks.append(np.empty(CHUNK_ROWS, self.dtype))
            count = min(CHUNK_ROWS - at, values.size - done)
            self._chunks[-1][at : at + count] = values[done : done + count]
            self.size += count
            done += count

    def widen(self, dtype: type[np.generic]) -> None:
        """Go over to another dtype."""
        self.dtype = np.dtype(dtype)
        self._chunks = [chunk.astype(dtype) for chunk in self._chunks]

    def finish(self) -> NDArray[Any]:
        """All values in one array that owns its memory; the column is empty afterwards."""
        size, self.size = self.size, 0
        if len(self._chunks) == 1:
            whole = self._chunks.pop()
            whole.resize(size, refcheck=False)
            return whole
        whole = np.empty(size, self.dtype)
        for start in range(0, size, CHUNK_ROWS):
            end = min(start + CHUNK_ROWS, size)
            whole[start:end] = self._chunks.pop(0)[: end - start]
        return whole


class NumberColumn(Column):
    """A column of numbers in the narrowest of int32, int64 and float64 that holds them."""

    def __init__(self) -> None:
        super().__init__(np.int32)

    def append(self, values: NDArray[Any]) -> None:
        """Add `values`, int64 or float64."""
        if values.dtype.kind == "f":
            if self.dtype.kind != "f":
                self.widen(np.float64)
        elif self.dtype == np.int32 and values.size:
            low, high = int(values.min()), int(values.max())
            if low < -(1 << 31) or high >= 1 << 31:
                self.widen(np.int64)
        super().append(values)


@dataclass
class Rows:
    """A table read to its end: `keys` (`source << 32 | target`), other columns, the largest id from 0."""

    keys: NDArray[np.uint64]
    columns: dict[str, NDArray[Any]]
    max_id: int


def read_edges(source: TextSource, layout: Layout) -> Rows:
    """All edges from the next line of `source` on; the first two fields are the source and the target."""
    keys, max_id = Column(np.uint64), -1
    columns = [NumberColumn() for _ in layout.fields[2:]]
    for ids, values in read_blocks(source, layout):
        max_id = max([max_id, *(int(part.max()) for part in ids if part.size)])
        block_keys = ids[0] << np.uint64(32)
        block_keys |= ids[1]
        keys.append(block_keys)
        for column, part in zip(columns, values, strict=True):
            column.append(part)
    named = zip(layout.fields[2:], columns, strict=True)
    return Rows(keys.finish(), {name: column.finish() for name, column in named}, max_id)


def read_blocks(source: TextSource, layout: Layout) -> Iterator[Block]:
    """`read_block` of every block, in order, some ahead of time: NumPy works outside the interpreter lock."""
    workers = min(MAX_WORKERS, os.cpu_count() or 1)
    ahead: deque[Future[Block]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for first, block in source.blocks():
            ahead.append(pool.submit(read_block, source, first, block, layout))
            if len(ahead) > 2 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def read_block(source: TextSource, first: int, block: bytes, layout: Layout) -> Block:
    """The columns of a block: ids, uint64, from 0, and other numbers, each column int64 or float64.

    `first` is the number of the first line. Raises GraphFormatError at the line that is not as `layout` says.
    """
    fast = _read_fast(block, layout)
    return _read_lines(source, first, block, layout) if fast is None else fast


def _read_fast(block: bytes, layout: Layout) -> Block | None:
    """None unless each line is exactly as `layout` says."""
    marks = -1
    if layout.mark:
        before = len(block)
        block = (b"\n" + block).replace(b"\n" + layout.mark + b" ", b"\n")[1:]
        marks = (before - len(block)) // (len(layout.mark) + 1)
    columns = len(layout.fields)
    tokens = scan(block, columns, comma=layout.comma)
    if tokens is None or (tokens.per_line is not None and not _regular(tokens.per_line, columns)):
        return None
    size = tokens.values.size
    if marks not in (-1, size // columns):
        return None
    ids = [tokens.plain(slice(i, None, columns)) for i in range(layout.num_ids)]
    parts = [tokens.numbers(slice(i, None, columns)) for i in range(layout.num_ids, columns)]
    checked = [part for part in ids if part is not None and _in_range(part, layout)]
    values = [part for part in parts if part is not None]
    if len(checked) + len(values) < columns:
        return None
    if layout.base:
        checked = [part - np.uint64(layout.base) for part in checked]
    return checked, values


def _in_range(ids: NDArray[np.uint64], layout: Layout) -> bool:
    return not ids.size or (int(ids.max()) <= layout.last_id and int(ids.min()) >= layout.base)


def _regular(per_line: NDArray[np.int64], columns: int) -> bool:
    return bool(((per_line == 0) | (per_line == columns)).all())


def _read_lines(source: TextSource, first: int, block: bytes, layout: Layout) -> Block:
    """The same, a line at a time: slower, tolerant of blank lines and comments, and exact about faults."""
    ids: list[list[int]] = []
    rows: list[list[int | float]] = []
    for number, text in enumerate(block.split(b"\n"), first):
        line = text.strip()
        if is_comment(line, layout.comments):
            continue
        fields = _fields(source, number, line, layout)
        ids.append([_id(source, number, field, layout) for field in fields[: layout.num_ids]])
        rows.append([_value(source, number, field) for field in fields[layout.num_ids :]])
    table = np.array(ids, np.uint64).reshape(-1, layout.num_ids) - np.uint64(layout.base)
    width = len(layout.fields) - layout.num_ids
    parts: list[NDArray[Any]] = []
    for i in range(width):
        column = [row[i] for row in rows]
        is_float = any(isinstance(value, float) for value in column)
        parts.append(np.array(column, np.float64 if is_float else np.int64))
    return list(table.T), parts


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
        source.fail(
            f"expected {len(layout.fields)} fields ({names}), got {len(fields)}: {quoted(line)}", number
        )
    return fields


def _id(source: TextSource, number: int, field: bytes, layout: Layout) -> int:
    if not field.isdigit():
        source.fail(f"{quoted(field)} is not a vertex id", number)
    value = int(field)
    if layout.base <= value <= layout.last_id:
        return value
    if layout.num_vertices is not None:
        return source.fail(f"vertex {value} is out of range {layout.base}..{layout.last_id}", number)
    if value < layout.base:
        return source.fail(f"vertex {value} is out of range: vertices count from {layout.base}", number)
    return source.fail(
        f"vertex {value} needs {4 * value / 1e9:.0f} GB of row offsets, more than this machine has; "
        "if the ids are sparse, renumber them",
        number,
    )


def _value(source: TextSource, number: int, field: bytes) -> int | float:
    value = parse_number(field)
    if value is None:
        source.fail(f"{quoted(field)} is not a number", number)
    if isinstance(value, int) and not -_INT64_MAX <= value <= _INT64_MAX:
        source.fail(f"{quoted(field)} does not fit 64 bits", number)
    return value
