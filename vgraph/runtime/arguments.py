"""What a kernel's arguments are on the host, whatever device it runs on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vgraph.compiler.facts import OF_A_PART, TRANSPOSED
from vgraph.compiler.philox import SEED
from vgraph.errors import ParameterError, shown
from vgraph.graph import layouts, members
from vgraph.graph.arrays import host_of, on_gpu, sealed
from vgraph.runtime import policy

if TYPE_CHECKING:
    from vgraph.compiler.backends.base import ArgSlot, KernelInterface
    from vgraph.graph import Graph
    from vgraph.graph.arrays import Elsewhere
    from vgraph.graph.relabel import Relabelled
    from vgraph.runtime.devices.runner import Call
    from vgraph.runtime.plan import Array, Plan

_ABSENT: Final = sealed(np.zeros(1, np.uint64))
"""In place of arrays of in-arcs where there are none and the kernel knows it."""


def check_arguments(plan: Plan, graph: Graph, arguments: Mapping[str, Any]) -> None:
    """Refuse vertices that the graph does not have, and arrays without one element for each vertex."""
    for name in plan.vertex_params:
        if name.startswith(OF_A_PART):  # of a member of a set of devices
            continue
        _check_vertex(name, arguments[name], graph)
    for array in plan.arrays:
        if array.origin == "members":
            name = members.array_name(array.name)
            _check_vertices(name, _array(arguments[name]), graph)
        if array.origin != "param" or array.name.startswith(OF_A_PART):
            continue
        given = _array(arguments[array.name])
        if array.site == "vertex" and len(given) != graph.num_vertices:
            raise ParameterError(
                f"{array.name} has {len(given):,} elements; it needs one per vertex, {graph.num_vertices:,}"
            )
        if array.ids:
            _check_vertices(array.name, given, graph)


def _array(values: Any) -> Any:
    """As an array, where it lies."""
    return values if on_gpu(values) else np.asarray(values)


def _check_vertices(name: str, given: np.ndarray[Any, Any], graph: Graph) -> None:
    outside = (given < 0) | (given >= graph.num_vertices)
    if outside.any():
        _check_vertex(name, given[outside][0], graph)


def _check_vertex(name: str, value: Any, graph: Graph) -> None:
    if not 0 <= int(value) < graph.num_vertices:
        n = graph.num_vertices
        which = f"its vertices are 0 to {n - 1:,}" if n else "it has none"
        raise ParameterError(f"{name}={shown(int(value))} is not a vertex of the graph; {which}")


def needed(array: Array, plan: Plan) -> bool:
    """Whether a run needs an array of the program."""
    return array.name in plan.used


def renumbered(plan: Plan, arguments: Mapping[str, Any], numbers: Relabelled) -> dict[str, Any]:
    """The arguments with single vertices by their new numbers."""
    moved = {name: int(numbers.new_of_old[int(arguments[name])]) for name in plan.vertex_params}
    return {**arguments, **moved}


def local_shape(array: Array, call: Call) -> tuple[int, ...]:
    """The shape of a local property, which begins with any content."""
    graph = call.graph
    if array.site == "array" or (array.site == "place" and array.name in call.arguments):
        return np.shape(call.arguments[array.name])
    match array.site:
        case "edge_in" if call.transposed:
            size = graph.in_.columns.size  # of a part as many as it has
        case "edge" | "edge_in" | "edge_segments":
            size = graph.num_arcs
        case "numbered":
            size = graph.num_edges
        case _:
            size = graph.num_vertices
    if array.chunks:
        size = array.chunks * policy.channel_room(array.site, graph)
    return (size, array.length) if array.length else (size,)


def host_array(array: Array, call: Call) -> np.ndarray[Any, Any]:
    """The array of a parameter, a fresh copy, or of a property of the graph, which nobody may write."""
    graph, numbers, name = call.graph, call.numbers, array.name
    if array.origin == "members":
        ids = call.arguments.get(name, call.arguments[members.array_name(name)])
        marks = members.marked(ids, graph.num_vertices)
        return marks if numbers is None else numbers.to_new(marks, ids=False)
    if array.origin == "param":
        given = np.array(host_of(call.arguments[name]), array.dtype, order="C")
        if numbers is None:
            return given
        if array.site == "vertex":
            return numbers.to_new(given, ids=array.ids)
        return numbers.renumber(given, numbers.new_of_old) if array.ids else given
    if array.site == "vertex":
        return graph.vertex_properties[name]
    if array.site == "edge_segments":
        return layouts.ordered(graph, *layouts.split_name(name))
    if array.site == "edge_in":
        return graph.in_property(name.removesuffix(".in")) if call.transposed else _ABSENT
    return graph.edge_array(name)


def topology_array(arg: ArgSlot, call: Call) -> np.ndarray[Any, Any]:
    """The array of an `adjacency` or `prepared` argument; `_ABSENT` for in-arcs that the run does not walk."""
    part, _, which = arg.name.rpartition(".")
    found = (
        layouts.on_host(call.graph, part).arrays[which] if arg.kind == "prepared" else adjacency(arg, call)
    )
    return found if isinstance(found, np.ndarray) else found.fetch()


def adjacency(arg: ArgSlot, call: Call) -> np.ndarray[Any, Any] | Elsewhere:
    """The same of an `adjacency` argument, which may lie on a device."""
    part, _, which = arg.name.rpartition(".")
    if part == "in" and not call.transposed:
        return _ABSENT
    side = call.graph.out if part == "out" else call.graph.in_
    return side.rows if which == "row_offsets" else side.columns


def layouts_of(interface: KernelInterface) -> tuple[str, ...]:
    """The keys of the layouts of arcs that a kernel walks."""
    named = (a.name.rpartition(".")[0] for a in interface.args if a.kind == "prepared")
    return tuple(dict.fromkeys(named))


def scalar_argument(arg: ArgSlot, call: Call, device: str, threads: int = 1) -> tuple[Any, str]:
    """The value and dtype of a `size` or `param` argument."""
    if arg.kind == "size":
        return getattr(call.graph, arg.name), "int64"
    if arg.name == TRANSPOSED:
        return call.transposed, arg.dtype
    if arg.name == SEED:
        return call.seed, arg.dtype
    if arg.name.startswith(("graph.", "policy.")) and arg.name not in call.arguments:
        return policy.number(arg.name, call.graph, device, threads), arg.dtype
    return call.arguments[arg.name], arg.dtype
