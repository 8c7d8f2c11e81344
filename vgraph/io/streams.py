"""A graph file as decompressed lines and blocks of lines, with positions for error messages and progress."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn

import numpy as np

from vgraph.errors import GraphError, GraphFormatError

Progress = Callable[[int, int], None]  # bytes of the file consumed so far, bytes of the file

BLOCK = 1 << 18  # the arrays made while a block is parsed stay in the L2 cache
MAGIC = {"gz": b"\x1f\x8b", "xz": b"\xfd7zXZ\x00", "bz2": b"BZh", "zst": b"\x28\xb5\x2f\xfd"}


def _zstd_errors() -> tuple[type[Exception], ...]:
    try:
        return (importlib.import_module("compression.zstd").ZstdError,)  # Python 3.14
    except ImportError:
        return ()


CORRUPT: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, lzma.LZMAError, *_zstd_errors())


def compression_of(path: Path) -> str | None:
    """The compression that a file's first bytes show (gz, xz, bz2, zst), or None.

    A file whose suffix promises a compression that its bytes do not show is refused.
    """
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError:
        raise GraphError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise GraphError(f"{path} is a directory, not a graph file") from None
    for name, magic in MAGIC.items():
        if head.startswith(magic):
            return name
    promised = path.suffix[1:]
    if promised in MAGIC:
        what = "the file is empty" if not head else f"the content is not {promised} data"
        raise GraphFormatError(path, None, what)
    return None


def strip_compression(path: Path) -> Path:
    """`path` without a final .gz, .xz, .bz2 or .zst."""
    return path.with_suffix("") if path.suffix[1:] in MAGIC else path


def open_compressed(file: IO[bytes] | Path, compression: str | None, mode: str) -> IO[bytes]:
    """A binary stream that compresses or decompresses `file`; `mode` is "rb" or "wb"."""
    if compression is None:
        return file.open(mode) if isinstance(file, Path) else file
    opener: Any = _OPENERS[compression]
    return opener(file, mode)  # type: ignore[no-any-return]


def _open_gzip(file: Any, mode: str) -> Any:
    return gzip.open(file, mode) if mode == "rb" else gzip.open(file, mode, compresslevel=6)


def _open_xz(file: Any, mode: str) -> Any:
    return lzma.open(file, mode) if mode == "rb" else lzma.open(file, mode, preset=2)


def _open_zstd(file: Any, mode: str) -> Any:
    try:
        zstd = importlib.import_module("compression.zstd")  # Python 3.14
    except ImportError:
        pass
    else:
        return zstd.open(file, mode)
    try:
        import zstandard
    except ImportError:
        raise GraphError("zst files need Python 3.14 or the extra: pip install 'vgraph[zst]'") from None
    if mode == "wb":
        return zstandard.open(file, mode)
    return _ZstdReader(file.open("rb") if isinstance(file, Path) else file, zstandard)


_OPENERS = {"gz": _open_gzip, "xz": _open_xz, "bz2": bz2.open, "zst": _open_zstd}


class _ZstdReader:
    """Decompressed bytes of a zst file; the library's own reader takes a truncated frame for a whole."""

    def __init__(self, file: IO[bytes], zstandard: Any) -> None:
        self._file, self._zstandard = file, zstandard
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._started = False
        self._ready = b""

    def read(self, size: int = -1) -> bytes:
        parts, length = [self._ready], len(self._ready)
        while size < 0 or length < size:
            part = self._next()
            if part is None:
                break
            parts.append(part)
            length += len(part)
        data = b"".join(parts)
        cut = length if size < 0 else size
        self._ready = data[cut:]
        return data[:cut]

    def _next(self) -> bytes | None:
        """Some more bytes, perhaps none; None at the end."""
        rest = b""
        if self._frame.eof:
            rest = self._frame.unused_data
            self._frame, self._started = self._zstandard.ZstdDecompressor().decompressobj(), False
        rest = rest or self._file.read(BLOCK)
        if not rest:
            if self._started:
                raise EOFError("the last frame ends early")
            return None
        self._started = True
        try:
            return bytes(self._frame.decompress(rest))
        except self._zstandard.ZstdError as error:
            raise OSError(str(error)) from None

    def __enter__(self) -> _ZstdReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()


class TextSource:
    """The decompressed text of a graph file, line by line or in blocks of whole lines.

    `line_number` is the 1-based number of the next line.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path, self.line_number = path, 1
        self._progress = progress
        compression = compression_of(path)
        self._raw = path.open("rb", buffering=0 if compression is None else -1)
        self._size = path.stat().st_size
        try:
            self._stream = open_compressed(self._raw, compression, "rb")
        except GraphError:
            self._raw.close()
            raise
        self._compression = compression
        self._pending, self._at = b"", 0

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
        while end < 0:
            more = self._read()
            if not more:
                rest = self._pending[self._at :]
                return rest.rstrip(b"\r") if rest else None
            self._pending, self._at = self._pending[self._at :] + more, 0
            end = self._pending.find(b"\n")
        return self._pending[self._at : end].rstrip(b"\r")

    def line(self) -> bytes | None:
        """The next line without its end, or None at the end of the file."""
        text = self.peek()
        if text is not None:
            end = self._pending.find(b"\n", self._at)
            self._at = end + 1 if end >= 0 else len(self._pending)
            self.line_number += 1
        return text

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """What remains, as (number of its first line, whole lines that end in a newline)."""
        parts = [self._pending[self._at :]]
        self._pending, self._at = b"", 0
        while True:
            data = self._read()
            cut = data.rfind(b"\n") + 1
            if data and not cut:
                parts.append(data)
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

    def _read(self) -> bytes:
        try:
            data = self._stream.read(BLOCK)
        except CORRUPT as error:
            kind = self._compression or "file"
            self.fail(f"the {kind} data is truncated or corrupt after this line: {error}")
        if self._progress is not None:
            self._progress(self._raw.tell(), self._size)
        return data


def is_comment(line: bytes, marks: bytes = b"#%") -> bool:
    """Whether a line is blank or begins with one of `marks`."""
    text = line.strip()
    return not text or text[0] in marks


def without_comment(line: bytes) -> bytes:
    """The line up to the first `#` or `%`, without blanks at its ends."""
    return re.split(rb"[#%]", line, maxsplit=1)[0].strip()


def quoted(text: bytes, limit: int = 40) -> str:
    """Bytes of a file as they can stand in an error message."""
    shown = text[:limit].decode("utf-8", "backslashreplace")
    return repr(shown + "..." if len(text) > limit else shown)
