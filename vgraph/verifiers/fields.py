"""What each result is an array of, so that verifiers may compare its elements, and index by them, without asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vgraph.errors import VerificationError, shown

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.result import Result

FLAG, INTEGER, FLOAT, NUMBER = "b", "iu", "f", "iuf"
VERTEX, VERTEX_OR_NONE = "a vertex", "a vertex or -1"

KINDS: Final[dict[str, str]] = {
    **dict.fromkeys(("articulation", "bridge", "member"), FLAG),
    **dict.fromkeys(("community", "end", "label", "order"), VERTEX),
    **dict.fromkeys(("component", "mate", "parent"), VERTEX_OR_NONE),
    **dict.fromkeys(("color", "core", "eccentricity", "level", "reached", "triangles", "truss"), INTEGER),
    **dict.fromkeys(("levels", "lower", "rounds", "total", "upper"), INTEGER),
    **dict.fromkeys(("authority", "centrality", "hub", "in_centrality", "lcc", "modularity"), FLOAT),
    **dict.fromkeys(("out_centrality", "product", "rank", "score", "x"), FLOAT),
    **dict.fromkeys(("dist", "paths", "weight", "width"), NUMBER),
    "edges": VERTEX,
}
"""By the name of the result, whatever the algorithm."""
SCALARS: Final = ("end", "levels", "lower", "modularity", "rounds", "total", "upper", "weight")


def check_fields(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Raise VerificationError for a result of another type or shape, or with numbers that are no vertices."""
    for name in result.names:
        value, kind = getattr(result, name), KINDS[name]
        wanted = INTEGER if kind in (VERTEX, VERTEX_OR_NONE) else kind
        shape = _shape(name, value, graph, result.algorithm, given)
        numeric = isinstance(value, int | float | np.generic | np.ndarray)
        if not numeric or np.shape(value) != shape or np.asarray(value).dtype.kind not in wanted:
            raise VerificationError(
                f"{name} is {shown(value)}, and should have the shape {shape} and a type of kind {wanted!r}"
            )
        if kind in (VERTEX, VERTEX_OR_NONE):
            values = np.atleast_1d(value)
            bad = (values < (0 if kind == VERTEX else -1)) | (values >= graph.num_vertices)
            if bad.any():
                at = np.argwhere(bad)[0, 0]
                raise VerificationError(f"vertex {at}: {name} is {values[bad][0]}, which is not {kind}")


def _shape(name: str, value: Any, graph: Graph, algorithm: str, given: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of a result; as many edges are a forest as there are, which its verifier looks at."""
    if name in SCALARS:
        return ()
    if name == "edges":
        return (*np.shape(value)[:1], 2)
    if algorithm == "edge_betweenness":
        return graph.in_given_order(np.zeros(graph.num_edges)).shape
    return ({"score": len(given.get("left", ())), "truss": graph.num_edges}.get(name, graph.num_vertices),)
