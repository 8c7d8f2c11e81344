"""`vgraph partition`: a graph file in parts, as a file that METIS's tools read, and as a map."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Any

import click

from vgraph.cli.inputs import bundled, graph_options, read_graph
from vgraph.cli.report import check_folder


@click.command()
@click.argument("k", type=click.IntRange(min=1))
@graph_options
@click.option(
    "--method", default="vgraph", show_default=True, help="How: one of vgraph.partitioning.METHODS."
)
@click.option(
    "--imbalance", default=1.03, show_default=True, help="How heavy a part may be, in units of the mean."
)
@click.option("--seed", default=0, show_default=True, help="Other seeds give other parts.")
@click.option("--vertex-weight", metavar="NAME", help='A vertex property, or "degree".')
@click.option("--edge-weight", metavar="NAME", help="An edge property.")
@click.option("--threads", type=int, help="Threads of the CPU.")
@click.option("--parts", type=Path, metavar="FILE", help="Measure the parts in FILE; nothing is divided.")
@click.option(
    "--out", type=Path, metavar="FILE", help="Write a line for each vertex, as METIS does: GRAPH.part.K."
)
@click.option("--plot", type=Path, metavar="FILE", help="Draw a map, if the graph has coordinates.")
@click.option("--json", is_flag=True, help="Print the figures as JSON.")
def partition(k: int, **given: Any) -> None:
    """Divide the vertices of a graph into K parts of about the same weight with few edges between them."""
    for file in (given["out"], given["plot"]):
        if file is not None:
            check_folder(file)
    graph, _ = read_graph(given["graph_name"], given["file_format"], given["directed"])

    from vgraph import partitioning, plot

    if given["plot"] is not None:
        plot.check(graph, given["plot"])
    weights = {name: given[name] for name in ("vertex_weight", "edge_weight")}
    if given["parts"] is not None:
        parts = partitioning.read_parts(given["parts"], graph.num_vertices)
        found = partitioning.measured(graph, parts, k, **weights)
    else:
        options = {name: given[name] for name in ("method", "imbalance", "seed", "threads")}
        found = partitioning.partition(graph, k, **options, **weights)
    click.echo(json_text.dumps(found.figures(), indent=2) if given["json"] else found.summary())
    if given["out"] is not None:
        partitioning.write_parts(found.parts, given["out"])
        click.echo(f"wrote {given['out']}", err=True)
    if given["plot"] is not None:
        own = bundled(given["graph_name"])
        style = {"attribution": own.attribution, "y_down": own.y_down} if own else {}
        found.plot(given["plot"], **style)
        click.echo(f"wrote {given['plot']}", err=True)
