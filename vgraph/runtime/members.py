"""What runs on sets of devices alone: their members, who has which vertices, and who gets which part of a loop."""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError, ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.arrays import as_array
from vgraph.graph.cuts import EdgeCut, HubCut, Placement
from vgraph.runtime.devices.groups import CPUGroup, Member

if TYPE_CHECKING:
    from vgraph.sharing import Policy


def device_of_set(members: tuple[Member, ...], output: str) -> tuple[str, int | None]:
    """The kind of device that the first group of threads is, or all members are, and the most threads that one has."""
    groups = [m for m in members if isinstance(m, CPUGroup)]
    if len(groups) < len(members):
        check_for_set(output=output != "numpy" and output)
    return ("cpu", max(m.threads for m in groups)) if groups else ("cuda", None)


def check_for_set(**asked: object) -> None:
    """Refuse what runs on one device only."""
    for name, value in asked.items():
        if value is not None and value is not False:
            raise ParameterError(
                f"{name}={shown(value)}: a set of devices does not do that; run it on one device"
            )


def policy_of(share: object, members: tuple[Member, ...], placement: object) -> Policy | None:
    """The policy by which members divide loops."""
    if share is None:
        return None
    from vgraph.sharing import Policy

    if not isinstance(share, Policy):
        raise ParameterError(f"share={shown(share)}: a policy, such as vg.ASYM_SIZE or vg.fixed_ratio(3, 1)")
    if not members:
        raise ParameterError(
            "share= says how the members of a set of devices divide a loop: give device=[...]"
        )
    if placement is not None and share.places:
        raise ParameterError(f"share={shown(share)} and placement: both say who gets which vertices")
    return share


PARTITION: Final = "partition"
"""The placement by `vg.partition`."""
_partitions: weakref.WeakKeyDictionary[Graph, dict[int, NDArray[Any]]] = weakref.WeakKeyDictionary()


def _partitioned(method: str, graph: Graph, members: int) -> NDArray[Any]:
    """The part of each vertex, with about equally many arcs in each; made once for a graph and a number of members."""
    if method != PARTITION:
        raise ParameterError(
            f'placement={shown(method)}: "{PARTITION}", or an array with a member for each vertex'
        )
    kept = _partitions.setdefault(graph, {})
    if members not in kept:
        # Of what stands above, as orders are.
        partition = import_module("vgraph.partitioning").partition
        kept[members] = partition(graph, members, vertex_weight="degree").parts
    return kept[members]


def placement_of(
    parts: object, graph: Graph, members: tuple[Member, ...], prepared: Graph, rank: NDArray[Any] | None
) -> Placement:
    """The member of each vertex of the `prepared` graph, or a cut; vertices that only that graph has are the first
    member's."""
    if parts is None:
        return None
    if not members:
        raise ParameterError(
            "placement= says which member of a set of devices has a vertex: give device=[...]"
        )
    if isinstance(parts, HubCut):
        return parts.fitting(prepared, [m.share for m in members])
    if hasattr(parts, "of_arcs"):
        return _edge_cut(parts, graph, members, prepared)
    if isinstance(parts, str):
        parts = _partitioned(parts, graph, len(members))
    try:
        found = as_array(getattr(parts, "parts", parts), "placement")
    except GraphError as error:
        raise ParameterError(str(error)) from None
    if found.shape != (graph.num_vertices,):
        raise ParameterError(
            f"placement has the shape {found.shape}; it needs one member per vertex, ({graph.num_vertices:,},)"
        )
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise ParameterError(
            f"placement is NaN at vertex {int(np.isnan(found).argmax())}; members are whole numbers"
        )
    if found.dtype.kind not in "iu" and found.size:
        raise ParameterError(f"placement has the dtype {found.dtype}; members are whole numbers, from 0")
    outside = (found < 0) | (found >= len(members))
    if outside.any():
        at = int(outside.argmax())
        raise ParameterError(
            f"placement is {found[at]} at vertex {at}; the members are 0 to {len(members) - 1}"
        )
    if rank is not None and len(rank) != len(found):
        raise ParameterError(
            "placement is about the vertices of the graph, and the algorithm prepares one of others: leave it out"
        )
    owner = np.zeros(prepared.num_vertices, np.int64)
    owner[np.arange(len(found)) if rank is None else rank] = found
    return owner


def _edge_cut(parts: Any, graph: Graph, members: tuple[Member, ...], prepared: Graph) -> EdgeCut:
    """A partition of the edges, a part for each member."""
    if parts.k > len(members):
        raise ParameterError(f"placement has {parts.k} parts of the edges; there are {len(members)} members")
    if parts.graph.topology is not graph.topology:
        raise ParameterError("placement is a partition of another graph's edges")
    if prepared.topology is not graph.topology:
        raise ParameterError(
            "placement is about the edges of the graph, and the algorithm prepares one of others: leave it out"
        )
    return EdgeCut(parts.of_arcs)
