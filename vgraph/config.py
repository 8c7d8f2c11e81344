"""The knobs of vgraph: typed, documented in one place, and the only code that reads `os.environ`.

`knobs()` gives the values in force: the environment's, changed by any `scope(...)` around the call. Code that
wants a knob asks for it when it needs it and keeps no copy.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from vgraph.errors import VGraphError
from vgraph.records import dataclass

MAX_DEBUG: Final = 5
MAX_OPT: Final = 3


class KnobError(VGraphError, ValueError):
    """A VGRAPH_* variable has a value that its knob does not take."""


@dataclass(frozen=True)
class Knobs:
    """Values of all knobs; the variable of field `name` is `VGRAPH_NAME`."""

    debug: int = 0
    """To stderr for each program compiled: 1 its schedule, 3 also its code, 4 also the IR after each pass."""
    device: str | None = None
    """Device of `vgraph.run` when the call names none."""
    dump_dir: Path | None = None
    """Folder for IR and generated code of everything compiled."""
    cache_dir: Path | None = None
    """Folder of the cache of compiled code; None: the platform's, see `cache_directory`."""
    key_file: Path | None = None
    """File with the key that signs what is in the cache; None: the platform's, see `key_file`."""
    no_cache: bool = False
    """Neither read nor write the cache of compiled code."""
    threads: int | None = None
    """Threads of a run when the call gives none; None: the CPUs this process may use."""
    opt: int | None = None
    """LLVM's level of optimisation of code for the CPU; at 0 programs compile in a tenth of the time and run slowly.
    None: the highest, but runs on small graphs begin with code of level 0 (`vgraph/runtime/devices/drafts.py`)."""
    verify: bool = False
    """Verify the IR after every pass of the compiler, not only before the first and after the last."""
    all_frames: bool = False
    """Keep vgraph's own frames in the tracebacks of errors in the user's programs, files and calls."""


def _level(most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        level = int(text)
        if not 0 <= level <= most:
            raise ValueError
        return level

    return read


def _positive(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError
    return count


def _flag(text: str) -> bool:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    try:
        return words[text.lower()]
    except KeyError:
        raise ValueError from None


def _folder(text: str) -> Path:
    return Path(text).expanduser()


_READERS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "debug": (_level(MAX_DEBUG), f"a level from 0 to {MAX_DEBUG}"),
    "device": (str, "a device name"),
    "dump_dir": (_folder, "a folder"),
    "cache_dir": (_folder, "a folder"),
    "key_file": (_folder, "a file"),
    "no_cache": (_flag, "0 or 1"),
    "threads": (_positive, "a positive number of threads"),
    "opt": (_level(MAX_OPT), f"a level from 0 to {MAX_OPT}"),
    "verify": (_flag, "0 or 1"),
    "all_frames": (_flag, "0 or 1"),
}
_scoped: ContextVar[dict[str, Any]] = ContextVar("vgraph_knobs")


@functools.lru_cache(maxsize=64)
def _read(name: str, text: str) -> Any:
    reader, expected = _READERS[name]
    try:
        return reader(text.strip())
    except ValueError:
        raise KnobError(f"{_NAMES[name]}={text!r}: expected {expected}") from None


_DEFAULTS: Final = Knobs()
_NAMES: Final = {name: "VGRAPH_" + name.upper() for name in _READERS}


def knob(name: str) -> Any:
    """One of the knobs, for what is asked at every run."""
    overrides = _scoped.get(None)
    if overrides and name in overrides:
        return overrides[name]
    text = os.environ.get(_NAMES[name])
    return getattr(_DEFAULTS, name) if text is None or not text.strip() else _read(name, text)


def knobs() -> Knobs:
    """The knobs in force now. Raises `KnobError` for a variable with a bad value; empty counts as unset."""
    return Knobs(**{name: knob(name) for name in _READERS})


@contextmanager
def scope(**overrides: Any) -> Iterator[Knobs]:
    """Change knobs inside a `with` block, for this thread of control: `with scope(threads=1): ...`."""
    unknown = overrides.keys() - _READERS.keys()
    if unknown:
        raise TypeError(f"unknown knob {sorted(unknown)[0]!r}; the knobs are {', '.join(_READERS)}")
    token = _scoped.set(_scoped.get({}) | overrides)
    try:
        yield knobs()
    finally:
        _scoped.reset(token)


def cache_directory() -> Path:
    """Folder of the cache of compiled code: the knob, else the platform's place for caches.

    Raises RuntimeError where this user has no home.
    """
    return knobs().cache_dir or _platform_folder("XDG_CACHE_HOME", ".cache", "Caches")


def key_file() -> Path:
    """File with the key that signs what is in the cache: the knob, else the platform's place for what lasts.

    Raises RuntimeError where this user has no home.
    """
    return (
        knobs().key_file or _platform_folder("XDG_STATE_HOME", ".local/state", "Application Support") / "key"
    )


def _platform_folder(variable: str, default: str, library: str) -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / library / "vgraph"
    xdg = os.environ.get(variable, "")
    # the XDG specification: a relative path is invalid and must be ignored
    return (Path(xdg) if os.path.isabs(xdg) else Path.home() / default) / "vgraph"
