"""Drafts: code that LLVM did not optimise, for the first runs on a small graph.

To optimise takes LLVM ten to twenty times as long as to translate, and longer than all that is to be done on a small
graph. A run of `PATIENCE` or longer has optimised code compiled beside it and begins anew with that, if it has not
ended meanwhile: it takes at most so much longer than without a draft. Runs that took that long together have the next
one optimised.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from vgraph.compiler.backends.base import Kernel
from vgraph.config import knob
from vgraph.records import dataclass

if TYPE_CHECKING:
    from vgraph.compiler.backends.context import ContextView
    from vgraph.runtime.devices.runner import Loaded
    from vgraph.runtime.executor import Job

PATIENCE: Final = 0.02
"""Seconds."""
SMALL: Final = 1 << 16
"""Vertices and arcs of a graph on which a draft may end before optimised code would begin."""


class Overtaken(Exception):
    """There is better code for a run that has not ended: `loaded`, made in `seconds`."""

    def __init__(self, loaded: Loaded, seconds: float) -> None:
        super().__init__(loaded, seconds)
        self.loaded, self.seconds = loaded, seconds


@dataclass(frozen=True, kw_only=True)
class Draft(Kernel):
    """Code that is not optimised."""

    spent: list[float] = field(repr=False, compare=False)
    """Seconds of its runs."""
    better: Callable[[], Loaded] | None = field(default=None, repr=False, compare=False)
    """Makes the same program optimised."""

    def overtake(self, context: ContextView) -> bool:
        """To be called when the run in this context has taken `PATIENCE`."""
        assert self.better
        start = time.perf_counter()
        loaded = self.better()
        if context.busy:
            raise Overtaken(loaded, time.perf_counter() - start)
        return False


def begun(loaded: Loaded) -> Loaded:
    """A program that is not optimised as a draft without runs."""
    return replace(loaded, kernel=Draft(**vars(loaded.kernel), spent=[]))


def going_on(loaded: Loaded, better: Callable[[], Loaded]) -> Loaded:
    """A draft for one run more, which can be made `better`; the better one where that would have paid by now."""
    if sum(loaded.kernel.spent) >= PATIENCE:
        return better()
    return replace(loaded, kernel=replace(loaded.kernel, better=better))


def worth(job: Job) -> bool:
    """Whether a run of the job may begin with a draft."""
    size = job.graph.num_vertices + job.graph.num_arcs
    alone = not job.members and job.overlap is None
    return job.hurried and knob("opt") is None and alone and size <= SMALL


__all__ = ["Draft", "Overtaken", "begun", "going_on", "worth"]
