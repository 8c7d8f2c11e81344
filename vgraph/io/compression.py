"""Files of graphs as streams of bytes: opened, compressed and decompressed."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import zlib
from pathlib import Path
from typing import IO, Any

from vgraph.errors import GraphError, GraphFormatError, shown

MAGIC = {"gz": b"\x1f\x8b", "xz": b"\xfd7zXZ\x00", "bz2": b"BZh", "zst": b"\x28\xb5\x2f\xfd"}
_ZST_PIECE = 1 << 10  # what is decompressed at once: at most 32 MiB come of it


def _zstd_errors() -> tuple[type[Exception], ...]:
    try:
        return (importlib.import_module("compression.zstd").ZstdError,)  # Python 3.14
    except ImportError:
        return ()


CORRUPT: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, lzma.LZMAError, *_zstd_errors())


def as_path(given: str | os.PathLike[str]) -> Path:
    """What a caller gave as a path. Raises GraphError for what is none."""
    try:
        return Path(given)
    except TypeError:
        raise GraphError(f"a path is a str or an os.PathLike, not {given!r}") from None


def open_file(path: Path) -> io.BufferedReader:
    """The bytes of a file. Raises GraphError, with the system's reason, where it cannot be opened."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise GraphError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise GraphError(f"{path} is a directory, not a graph file") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL or half a character
        raise GraphError(f"the file {shown(str(path), 300)} cannot be opened: {why(error)}") from None


def why(error: Exception) -> str:
    """What the system says of a path or a file."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def compression_of(file: io.BufferedReader, path: Path) -> str | None:
    """The compression that the first bytes of a file just opened show (gz, xz, bz2, zst), or None.

    A file whose suffix promises a compression that its bytes do not show is refused.
    """
    try:
        head = file.peek(8)[:8]
    except OSError as error:
        raise GraphError(f"the file {shown(str(path), 300)} cannot be read: {why(error)}") from None
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


def beside(plain: Path) -> Path | None:
    """The file `plain`, or the same compressed; None if there is neither."""
    names = (plain.name, *(f"{plain.name}.{packed}" for packed in MAGIC))
    return next((path for path in map(plain.with_name, names) if os.path.isfile(path)), None)


def open_compressed(file: IO[bytes] | Path, compression: str | None, mode: str) -> IO[bytes]:
    """A binary stream that compresses or decompresses `file`; `mode` is "rb" (for files that are open) or "wb"."""
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
    return _ZstdReader(file, zstandard)


_OPENERS = {"gz": _open_gzip, "xz": _open_xz, "bz2": bz2.open, "zst": _open_zstd}


class _ZstdReader:
    """Decompressed bytes of a zst file; the library's own reader takes a truncated frame for a whole."""

    def __init__(self, file: IO[bytes], zstandard: Any) -> None:
        self._file, self._zstandard = file, zstandard
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._started = False
        self._ready = b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        parts, length = [self._ready], len(self._ready)
        while length < size:
            part = self._next()
            if part is None:
                break
            parts.append(part)
            length += len(part)
        data = b"".join(parts)
        self._ready = data[size:]
        return data[:size]

    def _next(self) -> bytes | None:
        """Some more bytes, perhaps none; None at the end."""
        rest = b""
        if self._frame.eof:
            rest = self._frame.unused_data
            self._frame, self._started = self._zstandard.ZstdDecompressor().decompressobj(), False
        rest = rest or self._file.read(_ZST_PIECE)
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
        """Close the compressed file."""
        self._file.close()
