"""What algorithms ask of the numbers they are given: the rules of "Weights" in docs/algorithms.md, all in one place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import ParameterError, shown
from vgraph.graph.arrays import memory_of
from vgraph.graph.graph import Graph
from vgraph.graph.topology import range_of

LEAST = 2.0**-20
MOST = 2.0**40
"""The largest of some numbers is between these, or all are scaled by a power of two, which rounds nothing. Squares and
sums of as many as a graph has arcs then fit into a float64, and a sum of them into a float32."""


def check_weights(
    graph: Graph,
    name: object = "weight",
    *,
    negative: bool = False,
    zero: bool = True,
    way_out: str = "",
    of: str = "weight",
    sums: bool = False,
) -> None:
    """Raise ParameterError if the edge property of that name is missing, not finite, or not of an allowed sign.

    So may be an array, or one number for all. A name of None stands for no weights, which are always right. `way_out`:
    what to do about negative ones. `of`: the parameter, which says what the numbers are. `sums`: all
    of them add up to a finite number.
    """
    if name is None:
        return
    if isinstance(name, str) and name not in graph.edge_properties:
        known = ", ".join(graph.edge_properties) or "none"
        raise ParameterError(f"{of}={shown(name)}: the graph has no such edge property; it has: {known}")
    given = None if isinstance(name, str) else np.atleast_1d(np.asarray(name))
    if given is not None and given.dtype.kind not in "biuf":
        raise ParameterError(f"{of}={shown(name)}: the name of an edge property, an array or a number")
    if given is None and graph.edge_properties[str(name)].ndim > 1:
        raise ParameterError(f"{of}={shown(name)}: its values are vectors, not numbers")
    if not graph.num_arcs:
        return
    low, high, has_nan = graph.edge_property_range(str(name)) if given is None else range_of(given)
    if has_nan or math.isinf(low) or math.isinf(high):
        what = "NaN" if has_nan else "infinite"
        raise ParameterError(
            f"{of}={shown(name)}: a {of} is not finite ({what}); leave out arcs that cannot be taken"
        )
    if low < 0 and not negative:
        raise ParameterError(f"{of}={shown(name)}: the {of} {low} is negative{way_out}")
    if low == 0 and not zero:
        raise ParameterError(
            f"{of}={shown(name)}: a weight is 0: weights must be above 0, or paths of one length have no end"
        )
    if sums and math.isinf(graph.num_arcs * heaviest(graph, name)):
        raise ParameterError(
            f"{of}={shown(name)}: they may add up to more than a float64 holds: scale them down"
        )


def non_negative(graph: Graph, weight: object) -> None:
    """Raise ParameterError for weights that are negative or not finite."""
    check_weights(graph, weight)


def check_lengths(graph: Graph, *, negative: bool = False, zero: bool = True) -> None:
    """The same of the edge property `weight`, which is added up along paths: sums have to fit, too."""
    if "weight" not in graph.edge_properties:
        raise ParameterError(
            "the graph has no edge property 'weight'; vg.algorithms.bfs counts hops without one"
        )
    check_no_bools(graph, "lengths", ", or leave out the arcs that are false and use vg.algorithms.bfs")
    way_out = "; vg.algorithms.bellman_ford takes negative weights"
    check_weights(graph, negative=negative, zero=zero, way_out=way_out)
    check_sums(graph, graph.num_vertices)


def check_no_bools(graph: Graph, what: str, way_out: str = "") -> None:
    """Raise ParameterError if the edge property `weight` is of bools, which are no `what`."""
    if "weight" in graph.edge_properties and graph.edge_properties["weight"].dtype == bool:
        raise ParameterError(
            f"weight='weight': bools are no {what}: make numbers of them by graph.with_edge_property('weight', "
            f"graph.edge_properties['weight'].astype('int32')){way_out}"
        )


def check_path_weights(graph: Graph, name: object, *, negative: bool = False) -> None:
    """`check_weights` of a parameter that is added up along paths, as float64: sums have to be finite, too."""
    check_weights(graph, name, negative=negative)
    if graph.num_vertices * heaviest(graph, name) > np.finfo(np.float64).max:
        raise ParameterError(
            f"weights of up to {heaviest(graph, name)} may add up to more than a float64 holds"
        )


def heaviest(graph: Graph, name: object = "weight") -> float:
    """The largest magnitude among the values of an edge property, or of numbers; 0 without arcs."""
    if not isinstance(name, str):
        return magnitude(name)
    low, high, _ = graph.edge_property_range(name)
    return max(-low, high, 0)


def check_sums(graph: Graph, terms: int) -> None:
    """Raise ParameterError if the sum of so many edge properties `weight` might not be below `vg.inf` of its type.

    A path has one arc less than there are vertices, and one more is added to see whether it leads to a shorter one.
    Without negative weights no arc is worth taking twice, so the sum of all is a bound as well.
    """
    longest: float = terms * heaviest(graph)
    dtype = graph.edge_properties["weight"].dtype
    if dtype.kind == "f":
        limit: float = float(np.finfo(dtype).max)
    else:  # 32-bit integers are added up in 64 bits where they have to be
        limit = np.iinfo(np.uint64 if dtype == np.uint64 else np.int64).max
    if longest >= limit and graph.edge_property_range("weight").min >= 0:
        mean = 1.0001 * graph.edge_property_mean("weight")  # which is rounded
        longest = min(longest, mean * graph.num_arcs)
    if longest >= limit:
        raise ParameterError(
            f"weights of up to {heaviest(graph)} may add up to more than {limit}, the largest {dtype}: "
            "scale them down, or leave out arcs that cannot be taken"
        )


def check_capacities(graph: Graph, name: object, source: int) -> None:
    """Raise ParameterError for capacities that are missing, negative, not finite, or too large.

    No more flows than leaves the source, and an arc has room for its own capacity and that of the arc in the other
    direction: integers of both fit into an int64.
    """
    check_weights(graph, name, of="capacity")
    if not isinstance(name, str) or not graph.num_arcs:
        return
    values = graph.edge_array(name)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            if not math.isfinite(values.sum(dtype=np.float64)):
                raise ParameterError(
                    f"capacity={shown(name)}: the capacities add up to more than a float64 holds"
                )
    elif graph.edge_property_range(name).max >= 1 << 62:
        raise ParameterError(f"capacity={shown(name)}: a capacity is 2**62 or more")
    elif 0 <= source < graph.num_vertices:
        begin, end = graph.out.row_offsets[source : source + 2].tolist()
        if sum(values[begin:end].tolist()) >= 1 << 63:
            raise ParameterError(f"capacity={shown(name)}: what leaves the source adds up to 2**63 or more")


def own_weight(graph: Graph) -> str | None:
    """The name of the edge property `weight`, if the graph has it."""
    return "weight" if "weight" in graph.edge_properties else None


def ones_without_weights(graph: Graph) -> Graph:
    """The graph, with the edge property `weight` 1 if it has none; made once and kept."""
    if "weight" in graph.edge_properties:
        return graph
    return graph.kept_with_topology(
        "ones", lambda: graph.with_edge_property("weight", np.ones(graph.num_arcs, np.int32))
    )


def kept_with_values(graph: Graph, name: str, key: str, make: Callable[[], Graph]) -> Graph:
    """What is made of the arcs and an edge property, kept until the same arcs come with other values."""
    kept: dict[str, tuple[object, Graph]] = graph.kept_with_topology(key, dict)
    memory, latest = memory_of(graph.edge_array(name)), kept.get("latest")
    if latest is None or latest[0] is not memory:
        latest = kept["latest"] = memory, make()
    return latest[1]


def weighing(graph: Graph, name: object, *, scaled: bool = False) -> Graph:
    """The graph with that edge property as `weight`; the graph itself for None or a number. Kept until values change.

    `scaled`: for results that do not depend on the weights' unit; float64 if they had to be scaled. Raises
    ParameterError for weights so different that the least of them would be lost.
    """
    if not isinstance(name, str):
        return graph
    values = graph.edge_properties[str(name)]
    shift = _shift(heaviest(graph, str(name))) if scaled else 0
    if name == "weight" and not shift:
        return graph

    def make() -> Graph:
        made = graph.with_edge_property("weight", _shifted(values, shift) if shift else values)
        if np.count_nonzero(made.edge_properties["weight"]) < np.count_nonzero(values):
            raise ParameterError(
                f"weight={shown(name)}: beside the largest, {heaviest(graph, str(name))}, others are lost in a float64"
            )
        return made

    return kept_with_values(graph, str(name), f"weighing {name}{' scaled' * scaled}", make)


def magnitude(values: Any) -> float:
    """The largest magnitude of some numbers; NaN if one is, 0 of None and without any."""
    array = np.asarray(0.0 if values is None else values, np.float64)
    return float(np.maximum(-array.min(initial=0), array.max(initial=0)))


def check_numbers(*, negative: bool = True, **given: Any) -> None:
    """Raise ParameterError for a parameter that is not None and holds a number that is not finite, or below 0."""
    for name, values in given.items():
        if not math.isfinite(magnitude(values)):
            raise ParameterError(f"{name}: a value is not finite")
        if not negative and values is not None and np.min(values, initial=0) < 0:
            raise ParameterError(f"{name}: a value is negative")


def check_shares(**given: Any) -> None:
    """Raise ParameterError for a parameter that is not None and holds no numbers of at least 0, one of them above."""
    check_numbers(negative=False, **given)
    for name, values in given.items():
        if values is not None and np.size(values) and not np.any(values):
            raise ParameterError(f"{name}: all values are zero")


def check_bounds(**given: Any) -> None:
    """Raise ParameterError for a parameter that is not None and holds NaN; bounds may be infinite."""
    for name, values in given.items():
        if values is not None and np.isnan(np.asarray(values, np.float64)).any():
            raise ParameterError(f"{name}: a bound is NaN")


def check_whole(low: int, high: float = math.inf, of: str = "", **given: object) -> None:
    """Raise ParameterError for a parameter that is no int from `low` to `high`; `of` says what that is."""
    for name, value in given.items():
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not (whole and low <= value <= high):  # type: ignore[operator]
            span = f"of at least {low}" if high == math.inf else f"from {low} to {high}{of}"
            raise ParameterError(f"{name}={shown(value)} is no int {span}")


def scaled_numbers(**given: Any) -> dict[str, Any]:
    """Those of the parameters that have to be scaled, so scaled; for results that do not depend on their unit."""
    shifts = {name: _shift(magnitude(values)) for name, values in given.items()}
    return {name: _shifted(np.asarray(given[name]), shift) for name, shift in shifts.items() if shift}


def _shift(largest: float) -> int:
    """By which power of two to multiply: 0 where the largest magnitude does not ask for it."""
    return 0 if LEAST <= largest <= MOST or not 0 < largest < math.inf else -math.frexp(largest)[1]


def _shifted(values: NDArray[Any], shift: int) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = np.ldexp(values.astype(np.float64), shift)
    return scaled
