"""vgraph itself, of the commit that the interpreter finds: a side of `regress.py`."""

from __future__ import annotations

from functools import cached_property

from cases import Instance
from library_cases import LIBRARY

from libraries import Call, Peer, Seconds


class Library(Peer):
    """The cases of `library_cases.py`, as vgraph itself runs them there."""

    hears_alarms = True

    @cached_property
    def instance(self) -> Instance:
        return Instance.of(self.task.data, self.task.directed)

    def call(self, algorithm: str) -> Call | None:
        found = [case for case in LIBRARY if case.name == algorithm]
        if not found:
            return None
        return lambda: Seconds(found[0].whole(self.instance, self.threads)[1])
