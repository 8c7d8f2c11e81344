"""The cache on disk: compiled code, the plans to call it, and whatever else is slow to make and may be made again.

An entry is one file, named after its key, that carries a header (magic, format, sizes, key, MAC) before its content.
Since entries are machine code that will run, they are taken only from a folder and files that belong to this user and
that nobody else can write, and only if their MAC was made with this user's key, which lies elsewhere
(`docs/security.md`). Nothing about the cache can make a run fail: whatever is wrong is a `CacheWarning` and the entry
is made again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import struct
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from vgraph import config, private
from vgraph.config import knobs

_MAGIC: Final = b"VGRAPHOC"
_FORMAT: Final = 2
_HEADER: Final = struct.Struct("<8sII32s32sQ")  # magic, format, metadata bytes, key, MAC, content bytes
_PURPOSE: Final = "cache entry"
_SUFFIX: Final = ".vgo"
_TEMPORARY_LIFE: Final = 3600.0
DEFAULT_LIMIT: Final = 512 << 20
"""Bytes of entries kept by default."""


class CacheWarning(UserWarning):
    """The cache of compiled code cannot be used, or one of its entries was ignored."""


def cache_key(parts: Iterable[str | bytes]) -> str:
    """The key, 64 hex digits, of what depends on exactly these texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.hexdigest()


def key_text(value: object) -> str:
    """A text that says all of a value, equal for equal ones: a part of a key.

    Not `repr`: that of a dataclass notes which objects it is writing, and an interrupt may keep it from taking the note
    back; it then writes "..." for good, and different values have one key.
    """
    if type(value) in (str, int, bool, float):
        return repr(value)
    if (fields := getattr(value, "__dataclass_fields__", None)) and not isinstance(value, type):
        return f"{type(value).__qualname__}({', '.join(key_text(getattr(value, name)) for name in fields)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key_text(k)}: {key_text(v)}' for k, v in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"({''.join(f'{key_text(v)}, ' for v in value)})"
    return repr(value)


class ObjectCache:
    """Content by key in one folder, signed with the key in `key_file`; safe for several threads and processes at once.

    `limit` bounds the bytes kept: the entries unused for longest go first.
    """

    def __init__(
        self, directory: Path | str, *, limit: int = DEFAULT_LIMIT, key_file: Path | None = None
    ) -> None:
        self.directory = Path(directory)
        self.limit = limit
        self._signer = private.Signer(key_file or config.key_file())
        self._usable: bool | None = None
        self._told: set[str] = set()
        self._room = 0  # bytes that may be written before the folder is looked through

    def get(self, key: str) -> bytes | None:
        """The content stored under `key`, or None."""
        path = self._path(key)
        if not self._ready(create=False):
            return None
        try:
            data = private.read(path)
        except FileNotFoundError:
            return None
        except OSError as fault:
            self._warn(f"ignored {path}: {_reason(fault)}")
            return None
        try:
            content = self._decode(key, data)
        except ValueError as fault:
            self._warn(f"ignored {path}: {fault}")
            return None
        except OSError as fault:
            self._no_key(fault)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # eviction goes by this time
        return content

    def put(self, key: str, content: bytes, metadata: Mapping[str, str] | None = None) -> None:
        """Store `content`; `metadata` is for people who look into the folder."""
        import json

        path = self._path(key)
        if not self._ready(create=True):
            return
        try:
            entry = self._encode(key, content, json.dumps(dict(metadata or {})).encode())
        except OSError as fault:
            self._no_key(fault)
            return
        if len(entry) > private.LARGEST:
            return
        try:
            private.write(path, entry)
        except OSError as fault:
            self._warn_once(f"cannot store compiled code in {self.directory}: {_reason(fault)}")
            return
        self._room -= len(entry)
        if self._room < 0:
            self._evict(keep=path)

    def _path(self, key: str) -> Path:
        assert len(key) == 64, "a key comes from cache_key"
        return self.directory / (key + _SUFFIX)

    def _ready(self, *, create: bool) -> bool:
        """Whether the folder is there and private; looked at until the answer is final."""
        if self._usable is None:
            try:
                if create:
                    private.make_folder(self.directory)
                reason = private.folder_refusal(self.directory)
            except OSError as fault:
                if not create:
                    return False  # nothing to read yet; a write will tell what is wrong
                reason = f": {_reason(fault)}"
            self._usable = reason is None
            if reason is not None:
                self._warn_once(f"no cache of compiled code: {self.directory} {reason}")
        return self._usable

    def _encode(self, key: str, content: bytes, metadata: bytes) -> bytes:
        name = bytes.fromhex(key)
        mac = self._signer.mac(_PURPOSE, name, metadata, content)
        return _HEADER.pack(_MAGIC, _FORMAT, len(metadata), name, mac, len(content)) + metadata + content

    def _decode(self, key: str, data: bytes) -> bytes:
        """The content of an entry; ValueError says what is wrong with it, OSError with the key file."""
        if len(data) < _HEADER.size:
            raise ValueError("truncated")
        magic, form, metadata_size, name, mac, size = _HEADER.unpack_from(data)
        if magic != _MAGIC:
            raise ValueError("not a cache entry")
        if form != _FORMAT:
            raise ValueError(f"written in format {form}, not {_FORMAT}")
        if len(data) != _HEADER.size + metadata_size + size:
            raise ValueError("truncated")
        if name.hex() != key:
            raise ValueError("it holds the content of another key")
        start = _HEADER.size + metadata_size
        metadata, content = data[_HEADER.size : start], data[start:]
        if not self._signer.signed(mac, _PURPOSE, name, metadata, content):
            raise ValueError(f"damaged, or not signed with the key in {self._signer.file}")
        return content

    def _evict(self, keep: Path) -> None:
        entries = []
        now = time.time()
        with contextlib.suppress(OSError), os.scandir(self.directory) as scan:
            for entry in scan:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if entry.name.startswith(private.TEMPORARY) and now - status.st_mtime > _TEMPORARY_LIFE:
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
        self._room = (self.limit - total) // 4  # other processes write, too

    def _no_key(self, fault: OSError) -> None:
        self._warn_once(
            f"no cache of compiled code: its key in {self._signer.file}: {_reason(fault)}; "
            "VGRAPH_KEY_FILE names another file"
        )

    def _warn(self, text: str) -> None:
        warnings.warn(text, CacheWarning, stacklevel=3)

    def _warn_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._warn(text)


def _reason(fault: OSError) -> str:
    return fault.strerror or str(fault)


@functools.lru_cache(maxsize=8)
def _cache_at(directory: Path, key_file: Path) -> ObjectCache:
    return ObjectCache(directory, key_file=key_file)


def places() -> tuple[Path, Path] | None:
    """The folder of the cache and the file of its key; None where the knobs switch it off, or this user has no home."""
    if knobs().no_cache:
        return None
    try:
        return config.cache_directory(), config.key_file()
    except RuntimeError as fault:
        _tell_homeless(str(fault))
        return None


@functools.cache
def _tell_homeless(reason: str) -> None:
    text = f"no cache of compiled code: {reason}; VGRAPH_CACHE_DIR and VGRAPH_KEY_FILE name places for it"
    warnings.warn(text, CacheWarning, stacklevel=4)


def default_cache() -> ObjectCache | None:
    """The cache that the knobs ask for; None where there is none."""
    found = places()
    return None if found is None else _cache_at(*found)


def cached_object(
    parts: Iterable[str | bytes], build: Callable[[], bytes], metadata: Mapping[str, str] | None = None
) -> tuple[bytes, bool]:
    """As `cached`, under the key of `parts`."""
    return cached(cache_key(parts), build, metadata)


def cached(
    key: str, build: Callable[[], bytes], metadata: Mapping[str, str] | None = None
) -> tuple[bytes, bool]:
    """The content under `key` in the default cache, else built and stored; and whether it was there.

    An exception of `build` passes through and leaves nothing in the cache.
    """
    cache = default_cache()
    if cache is None:
        return build(), False
    content = cache.get(key)
    if content is not None:
        return content, True
    content = build()
    cache.put(key, content, metadata)
    return content, False
