"""Python libraries as peers, one in a file; an interpreter needs only the library that it is to run.

Each file has a class `Library`: a method named as an algorithm makes what the algorithm needs, which is not timed, and
returns the call that is. So a new algorithm is a method in the files of the libraries that have it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

from tasks import Task

Call = Callable[[], Any]
FILES = {
    "graphblas": ("graphblas", "Library", "python-graphblas"),
    "networkit": ("networkit", "Library", "networkit"),
    "numba": ("numba", "Library", "numba"),
    "scipy": ("scipy", "Library", "scipy"),
    "igraph": ("igraph", "Library", "igraph"),
    "networkx": ("networkx", "Library", "networkx"),
    "networkx-vgraph": ("networkx", "Converted", "networkx"),
    "networkx-vgraph-cached": ("networkx", "Cached", "networkx"),
    "vgraph": ("vgraph", "Library", "vgraph"),
}
"""File, class and distribution of each."""


class Seconds(float):
    """What a call returns that times itself."""


class Peer:
    """A library that holds a graph; what only some algorithms need is made when one of them is asked for."""

    hears_alarms: ClassVar[bool] = False
    """Whether it goes on as before after an exception in the middle of a call; compiled libraries do not."""

    def __init__(self, task: Task, threads: int) -> None:
        self.task, self.threads = task, threads

    def call(self, algorithm: str) -> Call | None:
        """What is to be timed; None where the library has no such algorithm."""
        found = getattr(type(self), algorithm, None)
        return found(self) if callable(found) else None


def load(library: str, task: Task, threads: int) -> Peer:
    """The peer of this name. Raises ImportError where the library is not installed."""
    file, name, _ = FILES[library]
    made = getattr(importlib.import_module(f"libraries.{file}"), name)(task, threads)
    assert isinstance(made, Peer)
    return made
