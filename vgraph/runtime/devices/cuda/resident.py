"""Arrays of graphs that stay on a GPU from run to run, and layouts of their arcs, which are built there.

What is kept is kept per memory of an array, not per graph: graphs that share it on the host share its copy. A copy goes
when the memory on the host does, or all of them when the GPU's is short. Arrays of graphs are never written.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from vgraph.graph import layouts
from vgraph.graph.arrays import memory_of, sealed
from vgraph.graph.layouts import ArcLayout, Kept, Parameter, Prepared

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.devices.cuda.device import Device


class Resident(Kept):
    """Copies on one device of arrays on the host, and what was made of them."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device
        self.seconds = 0.0
        """Time spent on copying so far."""

    def copy(self, host: NDArray[Any], *, pinned: bool = False) -> Any:
        """The copy of a sealed array, made now if there is none; `pinned`: in the host's memory. Raises MemoryError."""
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
        return self.resident.copy(found.row_offsets), self.resident.copy(found.column_indices)

    def property(self, name: str, side: str) -> Any:
        values = self.graph.edge_array(name) if side == "out" else self.graph.in_property(name)
        return self.resident.copy(values)

    def on_host(self, array: Any) -> NDArray[Any]:
        found = sealed(self.resident.device.download(array))
        self.resident.put(memory_of(found), False, array)
        return found
