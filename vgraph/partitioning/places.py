"""Where the levels of a multilevel run lie: in the memory of the host, or all of them on one GPU, until the end.

What is done to levels between the programs of the language is written once, for NumPy and CuPy, whose memory pool gives
the arrays of one level the room of those before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.graph.topology import Adjacency, Topology
from vgraph.runtime import policy
from vgraph.runtime.devices.cuda.executor import resident_on
from vgraph.runtime.devices.cuda.registry import device_for, number_of


class Host:
    """The memory of the host; arrays are NumPy's."""

    xp: Any = np
    output = "numpy"
    on_gpu = False

    def put(self, array: NDArray[Any]) -> Any:
        """An array of the host's, here."""
        return array

    def get(self, array: Any) -> NDArray[Any]:
        """An array of this place, on the host."""
        found: NDArray[Any] = array
        return found

    def moved(self, graph: Graph, *, unweighted: bool = False) -> Graph:
        """A graph of the host's, here; `unweighted`: its arcs weigh 1 each."""
        return graph

    def back(self, graph: Graph) -> Graph:
        """A graph of this place, on the host."""
        return graph


class OnGPU(Host):
    """The memory of a GPU."""

    output = "cupy"
    on_gpu = True

    def __init__(self, gpu: Any) -> None:
        self.gpu, self.xp = gpu, gpu.xp

    def put(self, array: NDArray[Any]) -> Any:
        return self.gpu.upload(np.ascontiguousarray(array))

    def get(self, array: Any) -> NDArray[Any]:
        found: NDArray[Any] = self.gpu.download(array)
        return found

    def moved(self, graph: Graph, *, unweighted: bool = False) -> Graph:
        copy = resident_on(self.gpu).copy

        def weights(values: NDArray[Any]) -> Any:
            return self.xp.ones(values.shape, values.dtype) if unweighted else copy(values)

        return like(graph, _with(copy, graph, weights))

    def back(self, graph: Graph) -> Graph:
        return _with(self.get, graph, self.get)


@contextmanager
def place_for(device: str | None) -> Iterator[Host]:
    """The place for runs on a device, which calls of CuPy's go to inside the `with` block."""
    number = number_of(device) if isinstance(device, str) else None
    if number is None:
        yield Host()
        return
    gpu = device_for(number, asked=f'"{device}"')
    with gpu.current():
        yield OnGPU(gpu)


def like(graph: Graph, other: Graph) -> Graph:
    """The other graph, of which as much is taken for granted as programs ask where arrays lie on a GPU."""
    other.kept_with_topology("deep", lambda: policy.is_deep(graph))
    return other


def _with(change: Any, graph: Graph, weights: Any) -> Graph:
    """The graph with other arrays; those of arcs from `weights`."""
    offsets, columns = change(graph.out.row_offsets), change(graph.out.columns)
    edge = {name: weights(values) for name, values in graph.edge_properties.items()}
    vertex = {name: change(values) for name, values in graph.vertex_properties.items()}
    return Graph(Topology(Adjacency(offsets, columns), graph.num_edges, graph.directed), edge, vertex)
