"""Which pairs of vertices betweenness counts: from all sources, some, or a sample, to all targets or some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import check_whole


def check_pairs(graph: Graph, sources: Any, targets: Any, samples: Any) -> None:
    """Raise ParameterError for targets that are no vertices, and for samples that cannot be drawn."""
    n = graph.num_vertices
    if samples is not None and sources is not None:
        raise ParameterError("either the sources are given or the number of samples, not both")
    if samples is not None:
        check_whole(1, n, ", the number of vertices", samples=samples)
    if targets is not None:
        ids = np.asarray(targets)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ParameterError("targets: a list or an array of vertices")
        if ids.size and not (ids.min() >= 0 and ids.max() < n):
            which = f"from 0 to {n - 1}" if n else "there: the graph has none"
            raise ParameterError(f"targets: a vertex is not {which}")


def pairs(graph: Graph, sources: Any, targets: Any, samples: Any, seed: int) -> Mapping[str, Any]:
    """The arguments `sources`, an array, and `targets`, None or a number for each vertex: 1 if paths to it count.

    Samples are drawn without replacement by NumPy's default generator.
    """
    n = graph.num_vertices
    if samples is not None:
        sources = np.random.default_rng(seed).choice(n, samples, replace=False)
    found: dict[str, Any] = {"sources": np.arange(n) if sources is None else sources}
    if targets is not None:
        found["targets"] = np.zeros(n)
        found["targets"][np.asarray(targets, np.int64)] = 1
    return found
