"""The order of a graph's vertices in which a call runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgraph.errors import GraphError, ParameterError
from vgraph.graph import Graph
from vgraph.graph.relabel import BY_COORDINATES, ORDERS, By, Overlap, order_of
from vgraph.runtime import policy

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
        overlap, by = _beside(relabel.by, given, graph)
        if launched:
            trial = _trial(graph, overlap or by)
            overlap, by = None, None if trial is None else trial.order_for(launched)
    order = None if own else _order(by, given, graph, now=now)
    asked = not (wanted is None or (isinstance(wanted, str) and wanted == "auto"))
    return {"relabel": order, "overlap": overlap, "trial": trial, "must_renumber": asked}


def _order(relabel: By | None, given: Graph, graph: Graph, *, now: bool) -> str | None:
    """The name of the order to run `graph` in, which was prepared of the one that was `given`."""
    own = given.order if graph.topology is given.topology else None
    if relabel is None:
        return own
    if isinstance(relabel, str) and relabel == "auto":
        return own or policy.order_for(graph, now=now)
    if not isinstance(relabel, str) and graph.topology is not given.topology:
        raise ParameterError(
            "relabel is an array, and the algorithm prepares a graph of its own: name an order"
        )
    try:
        return order_of(graph, relabel, "relabel")[0]
    except GraphError as error:
        raise ParameterError(str(error)) from None


def _beside(by: By, given: Graph, graph: Graph) -> tuple[str | None, By | None]:
    """The order to make while `graph` is run on, and the one to begin in; None: there is none to make, its own."""
    plain = isinstance(by, str) and by in ORDERS and by not in BY_COORDINATES
    name = str(by) if plain else _order(by, given, graph, now=True)
    if name is None or graph.topology.has(f"relabelled by {name}"):
        return None, name
    return name, None


def _trial(graph: Graph, order: By | None) -> Trial | None:
    """The runs on a GPU during which an order of `graph` is made; None: there is none to make."""
    from vgraph.runtime.devices.overlap import Trial

    if not isinstance(order, str):
        return None
    return graph.kept_with_topology(f"trial of {order}", lambda: Trial(order))
