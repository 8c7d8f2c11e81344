"""`vgraph demo`: shortest paths over the streets of Amsterdam, and a map of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from vgraph.cli.inputs import read_graph
from vgraph.cli.report import check_folder, describe_graph, describe_result, reached
from vgraph.data import GRAPHS
from vgraph.errors import ParameterError

if TYPE_CHECKING:
    from vgraph.graph import Graph


@click.command()
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    default=Path("vgraph-amsterdam.png"),
    show_default=True,
    help="Where to write the map.",
)
@click.option("--source", type=int, help="The vertex to start from (default: one in the centre).")
def demo(out: Path, source: int | None) -> None:
    """Shortest paths from the centre of Amsterdam to every street, and a map coloured by distance."""
    import vgraph as vg
    from vgraph import plot

    streets = GRAPHS["amsterdam"]
    check_folder(out)
    graph, read_seconds = read_graph("amsterdam", None, None)
    source = central_vertex(graph) if source is None else source
    if not 0 <= source < graph.num_vertices:
        raise ParameterError(f"--source {source} is no vertex: there are 0 to {graph.num_vertices - 1}")
    plot.check(graph, out)
    click.echo(f"{streets.title}: {describe_graph(graph)} ({streets.attribution})")

    result = vg.run(vg.algorithms.sssp, graph, source=source)
    found = reached(result.dist)
    click.echo(f"sssp from vertex {source}: {int(found.sum()):,} of {graph.num_vertices:,} vertices reached")
    click.echo("\n".join(describe_result(result, read_seconds)))

    plot.vertices(
        graph,
        result.dist,
        out,
        y_down=streets.y_down,
        mark=source,
        title="Amsterdam: shortest paths from the white dot",
        label="distance (map units)",
        attribution=streets.attribution,
    )
    click.echo(f"map: {out}")


def central_vertex(graph: Graph) -> int:
    """The vertex nearest to the median of all coordinates."""
    positions = np.stack([graph.vertex_properties[axis] for axis in ("x", "y")], axis=1).astype(np.float64)
    return int(np.argmin(((positions - np.median(positions, axis=0)) ** 2).sum(axis=1)))
