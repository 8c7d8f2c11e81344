"""The cache of compiled code on disk.

An entry is one file, named after its key, that carries a header (magic, format, key, checksum) before the
code. Since entries are machine code that will run, they are taken only from a folder and files that belong to
this user and that nobody else can write. Nothing about the cache can make a run fail: whatever is wrong is a
`CacheWarning` and the code is built again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import struct
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from vgraph.config import cache_directory, knobs

_MAGIC: Final = b"VGRAPHOC"
_FORMAT: Final = 1
_HEADER: Final = struct.Struct("<8sII32s16sQ")  # magic, format, metadata bytes, key, checksum, code bytes
_SUFFIX: Final = ".vgo"
_TEMPORARY: Final = ".tmp-"
_TEMPORARY_LIFE: Final = 3600.0
DEFAULT_LIMIT: Final = 512 << 20
"""Bytes of entries kept by default."""


class CacheWarning(UserWarning):
    """The cache of compiled code cannot be used, or one of its entries was ignored."""


def cache_key(parts: Sequence[str]) -> str:
    """The key, 64 hex digits, of code that depends on exactly these texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.hexdigest()


class ObjectCache:
    """Code by key in one folder; safe for several threads and processes at once.

    `limit` bounds the bytes kept: the entries unused for longest go first.
    """

    def __init__(self, directory: Path | str, *, limit: int = DEFAULT_LIMIT) -> None:
        self.directory = Path(directory)
        self.limit = limit
        self._usable: bool | None = None
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """The code stored under `key`, or None."""
        path = self._path(key)
        if not self._ready(create=False):
            return None
        try:
            data = _read_own(path)
        except FileNotFoundError:
            return None
        except OSError as fault:
            self._warn(f"ignored {path}: {fault.strerror or fault}")
            return None
        try:
            code = _decode(key, data)
        except ValueError as fault:
            self._warn(f"ignored {path}: {fault}")
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # eviction goes by this time
        return code

    def put(self, key: str, code: bytes, metadata: Mapping[str, str] | None = None) -> None:
        """Store `code`; `metadata` is for people who look into the folder."""
        import json

        path = self._path(key)
        if not self._ready(create=True):
            return
        temporary = self.directory / f"{_TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(_encode(key, code, json.dumps(dict(metadata or {})).encode()))
            os.replace(temporary, path)
        except OSError as fault:
            with contextlib.suppress(OSError):
                temporary.unlink()
            self._warn_once(f"cannot store compiled code in {self.directory}: {fault.strerror or fault}")
            return
        self._evict(keep=path)

    def _path(self, key: str) -> Path:
        assert len(key) == 64, "a key comes from cache_key"
        return self.directory / (key + _SUFFIX)

    def _ready(self, *, create: bool) -> bool:
        """Whether the folder is there and private; looked at until the answer is final."""
        with self._lock:
            if self._usable is None:
                if create:
                    try:
                        self.directory.parent.mkdir(parents=True, exist_ok=True)
                        self.directory.mkdir(mode=0o700, exist_ok=True)
                    except OSError as fault:
                        self._usable = False
                        self._warn_once(
                            f"no cache of compiled code: {self.directory}: {fault.strerror or fault}"
                        )
                        return False
                try:
                    reason = _not_private(self.directory.lstat())
                except (FileNotFoundError, NotADirectoryError, PermissionError):
                    return False  # nothing to read yet; a write will tell what is wrong
                self._usable = reason is None
                if reason:
                    self._warn_once(f"no cache of compiled code: {self.directory} {reason}")
            return self._usable

    def _evict(self, keep: Path) -> None:
        entries = []
        now = time.time()
        with contextlib.suppress(OSError), os.scandir(self.directory) as scan:
            for entry in scan:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if entry.name.startswith(_TEMPORARY) and now - status.st_mtime > _TEMPORARY_LIFE:
                        os.unlink(entry.path)  # left by a process that was killed
                    elif entry.name.endswith(_SUFFIX):
                        entries.append((status.st_mtime_ns, status.st_size, entry.path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit:
                break
            if path != str(keep):
                with contextlib.suppress(OSError):
                    os.unlink(path)
                total -= size

    def _warn(self, text: str) -> None:
        warnings.warn(text, CacheWarning, stacklevel=3)

    def _warn_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._warn(text)


def _not_private(status: os.stat_result) -> str | None:
    """Why a folder may not be used, or None."""
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by other users"
    return None


def _read_own(path: Path) -> bytes:
    """The content of a regular file of this user; OSError otherwise."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise OSError("not a private file of this user")
        return file.read()


def _checksum(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _encode(key: str, code: bytes, metadata: bytes) -> bytes:
    name = bytes.fromhex(key)
    head = _HEADER.pack(_MAGIC, _FORMAT, len(metadata), name, _checksum(name, metadata, code), len(code))
    return head + metadata + code


def _decode(key: str, data: bytes) -> bytes:
    """The code of an entry; ValueError says what is wrong with it."""
    if len(data) < _HEADER.size:
        raise ValueError("truncated")
    magic, form, metadata_size, name, checksum, code_size = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise ValueError("not a cache entry")
    if form != _FORMAT:
        raise ValueError(f"written in format {form}, not {_FORMAT}")
    if len(data) != _HEADER.size + metadata_size + code_size:
        raise ValueError("truncated")
    if name.hex() != key:
        raise ValueError("it holds the code of another key")
    start = _HEADER.size + metadata_size
    metadata, code = data[_HEADER.size : start], data[start:]
    if _checksum(name, metadata, code) != checksum:
        raise ValueError("wrong checksum")
    return code


@functools.lru_cache(maxsize=8)
def _cache_at(directory: Path) -> ObjectCache:
    return ObjectCache(directory)


def default_cache() -> ObjectCache | None:
    """The cache that the knobs ask for; None when they switch it off."""
    return None if knobs().no_cache else _cache_at(cache_directory())


def cached_object(
    parts: Sequence[str], build: Callable[[], bytes], metadata: Mapping[str, str] | None = None
) -> tuple[bytes, bool]:
    """The code for `parts` from the default cache, else built and stored; and whether it was there.

    An exception of `build` passes through and leaves nothing in the cache.
    """
    cache = default_cache()
    if cache is None:
        return build(), False
    key = cache_key(parts)
    code = cache.get(key)
    if code is not None:
        return code, True
    code = build()
    cache.put(key, code, metadata)
    return code, False
