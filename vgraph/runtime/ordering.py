"""The order of a graph's vertices in which a call runs, and which one pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vgraph.errors import GraphError, ParameterError
from vgraph.graph import Graph
from vgraph.graph.relabel import BY_COORDINATES, ORDERS, By, Overlap, order_of
from vgraph.runtime import policy
from vgraph.runtime.depth import is_deep

if TYPE_CHECKING:
    from vgraph.runtime.devices.overlap import Trial


def orders_of(
    relabel: By | Overlap | None,
    given: Graph,
    graph: Graph,
    *,
    own: bool,
    now: bool,
    launched: str,
    deterministic: bool,
) -> dict[str, Any]:
    """What a job says of the order to run `graph` in: its own, or `relabel`; `now`: none is made beside the run.

    `launched`: the name of a program that runs on a GPU, in one launch."""
    if deterministic and isinstance(relabel, Overlap) and not now:
        raise ParameterError(
            "deterministic=True and relabel=vg.overlap(...): sums depend on when the order changes; "
            'have it made before the run: relabel="rcm" instead of relabel=vg.overlap("rcm")'
        )
    wanted = by = relabel.by if isinstance(relabel, Overlap) else relabel
    overlap: str | None = None
    trial: Trial | None = None
    if isinstance(relabel, Overlap) and not now:
        overlap, by = _beside(relabel.by, given, graph, on_gpu=bool(launched))
        if launched:
            trial = _trial(graph, overlap or by)
            overlap, by = None, None if trial is None else trial.order_for(launched)
    order = None if own else _order(by, given, graph, now=now, on_gpu=bool(launched))
    asked = not (wanted is None or (isinstance(wanted, str) and wanted == "auto"))
    return {"relabel": order, "overlap": overlap, "trial": trial, "must_renumber": asked}


def _order(relabel: By | None, given: Graph, graph: Graph, *, now: bool, on_gpu: bool) -> str | None:
    """The name of the order to run `graph` in, which was prepared of the one that was `given`."""
    own = given.order if graph.topology is given.topology else None
    if relabel is None:
        return own
    if isinstance(relabel, str) and relabel == "auto":
        return own or order_for(graph, now=now, on_gpu=on_gpu)
    if not isinstance(relabel, str) and graph.topology is not given.topology:
        raise ParameterError(
            "relabel is an array, and the algorithm prepares a graph of its own: name an order"
        )
    try:
        return order_of(graph, relabel, "relabel")[0]
    except GraphError as error:
        raise ParameterError(str(error)) from None


def _beside(by: By, given: Graph, graph: Graph, *, on_gpu: bool) -> tuple[str | None, By | None]:
    """The order to make while `graph` is run on, and the one to begin in; None: there is none to make, its own."""
    plain = isinstance(by, str) and by in ORDERS and by not in BY_COORDINATES
    name = str(by) if plain else _order(by, given, graph, now=True, on_gpu=on_gpu)
    if name is None or graph.topology.has(f"relabelled by {name}"):
        return None, name
    return name, None


def _trial(graph: Graph, order: By | None) -> Trial | None:
    """The runs on a GPU during which an order of `graph` is made; None: there is none to make."""
    from vgraph.runtime.devices.overlap import Trial

    if not isinstance(order, str):
        return None
    return graph.kept_with_topology(f"trial of {order}", lambda: Trial(order))


# --- what pays


def order_for(graph: Graph, *, now: bool, on_gpu: bool) -> str | None:
    """The order of vertices for a run that leaves the choice open: one that pays, if it is there, or to be made `now`,
    or was wanted policy.SETTLED_RUNS times."""
    known = policy.uses(graph)
    if now or known.orders >= policy.SETTLED_RUNS:
        return order_that_pays(graph, on_gpu=on_gpu)
    known.orders += 1
    # To look for it takes as long as a run or two.
    name = order_that_pays(graph, on_gpu=on_gpu) if graph.topology.has("paying order") else None
    return name if graph.topology.has(f"relabelled by {name}") else None


ORDER_VERTICES: Final = 1 << 17
"""Vertices from which on their order matters: below, 8 bytes for each fit into a core's own cache of 1 MiB."""
CUDA_DEGREE_VERTICES: Final = 1 << 20
"""The same for the order of degrees on a GPU, whose cache holds more. Measured on an H200, by degree to as it comes:
R-MAT of scale 18 searches 0.9, PageRank 1.25, betweenness 1.02 to 1.15, of scale 22 0.70, 0.45 and 0.69."""
NEAR: Final = 4096
NEAR_ARCS: Final = 0.5
"""A graph whose arcs lead, at least so many of them, to vertices less than NEAR away has a good order already."""
CLOSED_WEDGES: Final = 0.25
"""Neighbors of a vertex are as often neighbors in graphs of communities: 0.39 to 0.51 in a web graph, two social
networks and a mesh of tetrahedra, 0.09 to 0.16 in Kronecker graphs, where hubs make them, 0 among uniform arcs."""
ORDER_SAMPLE: Final = 2000
"""Arcs at which these shares are measured: 20 ms."""


def order_that_pays(graph: Graph, *, on_gpu: bool = False) -> str | None:
    """The order of vertices in which most programs run quicker than in that of the graph; found out once a graph.

    Measured on CPUs with 1 and 2 threads, by `benchmarks/orders.py`: where communities or a plane give vertices
    few neighbors around them, and their numbers do not show it, reverse Cuthill-McKee; else, on skewed graphs, degree.
    """

    def find() -> str | None:
        if graph.num_vertices < ORDER_VERTICES or not graph.num_arcs:
            return None
        near, closed = _order_shares(graph)
        if near >= NEAR_ARCS:
            return None
        if closed >= CLOSED_WEDGES or is_deep(graph):
            return "rcm"
        return "degree" if policy.worth_orienting(graph) else None

    name = graph.kept_with_topology("paying order", find)
    return None if on_gpu and name == "degree" and graph.num_vertices < CUDA_DEGREE_VERTICES else name


def _order_shares(graph: Graph) -> tuple[float, float]:
    """The shares of arcs that lead near, and of pairs of neighbors that are neighbors, in a sample."""
    offsets, columns = graph.out.row_offsets, graph.out.column_indices
    rng = np.random.default_rng(0)
    arcs = rng.integers(0, graph.num_arcs, ORDER_SAMPLE)
    sources = np.searchsorted(offsets, arcs, side="right") - 1
    near = np.abs(sources - columns[arcs].astype(np.int64)) < NEAR
    begins, degrees = offsets[sources].astype(np.int64), graph.out_degree[sources].astype(np.int64)
    others = begins + (arcs - begins + 1 + rng.integers(0, np.maximum(degrees - 1, 1))) % degrees
    pairs = zip(columns[arcs].tolist(), columns[others].tolist(), strict=True)
    rows = ((columns[int(offsets[u]) : int(offsets[u + 1])], v) for u, v in pairs if u != v)
    closed = sum(bool(row.size) and row[min(np.searchsorted(row, v), row.size - 1)] == v for row, v in rows)
    return float(near.mean()), float(closed) / ORDER_SAMPLE
