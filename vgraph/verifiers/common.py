"""What verifiers share: arcs as arrays, and the error that names a vertex."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import VerificationError
from vgraph.graph import Graph, build
from vgraph.graph.weights import check_weights
from vgraph.runtime.result import Result

Array = NDArray[Any]
Arguments = Mapping[str, Any]
"""The arguments of a run."""
RELATIVE = 1e-9
"""By how much of its value a float64 may differ from another computation of the same numbers, none below 0."""
NOTHING = 1e-290
"""Float64s of this size have few digits left."""


def arcs(graph: Graph) -> tuple[Array, Array]:
    """Sources and targets of all arcs, as int64, in the order of edge properties."""
    sources = build.sources_of(graph.out.row_offsets, np.dtype(np.int64))
    return sources, graph.out.column_indices.astype(np.int64)


def simple_arcs(graph: Graph) -> tuple[Array, Array]:
    """Arcs in the directions that there are, each once, without self-loops."""
    n = max(1, graph.num_vertices)
    s, t = arcs(graph)
    keys = np.unique((s * n + t)[s != t])
    return keys // n, keys % n


def simple_edges(graph: Graph) -> tuple[Array, Array]:
    """`simple_arcs` and their reverses: neighbors, whatever the direction."""
    n = max(1, graph.num_vertices)
    s, t = simple_arcs(graph)
    keys = np.unique(np.r_[s * n + t, t * n + s])
    return keys // n, keys % n


def matrix(graph: Graph, ends: tuple[Array, Array], values: Array | None = None) -> Any:
    """A SciPy CSR array with an entry for each arc (1 without values); those of parallel arcs are summed."""
    from scipy.sparse import csr_array

    filled = np.ones(ends[0].size) if values is None else values
    return csr_array((filled, ends), shape=(graph.num_vertices,) * 2)


def closed_paths(a: Any, b: Any, mask: Any) -> Array:
    """For each v the sum of `(a @ b) * mask` in its row, some rows at a time."""
    found = np.zeros(a.shape[0])
    for first in range(0, found.size, 4096):
        rows = slice(first, first + 4096)
        found[rows] = (a[rows] @ b).multiply(mask[rows]).sum(axis=1)
    return found


def weight_of(graph: Graph, name: str = "weight") -> Array:
    """The edge property of that name. Raises ParameterError where the graph has none, or not of finite numbers."""
    check_weights(graph, name, negative=True)
    return graph.edge_properties[name]


def weights(graph: Graph, name: object) -> Array:
    """That edge property, or numbers, one for each arc or one for all, as float64; 1 for None."""
    if isinstance(name, str):
        return weight_of(graph, name).astype(np.float64)
    return np.array(np.broadcast_to(np.asarray(1.0 if name is None else name, np.float64), graph.num_arcs))


def in_scale(given: Any) -> Array:
    """Numbers as algorithms take them where only proportions count: times a power of two, if the largest of them is not
    between 2**-20 and 2**40.
    """
    values = np.asarray(given, np.float64)
    largest = np.abs(values).max(initial=0)
    if 2.0**-20 <= largest <= 2.0**40 or not largest:
        return values
    return np.ldexp(values, -int(np.frexp(largest)[1]))


def flagged(result: Result, converged: bool) -> None:
    """Raise VerificationError where the result says otherwise of its iteration."""
    if result.converged != converged:
        raise VerificationError(f"converged is {result.converged}, and should be {converged}")


def none_of(bad: Array, what: Callable[[int], str], of: str = "vertex") -> None:
    """Raise VerificationError for the first vertex, or what else has an element each, at which `bad` is true."""
    if bad.any():
        first = int(bad.argmax())
        raise VerificationError(f"{of} {first}: {what(first)}")


def no_arc(bad: Array, ends: tuple[Array, Array], what: Callable[[int, int], str]) -> None:
    """Raise VerificationError for an arc at which `bad` is true: the one whose target, then source, comes first."""
    if bad.any():
        wrong = np.flatnonzero(bad)
        first = wrong[np.lexsort((ends[0][wrong], ends[1][wrong]))[0]]
        source, target = int(ends[0][first]), int(ends[1][first])
        raise VerificationError(f"vertex {target}: {what(source, target)}")


def apart(found: Array, expected: Array, allowed: Array) -> Array:
    """How far two results are from each other, in multiples of what is allowed; infinite where one is not finite."""
    far = np.where(np.isfinite(allowed), np.abs(found - expected) / allowed, np.inf)
    return np.asarray(np.where(found == expected, 0.0, np.nan_to_num(far, nan=np.inf)))


def close(found: Array, expected: Array, name: str, allowed: Array | None = None, of: str = "vertex") -> None:
    """Raise VerificationError for the first vertex, or `of`, where two results differ; NaN is never right.

    `allowed`: by how much at each vertex. By default by `RELATIVE` of the value: sums without cancellation.
    """
    allowed = RELATIVE * np.abs(expected) + NOTHING if allowed is None else allowed
    none_of(
        ~(apart(found, expected, allowed) <= 1),
        lambda v: f"{name} is {found[v]}, and should be {expected[v]}",
        of,
    )


def equal(found: Array, expected: Array, name: str) -> None:
    """Raise VerificationError for the first vertex where two results are not the same."""
    none_of(found != expected, lambda v: f"{name} is {found[v]}, and should be {expected[v]}")


def same_number(found: Any, expected: Any, name: str, allowed: float = 0.0) -> None:
    """Raise VerificationError where a number that is a result by itself is another, or NaN and should not be."""
    if not (abs(found - expected) <= allowed or (found != found and expected != expected)):
        raise VerificationError(f"{name} is {found}, and should be {expected}")


__all__ = [
    "NOTHING", "RELATIVE", "Arguments", "Array", "Graph", "Result", "apart", "arcs", "close", "closed_paths",
    "equal", "flagged", "in_scale", "matrix", "no_arc", "none_of", "same_number", "simple_arcs",
    "simple_edges", "weight_of", "weights",
]  # fmt: skip
