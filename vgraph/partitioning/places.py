"""Where the levels of a multilevel run lie: in the memory of the host, or all of them on one GPU, until the end.

What is done to levels between the programs of the language is written once, for NumPy and CuPy, whose memory pool gives
the arrays of one level the room of those before.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.cpus import default_threads
from vgraph.graph import Graph
from vgraph.graph.machine import LEAST
from vgraph.graph.topology import Adjacency, Topology
from vgraph.runtime.depth import is_deep
from vgraph.runtime.devices.cuda.executor import resident_on
from vgraph.runtime.devices.cuda.registry import device_for, number_of


class Host:
    """The memory of the host; arrays are NumPy's."""

    xp: Any = np
    output = "numpy"
    on_gpu = False

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def put(self, array: NDArray[Any]) -> Any:
        """An array of the host's, here."""
        return array

    def get(self, array: Any) -> NDArray[Any]:
        """An array of this place, on the host."""
        found: NDArray[Any] = array
        return found

    def spread(self, values: Any, places: Any) -> Any:
        """The values at these places."""
        count = max(1, min(self.threads, places.size // LEAST))
        if count == 1:
            return values[places]
        found = np.empty(places.size, values.dtype)
        bounds = np.linspace(0, places.size, count + 1, dtype=np.int64)

        def part(k: int) -> None:
            own = slice(bounds[k], bounds[k + 1])
            values.take(places[own], out=found[own], mode="clip")  # any other mode makes a copy first

        with ThreadPoolExecutor(count) as pool:
            list(pool.map(part, range(count)))
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
        super().__init__(1)
        self.gpu, self.xp = gpu, gpu.xp

    def spread(self, values: Any, places: Any) -> Any:
        return values[places]

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
def place_for(device: str | None, threads: int | None = None) -> Iterator[Host]:
    """The place for runs on a device, or with so many threads (None: the default). Inside the `with` block calls of
    CuPy's go there."""
    number = number_of(device) if isinstance(device, str) else None
    if number is None:
        yield Host(threads or default_threads())
        return
    gpu = device_for(number, asked=f'"{device}"')
    with gpu.current():
        yield OnGPU(gpu)


def like(graph: Graph, other: Graph) -> Graph:
    """The other graph, of which as much is taken for granted as programs ask where arrays lie on a GPU."""
    other.kept_with_topology("deep", lambda: is_deep(graph))
    return other


def _with(change: Any, graph: Graph, weights: Any) -> Graph:
    """The graph with other arrays; those of arcs from `weights`."""
    offsets, columns = change(graph.out.row_offsets), change(graph.out.columns)
    edge = {name: weights(values) for name, values in graph.edge_properties.items()}
    vertex = {name: change(values) for name, values in graph.vertex_properties.items()}
    return Graph(Topology(Adjacency(offsets, columns), graph.num_edges, graph.directed), edge, vertex)
