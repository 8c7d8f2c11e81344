"""Layouts of a graph's arcs, each in a file: `base.py` says what one is, and this file finds and keeps them.

A key, `segments.4`, names a layout with its parameters. Kernels ask for its arrays, and for edge properties in its
order, as `weight.segments.4`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.arrays import handed_out, memory_of, sealed
from vgraph.graph.graph import Graph
from vgraph.graph.layouts.base import ArcLayout, Arcs, Kept, Parameter, Prepared, SortingArcs
from vgraph.graph.layouts.base import prepared as build
from vgraph.graph.layouts.deltas import DELTAS
from vgraph.graph.layouts.heads import HEADS
from vgraph.graph.layouts.hubs import HUBS
from vgraph.graph.layouts.part_slices import PART_SLICES
from vgraph.graph.layouts.parts import PARTS
from vgraph.graph.layouts.plans import PLANS
from vgraph.graph.layouts.segments import SEGMENTS
from vgraph.graph.layouts.sell import SELL
from vgraph.graph.layouts.slices import OUT_SLICES, SLICES

LAYOUTS: Final = {
    layout.name: layout
    for layout in (
        SEGMENTS,
        SELL,
        PARTS,
        SLICES,
        OUT_SLICES,
        PART_SLICES,
        *DELTAS.values(),
        *HUBS.values(),
        *HEADS.values(),
        *PLANS,
    )
}
"""All that there are, by name."""

_host = Kept()


class HostArcs:
    """A graph for builders, in the memory of the host."""

    xp = np

    def __init__(self, graph: Graph) -> None:
        self.graph, self.num_vertices, self.num_arcs = graph, graph.num_vertices, graph.num_arcs

    def adjacency(self, side: str) -> tuple[NDArray[Any], NDArray[Any]]:
        found = self.graph.out if side == "out" else self.graph.in_
        return found.row_offsets, found.column_indices

    def property(self, name: str, side: str) -> NDArray[Any]:
        return self.graph.edge_array(name) if side == "out" else self.graph.in_property(name)

    def on_host(self, array: NDArray[Any]) -> NDArray[Any]:
        return sealed(array)

    kept = on_host


_device: ContextVar[Callable[[Graph], SortingArcs] | None] = ContextVar("vgraph_device_arcs", default=None)


@contextmanager
def on_device(arcs: Callable[[Graph], SortingArcs]) -> Iterator[None]:
    """What is made of graphs inside a `with` block is for a run on a device, where `arcs` sees them."""
    token = _device.set(arcs)
    try:
        yield
    finally:
        _device.reset(token)


def device_arcs(graph: Graph) -> SortingArcs | None:
    """The graph as it is seen on the device on which a run is being prepared; None if it will run on the host."""
    arcs = _device.get()
    return None if arcs is None else arcs(graph)


def parsed(key: str) -> tuple[ArcLayout, tuple[Parameter, ...]]:
    """The layout that a key names, and its parameters."""
    name, *parameters = key.split(".")
    return LAYOUTS[name], tuple(int(p) if p.isdecimal() else p for p in parameters)


def on_host(graph: Graph, key: str) -> Prepared:
    """A layout in the memory of the host; built when first asked for, kept as long as the graph's arcs or, where it is
    made of an edge property, that."""
    layout, parameters = parsed(key)

    def make() -> Prepared:
        made = build(layout, HostArcs(graph), key, parameters)
        return replace(made, arrays={name: sealed(array) for name, array in made.arrays.items()})

    with graph.topology.lock:
        return _host.get(anchor(graph, parameters), key, make)


def ordered(graph: Graph, name: str, key: str) -> NDArray[Any]:
    """Edge property `name` in the order of a layout; kept as long as the property is."""
    layout, parameters = parsed(key)
    values = HostArcs(graph).property(name, layout.side)

    def make() -> NDArray[Any]:
        assert layout.order is not None, f"arcs have no values in {key}"
        return sealed(np.asarray(layout.order(HostArcs(graph), on_host(graph, key), values, *parameters)))

    return handed_out(_host.get(memory_of(values), ("values", key), make))


def known(graph: Graph, key: str) -> list[Prepared]:
    """What has been built of the layout that a key names, here or on a device, with whatever parameters fit there."""
    layout, parameters = parsed(key)
    place = anchor(graph, parameters)
    found = [made for store in Kept.all for made in store.of(place) if isinstance(made, Prepared)]
    return [made for made in found if made.key == key or (layout.fit and parsed(made.key)[0] is layout)]


def anchor(graph: Graph, parameters: tuple[Parameter, ...]) -> object:
    """What a layout with these parameters is kept with: an edge property, where one is named, else the arcs."""
    named = [p for p in parameters if isinstance(p, str)]
    return memory_of(graph.edge_array(named[0])) if named else graph.topology


_ORDERED: Final = re.compile(rf"(?P<property>.+?)\.(?P<key>({'|'.join(LAYOUTS)})(\.\w+)*)")


def ordered_name(prop: str, key: str) -> str:
    """What kernels call an edge property in the order of a layout: `weight.segments.4`."""
    return f"{prop}.{key}"


def split_name(name: str) -> tuple[str, str]:
    """The inverse of `ordered_name`: property and key."""
    found = _ORDERED.fullmatch(name)
    assert found is not None, name
    return found["property"], found["key"]


__all__ = [
    "LAYOUTS", "ArcLayout", "Arcs", "Kept", "Parameter", "Prepared", "SortingArcs", "anchor", "build", "device_arcs",
    "known", "on_device", "on_host", "ordered", "ordered_name", "parsed", "split_name",
]  # fmt: skip
