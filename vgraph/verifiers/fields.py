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

TRIADS: Final = (
    *("t003", "t012", "t102", "t021D", "t021U", "t021C", "t111D", "t111U"),
    *("t030T", "t030C", "t201", "t120D", "t120U", "t120C", "t210", "t300"),
)
MOTIFS: Final = ("p4", "claw", "c4", "paw", "diamond", "k4")
_NAMES: Final = {
    FLAG: "articulation bridge member min_cut needed",
    INTEGER: "color eccentricity hop level levels lower reached rounds size squares total triangles truss upper",
    FLOAT: """
        assortativity auc authority centrality coefficient error hub in_centrality item_bias item_factors
        lcc length loss mean modularity out_centrality product rank rmse score similarity test_rmse
        user_bias user_factors x
    """,
    NUMBER: "core dist flow paths value weight width",
    VERTEX: "community edges end label order",
    VERTEX_OR_NONE: "component mate parent path similar",
}
KINDS: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()} | dict.fromkeys(
    (*TRIADS, *MOTIFS), INTEGER
)
"""By the name of the result, whatever the algorithm."""
SCALARS: Final = {
    *TRIADS,
    *MOTIFS,
    *("assortativity", "end", "error", "length", "levels", "lower", "mean"),
    *("modularity", "rounds", "size", "total", "upper", "value", "weight"),
}


def check_fields(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Raise VerificationError for a result of another type or shape, or with numbers that are no vertices."""
    for name in result.names:
        value, kind = getattr(result, name), KINDS[name]
        wanted = INTEGER if kind in (VERTEX, VERTEX_OR_NONE) else kind
        shape = _shape(name, value, graph, result.algorithm, given)
        numeric = isinstance(value, int | float | np.generic | np.ndarray)
        sort = "i" if type(value) is int else np.asarray(value).dtype.kind  # whatever its size
        if not numeric or np.shape(value) != shape or sort not in wanted:
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
    """The shape of a result; edges of a forest, vertices of a path, degrees of rich clubs: their verifiers count."""
    if name in SCALARS:
        return ()
    if name == "edges":
        return (*np.shape(value)[:1], 2)
    if name.endswith("rmse") or name in ("auc", "loss"):
        return (np.size(value),)
    if name.startswith(("user_", "item_")):
        first = int(graph.out.column_indices.min(initial=graph.num_vertices))
        users = first if given["users"] is None else given["users"]
        rows = users if name.startswith("user_") else graph.num_vertices - users
        return (rows, given["factors"]) if name.endswith("factors") else (rows,)
    if algorithm == "rich_club":
        return (len(value) if np.ndim(value) == 1 else 0,)
    if algorithm == "most_similar":
        return graph.num_vertices, given["k"]
    if name == "similarity":
        return (graph.num_vertices,) * 2
    if algorithm == "spmm":
        return np.shape(given["dense"])
    if name == "path":
        return (graph.num_vertices, given["length"] + 1) if "length" in given else (np.size(value),)
    if algorithm in ("edge_betweenness", "transitive_reduction") or name == "flow":
        return graph.in_given_order(np.zeros(graph.num_edges)).shape
    n = graph.num_vertices
    return ({"score": len(given["left"]) if "left" in given else n, "truss": graph.num_edges}.get(name, n),)
