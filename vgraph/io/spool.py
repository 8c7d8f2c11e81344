"""What can be read only once (pipes, the standard input), copied to a file that can be read again."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from vgraph.errors import GraphError, GraphFormatError
from vgraph.graph import arrays
from vgraph.io.compression import as_path, open_file, why

STDIN = "-"
_PIECE = 1 << 20


@contextmanager
def readable(given: str | os.PathLike[str]) -> Iterator[Path]:
    """The path of a file with the content of `given`, which may be a pipe, or "-", the standard input.

    A copy bears the same name and is gone at the end; an error of its format names what was given. Raises GraphError
    for what is neither a file nor a pipe, GraphFormatError for more bytes than this machine's memory has.
    """
    path = Path("<stdin>") if given == STDIN else as_path(given)
    if given != STDIN and not _only_once(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="vgraph-") as folder:
        copy = Path(folder) / path.name
        if given == STDIN:
            _copy(_stdin(), copy, path)
        else:
            with open_file(path) as stream:
                _copy(stream, copy, path)
        try:
            yield copy
        except GraphFormatError as error:
            raise GraphFormatError(path, error.line, error.reason) from None


def _stdin() -> IO[bytes]:
    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.closed:
        raise GraphError("the standard input is closed, or holds no bytes")
    return stream


def _only_once(path: Path) -> bool:
    """Whether a path leads to a pipe or a socket."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False  # opening it will tell why
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        raise GraphError(f"{path} is a device, not a graph file")
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _copy(stream: IO[bytes], copy: Path, path: Path) -> None:
    left = arrays.memory()
    try:
        with copy.open("wb") as file:
            while piece := stream.read(_PIECE):
                left -= len(piece)
                if left < 0:
                    raise GraphFormatError(
                        path, None, f"more than {arrays.memory() >> 30} GiB came; write them to a file"
                    )
                file.write(piece)
    except OSError as error:
        raise GraphError(f"{path} cannot be copied to {copy.parent}: {why(error)}") from None
