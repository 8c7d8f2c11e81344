"""Lines of whole numbers of any length: neighbor lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vgraph.io.streams import TextSource, is_comment, quoted
from vgraph.io.tokens import scan

_INT64_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class Lists:
    """The numbers of all lines in a row, how many each line has, and each line's number in the file."""

    values: NDArray[np.int64]
    lengths: NDArray[np.int64]
    line_of: NDArray[np.int64]


def read_lists(source: TextSource, *, comments: bytes, limit: int | None = None) -> Lists:
    """Every line from the next on that is no comment; empty lines count.

    `limit`: how many lines there may be; only empty lines may follow. Raises GraphFormatError where a line
    holds anything but numbers without a sign.
    """
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    for first, block in source.blocks():
        tokens = scan(block)
        if tokens is None or tokens.forms is not None or tokens.values.max(initial=0) > _INT64_MAX:
            parts.append(_read_lines(source, first, block, comments))
        else:
            assert tokens.per_line is not None
            lines = np.arange(first, first + tokens.per_line.size)
            parts.append((tokens.values.astype(np.int64), tokens.per_line, lines))
    empty = np.empty(0, np.int64)
    values, lengths, line_of = (np.concatenate((empty, *(part[i] for part in parts))) for i in range(3))
    if limit is not None and lengths.size > limit:
        extra = np.flatnonzero(lengths[limit:])
        if extra.size:
            source.fail(
                f"{limit} vertices declared, but here is one more line", int(line_of[limit + extra[0]])
            )
        lengths, line_of = lengths[:limit], line_of[:limit]
    return Lists(values, lengths, line_of)


def _read_lines(
    source: TextSource, first: int, block: bytes, comments: bytes
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    values: list[int] = []
    lengths, lines = [], []
    for number, line in enumerate(block[:-1].split(b"\n"), first):
        if line.strip() and is_comment(line, comments):
            continue
        words = line.split()
        for word in words:
            if not word.isdigit():
                source.fail(f"{quoted(word)} is not a whole number from 0 on", number)
            if int(word) > _INT64_MAX:
                source.fail(f"{quoted(word)} does not fit 64 bits", number)
        values += map(int, words)
        lengths.append(len(words))
        lines.append(number)
    return np.array(values, np.int64), np.array(lengths, np.int64), np.array(lines, np.int64)
