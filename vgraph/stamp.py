"""What vgraph's own code is, as a part of keys of the cache."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vgraph.cache import cache_key, cached_object


@functools.cache
def code_stamp() -> str:
    """A hash of vgraph's own code, as far as plans and the text of kernels depend on it.

    Reading all of it takes longer than the rest of a warm start, so the hash is kept under what the system says of the
    files: they are read again where one of them may have changed, and a new copy of the same code has the same hash.
    """
    root = os.fspath(Path(__file__).parent)
    files = {path[len(root) :]: path for path in _own_files(root)}
    rows = []
    for name in sorted(files):
        s = os.stat(files[name])
        rows.append(f"{name} {s.st_dev} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}")

    def read() -> bytes:
        contents = ((name, Path(files[name]).read_bytes()) for name in sorted(files))
        return cache_key(itertools.chain.from_iterable(contents)).encode()

    return cached_object(("vgraph's code", *rows), read, {"what": "hash of vgraph's code"})[0].decode()


_FOLDERS: Final = ("compiler", "language", "schedule", "graph/layouts")
_FILES: Final = ("runtime/plan.py", "graph/order.py")


def _own_files(root: str) -> Iterator[str]:
    yield from (entry.path for entry in os.scandir(root) if entry.is_file())
    for folder in _FOLDERS:
        for place, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            yield from (os.path.join(place, name) for name in names)
    yield from (os.path.join(root, name) for name in _FILES)
