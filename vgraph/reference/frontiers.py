"""What the driver loop sees of sets of vertices: frontiers, and queues that hold some back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from vgraph.reference.proxies import Property, State, Vertex
from vgraph.reference.values import Number


class Frontier:
    """An immutable set of vertices; false when it is empty."""

    def __init__(self, state: State, vertices: Iterable[int]) -> None:
        self.state, self.vertices = state, tuple(sorted(set(vertices)))

    def __len__(self) -> int:
        return len(self.vertices)

    def __or__(self, other: Frontier) -> Frontier:
        return Frontier(self.state, {*self.vertices, *other.vertices})

    def __and__(self, other: Frontier) -> Frontier:
        return Frontier(self.state, set(self.vertices) & set(other.vertices))

    def __sub__(self, other: Frontier) -> Frontier:
        return Frontier(self.state, set(self.vertices) - set(other.vertices))

    def __repr__(self) -> str:
        return f"frontier({', '.join(map(str, self.vertices))})"


class Chosen(NamedTuple):
    """`v for v in frontier if test(v)`, and the label that this has as a round."""

    label: str
    frontier: Frontier
    test: Callable[[Vertex], Any]


class PriorityQueue:
    """Vertices that wait, by the value of a property; false when none is left."""

    def __init__(self, prop: Property) -> None:
        self._property, self._level = prop, 0
        self._held = set(range(prop.state.graph.num_vertices))

    def __len__(self) -> int:
        return len(self._held)

    @property
    def level(self) -> Number:
        """The highest value by which vertices were taken so far; 0 before the first pop."""
        return Number(np.int64(self._level))

    def pop(self) -> Frontier:
        """Raise the level to the lowest value held, if that is higher; take the vertices not above it, for good."""
        values = self._property.array
        if self._held:
            self._level = max(self._level, int(min(values[v] for v in self._held)))
        taken = {v for v in self._held if values[v] <= self._level}
        self._held -= taken
        return Frontier(self._property.state, taken)
