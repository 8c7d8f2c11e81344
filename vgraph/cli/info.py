"""`vgraph info`: what a graph file holds."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from vgraph.cli.inputs import format_options, read_graph
from vgraph.cli.progress import working
from vgraph.runtime.result import duration

if TYPE_CHECKING:
    from vgraph.graph import Graph

_BAR = 40


@click.command()
@click.argument("graph_name", metavar="FILE")
@format_options
@click.option("--json", is_flag=True, help="Print the figures as JSON.")
def info(graph_name: str, file_format: str | None, directed: bool | None, json: bool) -> None:
    """Describe the graph in FILE: its size, degrees, self-loops, components and properties.

    FILE may also be a graph that comes with vgraph, such as `amsterdam`.
    """
    graph, read_seconds = read_graph(graph_name, file_format, directed)
    with working("counting components"):
        figures = measure(graph)
    if json:
        click.echo(json_text.dumps(figures, indent=2))
        return
    click.echo(f"{Path(graph_name).name}, read in {duration(read_seconds)}")
    click.echo("\n".join(_lines(figures)))


def measure(graph: Graph) -> dict[str, Any]:
    """The figures of a graph, as plain numbers by name.

    Degrees are out-degrees and in-degrees of a directed graph, degrees of an undirected one; components are
    weakly connected.
    """
    sources, targets, _ = graph.edges()
    figures: dict[str, Any] = {
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "self_loops": int((sources == targets).sum()),
    }
    degrees = _degrees(graph)
    figures["degrees"] = {name: _spread(degree) for name, degree in degrees.items()}
    figures["isolated"] = int((np.sum(list(degrees.values()), axis=0) == 0).sum())
    figures["components"], figures["largest_component"] = _components(graph)
    figures["edge_properties"] = {name: _range(values) for name, values in graph.edge_properties.items()}
    figures["vertex_properties"] = {name: _range(values) for name, values in graph.vertex_properties.items()}
    return figures


def _degrees(graph: Graph) -> dict[str, NDArray[np.int64]]:
    out = graph.out_degree.astype(np.int64)
    if not graph.directed:
        return {"degree": out}
    # Counted here rather than taken from graph.in_degree, which would build the whole transpose.
    into = np.bincount(graph.out.column_indices, minlength=graph.num_vertices)
    return {"out-degree": out, "in-degree": into}


def _spread(degree: NDArray[np.int64]) -> dict[str, Any]:
    """Smallest, mean and largest degree, and how many vertices have 0, 1, 2-3, 4-7, ... of them."""
    if not degree.size:
        return {"min": 0, "mean": 0.0, "max": 0, "histogram": {}}
    # 0 -> bin 0, 1 -> 1, 2 and 3 -> 2, ...: the number of binary digits.
    digits = np.frexp(degree.astype(np.float64))[1]
    names = ["0", "1", *(f"{1 << k}-{(2 << k) - 1}" for k in range(1, 64))]
    histogram = {names[k]: int(count) for k, count in enumerate(np.bincount(digits)) if count}
    return {
        "min": int(degree.min()),
        "mean": float(degree.mean()),
        "max": int(degree.max()),
        "histogram": histogram,
    }


def _components(graph: Graph) -> tuple[int, int]:
    """How many weakly connected components there are, and the vertices of the largest."""
    import vgraph as vg

    if not graph.num_vertices:
        return 0, 0
    component = vg.run(vg.algorithms.connected_components, graph).component
    sizes = np.bincount(component)
    return int(np.count_nonzero(sizes)), int(sizes.max())


def _range(values: NDArray[Any]) -> dict[str, Any]:
    limits = {"min": values.min().item(), "max": values.max().item()} if values.size else {}
    return {"dtype": str(values.dtype), **limits}


def _lines(figures: dict[str, Any]) -> list[str]:
    kind, what = ("directed", "arcs") if figures["directed"] else ("undirected", "edges")
    lines = [
        f"vertices    {figures['vertices']:,} ({figures['isolated']:,} isolated)",
        f"{what:<12}{figures['edges']:,}, {kind}, {figures['self_loops']:,} self-loops",
        f"components  {figures['components']:,}, the largest of {figures['largest_component']:,} vertices",
    ]
    for site in ("edge", "vertex"):
        for name, values in figures[f"{site}_properties"].items():
            span = f", {values['min']:,} to {values['max']:,}" if "min" in values else ""
            lines.append(f"{site}.{name:<{max(1, 11 - len(site))}}{values['dtype']}{span}")
    for name, spread in figures["degrees"].items():
        lines.append(f"{name:<12}{spread['min']} to {spread['max']:,}, mean {spread['mean']:.3g}")
        most = max(spread["histogram"].values(), default=1)
        for label, count in spread["histogram"].items():
            lines.append(f"  {label:>12} {count:>12,} {'#' * max(1, round(_BAR * count / most))}")
    return lines
