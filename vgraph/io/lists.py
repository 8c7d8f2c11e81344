"""Lines of whole numbers of any length: neighbor lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.io.columns import Column
from vgraph.io.streams import TextSource, is_comment, quoted
from vgraph.io.tokens import no_number, parse_number, scan
from vgraph.records import dataclass

_INT64_MAX = (1 << 63) - 1
_BYTES_PER_NUMBER = 72  # what a graph takes for each neighbor, and each line, while it is made


@dataclass(frozen=True)
class Lists:
    """The numbers of all lines in a row, and how many each line has; int64."""

    values: NDArray[np.int64]
    lengths: NDArray[np.int64]


def read_lists(source: TextSource, *, comments: bytes, limit: int | None = None) -> Lists:
    """Every line from the next on that is no comment; empty lines count.

    `limit`: how many lines there may be; only empty lines may follow. Raises GraphFormatError where a line
    holds anything but numbers without a sign.
    """
    values, lengths = Column(np.int64), Column(np.int64)
    for first, block in source.blocks():
        numbers, counts = _read_block(source, first, block, comments)
        room = counts.size if limit is None else limit - lengths.size
        if counts[room:].any():
            row = room + int(np.argmax(counts[room:] > 0))
            line = source.line_of(lengths.size + row, comments, blanks=True)
            source.fail(f"{limit} vertices declared, but here is one more line", line)
        values.append(numbers)
        lengths.append(counts[:room])
        source.check_data(len(block), numbers.size if limit is None else room)
        source.check_memory(values.size + lengths.size, _BYTES_PER_NUMBER)
    return Lists(values.finish(), lengths.finish())


def _read_block(
    source: TextSource, first: int, block: bytes, comments: bytes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    tokens = scan(block)
    if tokens is None or tokens.forms is not None or tokens.values.max(initial=0) > _INT64_MAX:
        return _read_lines(source, first, block, comments)
    assert tokens.per_line is not None
    return tokens.values.view(np.int64), tokens.per_line


def _read_lines(
    source: TextSource, first: int, block: bytes, comments: bytes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same, a line at a time: for comments, and to say what is wrong."""
    values: list[int] = []
    lengths = []
    for number, line in enumerate(block[:-1].split(b"\n"), first):
        if is_comment(line, comments, blanks=True):
            continue
        words = line.split()
        for word in words:
            if not word.isdigit():
                source.fail(f"{quoted(word)} is not a whole number from 0 on", number)
            value = parse_number(word)
            if value is None:
                source.fail(f"{quoted(word)} {no_number(word)}", number)
            assert isinstance(value, int)
            if value > _INT64_MAX:
                source.fail(f"{quoted(word)} is too large: numbers in lists are below 2**63", number)
            values.append(value)
        lengths.append(len(words))
    return np.array(values, np.int64), np.array(lengths, np.int64)
