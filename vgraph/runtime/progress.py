"""What a run tells about itself while native code works, and a bar that draws it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import IO, Any

from vgraph.records import dataclass

_LINE_EVERY = 5.0
"""Seconds between lines where the output is not a terminal."""


@dataclass(frozen=True)
class Progress:
    """A glance at a run: finished rounds, size of the last frontier, edges seen, seconds since the start.

    The counters are read while native code runs, one after the other; they may be from neighboring rounds.
    """

    rounds: int
    frontier_size: int
    edges: int
    elapsed: float

    @property
    def edges_per_second(self) -> float:
        """Mean rate since the start; 0.0 at the very start."""
        return self.edges / self.elapsed if self.elapsed > 0 else 0.0

    def __str__(self) -> str:
        rate = self.edges_per_second / 1e6
        work = f"round {self.rounds:,}  frontier {self.frontier_size:,}"
        return f"{work}  {rate:,.1f} M edges/s  {self.elapsed:.1f} s"


ProgressCallback = Callable[[Progress], None]


class ProgressBar:
    """Draws progress with `rich` where it is installed and the output is a terminal, else as plain text.

    Nothing is drawn for a run that ends before the first report. Use it as a context manager and call it.
    """

    def __init__(self, title: str = "running", *, file: IO[str] | None = None) -> None:
        self.title = title
        self.file = file if file is not None else sys.stderr
        self._terminal = self.file.isatty()
        self._status: Any = None
        self._next_line = 0.0
        self._drawn = 0

    def __enter__(self) -> ProgressBar:
        return self

    def __call__(self, progress: Progress) -> None:
        text = f"{self.title}: {progress}"
        if self._terminal and find_spec("rich"):
            self._draw_rich(text)
        elif self._terminal:
            self.file.write("\r" + text.ljust(self._drawn))
            self.file.flush()
            self._drawn = len(text)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINE_EVERY
            print(text, file=self.file, flush=True)

    def _draw_rich(self, text: str) -> None:
        from rich.console import Console
        from rich.markup import escape

        if self._status is None:
            self._status = Console(file=self.file).status(escape(text))
            self._status.start()
        else:
            self._status.update(escape(text))

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self._drawn:
            self.file.write("\r" + " " * self._drawn + "\r")
            self.file.flush()
            self._drawn = 0


@contextmanager
def reporter(
    progress: bool | ProgressCallback | None, title: str = "running"
) -> Iterator[ProgressCallback | None]:
    """What `run(progress=...)` means: nothing, a bar (True), or the user's own function."""
    if callable(progress):
        yield progress
    elif progress:
        with ProgressBar(title) as bar:
            yield bar
    else:
        yield None
