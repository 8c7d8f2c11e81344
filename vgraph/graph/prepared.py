"""What an algorithm runs on in place of the user's graph and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph


class Prepared(NamedTuple):
    """What a function that is registered with an algorithm's `prepares` gives.

    `graph`: the graph to run on. `rank`: one dimension, integers; element i of each result per vertex is that of vertex
    `rank[i]` of `graph`. So `rank[v]` is what vertex v of the user's graph is called there (None: the same).
    `arguments`: values by the names of parameters, in place of the user's.
    """

    graph: Graph
    rank: NDArray[Any] | None = None
    arguments: Mapping[str, Any] = MappingProxyType({})
