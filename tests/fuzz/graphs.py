"""Random graphs for a random program: small ones of many shapes, with values at the edges of their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import vgraph as vg


@dataclass(frozen=True)
class Kind:
    """What the code of a program depends on: its graphs are all of one kind."""

    directed: bool
    id_bits: int
    edges: dict[str, str]
    """The dtypes of edge properties by name."""
    vertices: dict[str, str]


SHAPES = ((1, 0), (1, 3), (5, 7), (9, 40), (30, 60), (150, 400))
"""Vertices and edges."""


def random_graph(kind: Kind, seed: int, shape: tuple[int, int]) -> vg.Graph:
    """A graph with loops, parallel edges, and a hub."""
    rng = np.random.default_rng([seed, *shape])
    n, m = shape
    hub = seed % n
    targets = np.where(rng.random(m) < 0.3, hub, rng.integers(0, n, m))
    ends = (rng.integers(0, n, m), targets) if seed % 2 else (targets, rng.integers(0, n, m))
    edges: dict[str, Any] = {name: values(rng, dtype, m) for name, dtype in kind.edges.items()}
    if "cost" in edges:  # small and not negative, so that sums along paths are
        edges["cost"] = rng.integers(0, 6, m).astype(kind.edges["cost"])
    graph = vg.Graph.from_edges(*ends, num_vertices=n, directed=kind.directed, id_bits=kind.id_bits, **edges)
    for name, dtype in kind.vertices.items():
        graph = graph.with_vertex_property(name, values(rng, dtype, n))
    return graph


def values(rng: np.random.Generator, dtype: str, count: int) -> Any:
    """Mostly small numbers; here and there an extreme of the type."""
    t = np.dtype(dtype)
    if t.kind == "b":
        return rng.random(count) < 0.4
    if t.kind == "f":
        found = rng.integers(-40, 80, count) / 8
        strange = np.array([np.inf, -np.inf, np.nan, 0.0, 3e9, -1e18])
    else:
        found = rng.integers(0 if t.kind == "u" else -3, 20, count)
        limits = np.iinfo(t)
        strange = np.array([limits.min, limits.max, limits.max - 1, 0], t)
    rare = rng.random(count) < 0.05
    return np.where(rare, rng.choice(strange, count), found.astype(t)).astype(t)
