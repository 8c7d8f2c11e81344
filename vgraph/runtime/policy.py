"""The numbers by which vgraph chooses for the user, each with its source; the one place where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.facts import Facts

if TYPE_CHECKING:
    from vgraph.graph import Graph


def facts_of(graph: Graph) -> Facts:
    """What is known of `graph` before a program is compiled for it."""
    return Facts()


def number(name: str, graph: Graph) -> float:
    """The value of a kernel's hidden parameter `graph.*` or `policy.*` on `graph`."""
    match name:
        case "graph.num_edges":  # arcs are counted by the kernel's interface, edges by the graph
            return graph.num_edges
    raise KeyError(name)
