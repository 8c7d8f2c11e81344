"""Files that nobody but this user can write, and a key that signs what is kept in them.

A file may belong to this user and yet have been put there by somebody else: a folder is shared, or was unpacked from
an archive. So what will run carries a message authentication code (MAC), made with a key that lies in another folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import struct
from hmac import compare_digest
from pathlib import Path
from typing import Final

LARGEST: Final = 1 << 28
"""Bytes of a file at most: whoever can plant a file shall not fill the memory with it."""
TEMPORARY: Final = ".tmp-"
"""How the names of files begin that are being written."""
MAC_BYTES: Final = 32
_KEY_BYTES: Final = 32


def folder_refusal(folder: Path) -> str | None:
    """Why a folder may not be used, or None. Raises OSError where it cannot be looked at."""
    status = os.lstat(folder)
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by other users"
    return None


def make_folder(folder: Path) -> None:
    """Make a folder for this user alone, if it is not there, and those above it. Raises OSError."""
    os.makedirs(folder.parent, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)


def read(path: Path, forbidden: int = 0o022) -> bytes:
    """The content of a regular file of this user's that has none of the `forbidden` bits. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        mode = status.st_mode
        if not stat.S_ISREG(mode) or status.st_uid != os.geteuid() or mode & forbidden:
            raise OSError("not a private file of this user")
        if status.st_size > LARGEST:
            raise OSError(f"larger than {LARGEST} bytes")
        parts, rest = [], status.st_size
        while rest and (part := os.read(descriptor, rest)):
            parts.append(part)
            rest -= len(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def write(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Give a file this content at once: who opens it meanwhile finds the old or the new. Raises OSError.

    `replace=False`: a file that is there stays as it is, and the new one is on the disk before it has its name.
    """
    temporary = path.parent / f"{TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            if not replace:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if replace:
            os.replace(temporary, path)
            return
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
        os.unlink(temporary)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


class Signer:
    """Signs with the key in `file`, which is made when it is first needed."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @functools.cached_property
    def _key(self) -> bytes:
        try:
            key = read(self.file, forbidden=0o077)
        except FileNotFoundError:
            make_folder(self.file.parent)
            write(self.file, os.urandom(_KEY_BYTES), replace=False)  # unless another process was first
            key = read(self.file, forbidden=0o077)
        if len(key) != _KEY_BYTES:
            raise OSError(f"it has not {_KEY_BYTES} bytes; delete it, and another one is made")
        return key

    def mac(self, purpose: str, *parts: bytes) -> bytes:
        """The MAC of `parts`, of use for this purpose (at most 16 letters) alone.

        Raises OSError where there is no key and none can be made.
        """
        digest = hashlib.blake2b(key=self._key, digest_size=MAC_BYTES, person=purpose.encode())
        for part in parts:
            digest.update(struct.pack("<Q", len(part)))
            digest.update(part)
        return digest.digest()

    def signed(self, mac: bytes, purpose: str, *parts: bytes) -> bool:
        """Whether `mac` is the MAC of `parts`. Raises OSError as `mac` does."""
        return compare_digest(mac, self.mac(purpose, *parts))
