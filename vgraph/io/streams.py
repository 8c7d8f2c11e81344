"""A graph file as decompressed lines and blocks of lines, with positions for error messages and progress."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NoReturn

import numpy as np

from vgraph.errors import GraphFormatError, VGraphError
from vgraph.graph import arrays
from vgraph.io.compression import CORRUPT, compression_of, open_compressed, open_file

Progress = Callable[[int, int], None]  # bytes of the file consumed so far, bytes of the file

BLOCK = 1 << 20
"""Bytes read at a time. Of less, the interpreter lock changes hands more often, and what threads do takes longer for it
(12 million weighted edges on 16 cores, s: 1/4 MiB 0.50, 1/2 MiB 0.43, 1 MiB 0.40)."""
MAX_EMPTY = 1 << 22  # bytes in a row, before or between the data, that may hold none
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHOLE = re.compile(rb"0|[1-9][0-9]{0,17}")


def max_line() -> int:
    """The longest line of data, in bytes: what is made of a line while it is parsed takes up to 100 times as much."""
    return arrays.memory() // 128


class TextSource:
    """The decompressed text of a graph file, line by line or in blocks of whole lines.

    `line_number` is the 1-based number of the next line. What `line` gives is a header: all of it together may have
    `MAX_EMPTY` bytes.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path, self.line_number = path, 1
        self._progress = progress
        self._raw = open_file(path)
        self._size = os.fstat(self._raw.fileno()).st_size
        try:
            self._compression = compression_of(self._raw, path)
            self._stream = open_compressed(self._raw, self._compression, "rb")
            self._pending, self._at = self._read().removeprefix(_BYTE_ORDER_MARK), 0
        except VGraphError:
            self._raw.close()
            raise
        self._header = self._empty = 0
        self._first_line = 1

    def __enter__(self) -> TextSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        self._raw.close()

    def fail(self, reason: str, line: int | None = None) -> NoReturn:
        """Refuse the file, at `line` or at the line read last."""
        raise GraphFormatError(self.path, line or max(1, self.line_number - 1), reason)

    def peek(self) -> bytes | None:
        """The next line without its end, or None at the end of the file; it stays the next."""
        end = self._pending.find(b"\n", self._at)
        if end < 0:
            self._complete_line()
            end = self._pending.find(b"\n")
        if end < 0:
            end = len(self._pending)
        if self._at == len(self._pending):
            return None
        return self._pending[self._at : end].rstrip(b"\r")

    def _complete_line(self) -> None:
        """Read on until the next line is there to its end."""
        parts = [self._pending[self._at :]]
        size = len(parts[0])
        while more := self._read():
            parts.append(more)
            size += len(more)
            if b"\n" in more:
                break
            self._check_header(self._header + size, self.line_number)
        self._pending, self._at = b"".join(parts), 0

    def line(self) -> bytes | None:
        """The next line without its end, or None at the end of the file."""
        text = self.peek()
        if text is not None:
            start, end = self._at, self._pending.find(b"\n", self._at)
            self._at = end + 1 if end >= 0 else len(self._pending)
            self._header += self._at - start
            self._check_header(self._header, self.line_number)
            self.line_number += 1
        return text

    def _check_header(self, size: int, line: int) -> None:
        if size > MAX_EMPTY:
            self.fail(f"the first {MAX_EMPTY >> 10} KiB of the file hold no data", line)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """What remains, as (number of its first line, whole lines that end in a newline)."""
        parts = [self._pending[self._at :]]
        self._pending, self._at = b"", 0
        self._first_line = self.line_number
        while True:
            data = self._read()
            cut = data.rfind(b"\n") + 1
            if data and not cut:
                parts.append(data)
                if len(parts) * BLOCK > max_line():
                    line = self.line_number + parts[0].count(b"\n")
                    self.fail(f"this line is longer than {max_line() >> 10} KiB", line)
                continue
            block = b"".join((*parts, data[:cut]))
            parts = [data[cut:]]
            if block and not data and not block.endswith(b"\n"):
                block += b"\n"
            if block:
                if b"\r" in block:
                    block = block.replace(b"\r\n", b"\n")
                first = self.line_number
                self.line_number += int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
                yield first, block
            if not data:
                return

    def check_data(self, size: int, found: int) -> None:
        """Refuse the file if blocks in a row, the last of `size` bytes and `found` data, hold nothing."""
        self._empty = 0 if found else self._empty + size
        if self._empty > MAX_EMPTY:
            self.fail(f"more than {MAX_EMPTY >> 10} KiB in a row hold no data")

    def check_memory(self, rows: int, bytes_per_row: int) -> None:
        """Refuse the file if what can be built of `rows` rows does not fit the memory."""
        needed = rows * bytes_per_row
        if needed > arrays.memory():
            self.fail(f"{rows} rows up to here need {needed >> 20} MiB, more than this machine has")

    def line_of(self, row: int, comments: bytes, *, blanks: bool = False) -> int:
        """The number of the line with the data of `row`, counted from 0 where `blocks` began; reads the file again.

        `blanks`: a blank line is a row, too.
        """
        with TextSource(self.path) as again:
            while again.line_number < self._first_line:
                again.line()
            for first, block in again.blocks():
                lines = enumerate(block[:-1].split(b"\n"), first)
                rows = [n for n, text in lines if not is_comment(text, comments, blanks=blanks)]
                if row < len(rows):
                    return rows[row]
                row -= len(rows)
        return self.line_number

    def _read(self) -> bytes:
        try:
            data = self._stream.read(BLOCK)
        except CORRUPT as error:
            kind = self._compression or "file"
            self.fail(f"the {kind} data is truncated or corrupt after this line: {error}")
        if self._progress is not None:
            self._progress(self._raw.tell(), self._size)
        return data


def is_comment(line: bytes, marks: bytes = b"#%", *, blanks: bool = False) -> bool:
    """Whether a line begins with one of `marks`, or is blank (unless `blanks` count as data)."""
    text = line.strip()
    return text[0] in marks if text else not blanks


def without_comment(line: bytes) -> bytes:
    """The line up to the first `#` or `%`, without blanks at its ends."""
    return re.split(rb"[#%]", line, maxsplit=1)[0].strip()


def whole_number(word: bytes) -> int | None:
    """A number of a header: below 10**18, written in digits without leading zeros; None if it is not."""
    return int(word) if _WHOLE.fullmatch(word) else None


def quoted(text: bytes, limit: int = 40) -> str:
    """Bytes of a file as they can stand in an error message."""
    shown = text[:limit].decode("utf-8", "backslashreplace")
    return repr(shown + "..." if len(text) > limit else shown)
