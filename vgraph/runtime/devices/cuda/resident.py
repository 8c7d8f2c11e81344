"""Arrays of graphs that stay on a GPU from run to run, and layouts of their arcs, which are built there.

What is kept is kept per memory of an array, not per graph: graphs that share it on the host share its copy. A copy goes
when the memory on the host does, or all of them when the GPU's is short. Arrays of graphs are never written.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import layouts
from vgraph.graph.arrays import Elsewhere, memory_of, on_gpu, sealed
from vgraph.graph.layouts import ArcLayout, Kept, Parameter, Prepared
from vgraph.runtime.devices.cuda.sorting import sort_arcs, sort_pairs

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.devices.cuda.device import Device


class Resident(Kept):
    """Copies on one device of arrays on the host, and what was made of them."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device
        self._lies: weakref.WeakSet[Lying] = weakref.WeakSet()
        self.seconds = 0.0
        """Time spent on copying so far."""
        self.beyond: weakref.WeakKeyDictionary[Graph, set[object]] = weakref.WeakKeyDictionary()
        """Graphs, and the programs on some devices that have no room for them here."""

    def has(self, array: NDArray[Any] | Elsewhere) -> bool:
        """Whether there is a copy of a sealed array."""
        return self._lying(array) is not None or (
            isinstance(array, np.ndarray) and self.find(memory_of(array), False) is not None
        )

    def _lying(self, array: NDArray[Any] | Elsewhere) -> Any:
        """What lies here, and nowhere else."""
        return array.array if isinstance(array, Lying) and array.resident is self else None

    def drop(self) -> None:
        for array in tuple(self._lies):
            array.fetch()
        super().drop()

    def keep(self, array: Any) -> Elsewhere:
        """An array of the device for the host, which gets it when it first looks."""
        found = Lying(self, array)
        self._lies.add(found)
        return found

    def copy(self, host: NDArray[Any] | Elsewhere, *, pinned: bool = False) -> Any:
        """The copy of a sealed array, made now if there is none; `pinned`: in the host's memory. What is an array of
        the device is its own. Raises MemoryError."""
        if on_gpu(host):
            return host
        if not pinned and (lying := self._lying(host)) is not None:
            return lying
        if not isinstance(host, np.ndarray):
            host = host.fetch()
        assert not host.flags.writeable, "only what never changes may be kept"

        def make() -> Any:
            start = time.perf_counter()
            found = self.device.pin(host) if pinned else self.device.upload(host)
            self.seconds += time.perf_counter() - start
            return found

        return self.get(memory_of(host), pinned, make)

    def layout(self, graph: Graph, key: str, shared: int = 0) -> Prepared:
        """A layout of the graph's arcs, for kernels whose blocks share so many bytes; built on the device now if it is
        not there. Raises MemoryError."""
        layout, parameters, key, arcs = self._fitted(graph, key, shared)
        anchor = layouts.anchor(graph, parameters)
        return self.get(anchor, key, lambda: layouts.build(layout, arcs, key, parameters))

    def ordered(self, graph: Graph, name: str, key: str, shared: int = 0) -> Any:
        """Edge property `name` in the order of a layout. Raises MemoryError."""
        layout, parameters, fitted, arcs = self._fitted(graph, key, shared)
        order = layout.order
        assert order is not None, f"arcs have no values in {key}"
        values = layouts.HostArcs(graph).property(name, layout.side)

        def make() -> Any:
            return order(arcs, self.layout(graph, key, shared), self.copy(values), *parameters)

        return self.get(memory_of(values), fitted, make)

    def _fitted(
        self, graph: Graph, key: str, shared: int
    ) -> tuple[ArcLayout, tuple[Parameter, ...], str, DeviceArcs]:
        """The layout that a key names, with the parameters that it is built with, and the key of these."""
        layout, parameters = layouts.parsed(key)
        if layout.undirected and not graph.directed:
            layout = layouts.LAYOUTS[layout.undirected]
        arcs = DeviceArcs(self, graph)
        if layout.fit is not None:
            parameters = layout.fit(arcs, shared, *parameters)
        return layout, parameters, layout.key(*parameters), arcs


class DeviceArcs:
    """A graph for builders of layouts, on a device."""

    def __init__(self, resident: Resident, graph: Graph) -> None:
        self.resident, self.graph, self.xp = resident, graph, resident.device.xp
        self.num_vertices, self.num_arcs = graph.num_vertices, graph.num_arcs

    def adjacency(self, side: str) -> tuple[Any, Any]:
        found = self.graph.out if side == "out" else self.graph.in_
        return self.resident.copy(found.rows), self.resident.copy(found.columns)

    def property(self, name: str, side: str) -> Any:
        values = self.graph.edge_array(name) if side == "out" else self.graph.in_property(name)
        return self.resident.copy(values)

    def sort_pairs(self, keys: Any, values: Any, bits: int) -> tuple[Any, Any]:
        return sort_pairs(self.resident.device, keys, values, bits)

    def sort_arcs(self, line: Any, moves: Any, rank: Any, bits: int) -> tuple[Any, Any]:
        return sort_arcs(self.resident.device, line, moves, self.adjacency("out")[1], rank, bits)

    def on_host(self, array: Any) -> NDArray[Any]:
        return self.resident.keep(array).fetch()

    def kept(self, array: Any) -> Elsewhere:
        return self.resident.keep(array)


class Lying:
    """An array that lies on a device alone, until the host looks at it."""

    def __init__(self, resident: Resident, array: Any) -> None:
        self.resident, self.array = resident, array
        self.size, self.nbytes, self.dtype = int(array.size), int(array.nbytes), np.dtype(array.dtype)
        self._host: NDArray[Any] | None = None
        self._lock = threading.Lock()

    def fetch(self) -> NDArray[Any]:
        with self._lock:
            if self._host is None:
                with self.resident.device.current():
                    self._host = sealed(self.resident.device.download(self.array))
                self.resident.put(memory_of(self._host), False, self.array)
                self.array = None
            return self._host

    def take(self, places: NDArray[np.int64]) -> NDArray[Any]:
        with self._lock:
            if self._host is not None:
                return self._host[places]
            with self.resident.device.current():
                device = self.resident.device
                return device.download(self.array[device.upload(places)])
