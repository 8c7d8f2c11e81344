"""What vgraph's own code is, as a part of keys of the cache."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from vgraph.cache import cache_key, cached_object


@functools.cache
def code_stamp() -> str:
    """A hash of vgraph's own code, as far as plans and the text of kernels depend on it.

    Reading all of it takes longer than the rest of a warm start, so the hash is kept under what the system says of the
    files: they are read again where one of them may have changed, and a new copy of the same code has the same hash.
    """
    root = os.fspath(Path(__file__).parent)
    files = {entry.path[len(root) :]: entry for entry in _own_files(root)}
    rows = []
    for name in sorted(files):
        s = files[name].stat()
        rows.append(f"{name} {s.st_dev} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}")

    def read() -> bytes:
        contents = ((name, Path(files[name]).read_bytes()) for name in sorted(files))
        return cache_key(itertools.chain.from_iterable(contents)).encode()

    return cached_object(("vgraph's code", *rows), read, {"what": "hash of vgraph's code"})[0].decode()


def _own_files(root: str) -> Iterator[os.DirEntry[str]]:
    folders = [root, os.path.join(root, "compiler"), os.path.join(root, "language")]
    while folders:
        folder = folders.pop()
        for entry in os.scandir(folder):
            if entry.is_file() and not entry.name.endswith(".pyc"):
                yield entry
            elif folder != root and entry.is_dir() and entry.name != "__pycache__":
                folders.append(entry.path)
    yield from (entry for entry in os.scandir(os.path.join(root, "runtime")) if entry.name == "plan.py")
