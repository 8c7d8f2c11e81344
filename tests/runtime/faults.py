"""System calls that fail, or in which the process is killed: what stands for the module `os` in the code under test."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from typing import Any

CALLS = {
    "os": (
        "open", "close", "read", "pread", "write", "fsync", "fstat", "lstat", "mkdir", "makedirs", "replace", "link",
        "unlink", "utime", "scandir",
    ),
    "fcntl": ("flock",),
}  # fmt: skip


def fail(name: str, arguments: tuple[Any, ...]) -> None:
    """As on a broken disk."""
    if name == "close":
        os.close(*arguments)
    raise OSError(errno.EIO, f"injected into {name}")


def fail_half_way(name: str, arguments: tuple[Any, ...]) -> None:
    """As on a full disk: a part of what was to be written is there."""
    if name == "write":
        os.write(arguments[0], arguments[1][: len(arguments[1]) // 2])
    fail(name, arguments)


def kill(name: str, arguments: tuple[Any, ...]) -> None:
    """The process, half way through a write."""
    if name == "write":
        os.write(arguments[0], arguments[1][: len(arguments[1]) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


class Faults:
    """Counts system calls; the one of number `at`, from 0, ends in `how`."""

    def __init__(self, at: int, how: Callable[[str, tuple[Any, ...]], None] = fail) -> None:
        self.at, self.how, self.calls = at, how, 0

    @property
    def happened(self) -> bool:
        """Whether there were so many calls."""
        return self.calls > self.at

    def into(self, module: Any) -> Any:
        """What stands for `module`."""
        return _Faulty(self, module)

    def call(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """The call, unless it is its turn."""
        self.calls += 1
        if self.calls == self.at + 1:
            self.how(function.__name__, arguments)
        return function(*arguments, **options)


class _Faulty:
    def __init__(self, faults: Faults, module: Any) -> None:
        self._faults, self._module = faults, module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name not in CALLS[self._module.__name__]:
            return found
        return lambda *arguments, **options: self._faults.call(found, *arguments, **options)
