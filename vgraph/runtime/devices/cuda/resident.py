"""Arrays of graphs that stay on a GPU from run to run.

What is kept is kept per memory of an array, not per graph: graphs that share it on the host share its copy. A copy goes
when the memory on the host does, or all of them when the GPU's is short. Arrays of graphs are never written.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from vgraph.graph.arrays import memory_of

if TYPE_CHECKING:
    from vgraph.runtime.devices.cuda.device import Device


class Resident:
    """Copies on one device of arrays on the host."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._lock = threading.Lock()
        self._kept: dict[tuple[int, bool], tuple[weakref.ref[object], Any]] = {}
        self.seconds = 0.0
        """Time spent on copying so far."""

    def get(self, host: NDArray[Any], *, pinned: bool = False) -> Any:
        """The copy of a sealed array, made now if there is none; `pinned`: in the host's memory. Raises MemoryError."""
        assert not host.flags.writeable, "only what never changes may be kept"
        memory = memory_of(host)
        key = (id(memory), pinned)
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found[0]() is memory:
                return found[1]
        start = time.perf_counter()
        copy = self._device.pin(host) if pinned else self._device.upload(host)
        self.seconds += time.perf_counter() - start
        watched = weakref.ref(memory, lambda _: self._kept.pop(key, None))
        with self._lock:
            self._kept[key] = (watched, copy)
        return copy

    def drop(self) -> None:
        """Forget all copies."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)
