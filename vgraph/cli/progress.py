"""What a terminal shows while something takes long; nothing at all where the output is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

BIG = 8 << 20
"""Files below this many bytes are read, and graphs below this many arcs are walked, without a word."""
_INTERVAL = 0.1


@contextmanager
def reading(name: str, size: int) -> Iterator[Callable[[int, int], None] | None]:
    """A bar for `vg.read(progress=)`: it takes the bytes read and the bytes to read.

    Gives None where there is nothing to show: for a small file, and without a terminal.
    """
    if size < BIG or not sys.stderr.isatty():
        yield None
        return
    try:
        import rich.progress as bars
    except ImportError:
        with line() as show:
            yield lambda done, total: show(
                f"reading {name}: {100 * done // max(total, 1)} % of {total / 1e6:.0f} MB"
            )
        return
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=_console(), transient=True) as progress:
        task = progress.add_task(f"reading {name}", total=size)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say `what` while the block runs."""
    with line() as show:
        show(what)
        yield


@contextmanager
def line() -> Iterator[Callable[[str], None]]:
    """One line of the terminal, written over at most ten times a second, and gone in the end."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    last = 0.0

    def show(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _INTERVAL:
            last = time.monotonic()
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True)
