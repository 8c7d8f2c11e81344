"""Two halves of one GPU as members of a set, for machines with one.

Each has half of the blocks that have room, memory and a stream of its own, so that both kernels run at the same time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from vgraph.runtime.devices.cuda.cupy_device import CupyDevice


class HalfGPU(CupyDevice):
    """Half `half` of GPU 0. `cooperative`: launches that ask for all blocks at the same time; they have room in any
    case, but kernels launched so may not run beside each other."""

    _stream: Any = contextlib.nullcontext()

    def __init__(self, half: int, *, cooperative: bool = False) -> None:
        super().__init__(0)
        self._half = half
        with super().current():
            self._stream = self._cuda.Stream(non_blocking=True)
        if not cooperative:
            own = {name: getattr(self._cuda, name) for name in dir(self._cuda)}
            plain = {name: getattr(self._cuda.driver, name) for name in dir(self._cuda.driver)}
            plain["launchCooperativeKernel"] = lambda *given: self._plain(*given, 0)
            self._plain = plain["launchKernel"]
            self._cuda = SimpleNamespace(**(own | {"driver": SimpleNamespace(**plain)}))

    @property
    def place(self) -> str:
        return f"cuda:0 half {self._half}"

    @property
    def multiprocessors(self) -> int:
        return super().multiprocessors // 2

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        with super().current(), self._stream:
            yield

    def reach(self, other: CupyDevice) -> None:
        pass


def halves(*, cooperative: bool = False) -> list[HalfGPU]:
    """Both."""
    return [HalfGPU(half, cooperative=cooperative) for half in (0, 1)]
