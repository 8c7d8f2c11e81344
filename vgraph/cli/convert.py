"""`vgraph convert`: write a graph in another format, or with its vertices in another order."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from vgraph.cli.inputs import format_options, read_graph
from vgraph.cli.progress import working
from vgraph.cli.report import check_folder, check_output, describe_graph, write_result
from vgraph.errors import ParameterError
from vgraph.graph.relabel import ORDERS


@click.command()
@click.argument("graph_name", metavar="FILE")
@click.argument("out", type=click.Path(path_type=Path))
@format_options
@click.option(
    "--reorder", metavar="ORDER", help=f"Number the vertices in this order: {', '.join(ORDERS)}, or auto."
)
@click.option(
    "--ids",
    type=click.Path(path_type=Path),
    help="With --reorder: write, for each new number, which vertex it was: .npy, .npz, .csv or .txt.",
)
def convert(
    graph_name: str,
    out: Path,
    file_format: str | None,
    directed: bool | None,
    reorder: str | None,
    ids: Path | None,
) -> None:
    """Read the graph in FILE and write it to OUT, whose suffix says how.

    With --reorder its vertices have other numbers there.

    \b
    vgraph convert roads.gr.xz roads.npz
    vgraph convert roads.gr.xz roads.npz --reorder rcm --ids original.npy
    """
    if ids is not None and reorder is None:
        raise ParameterError("--ids tells of --reorder, which is not given")
    if ids is not None:
        check_output(ids)
    check_folder(out)
    graph, _ = read_graph(graph_name, file_format, directed)

    import vgraph as vg

    if reorder is not None:
        original = np.arange(graph.num_vertices)
        with working("reordering"):
            order = vg.reorder(graph, by=reorder).order
            if order is not None:
                graph, original, _ = graph.relabelled(order)
        if ids is not None:
            write_result(ids, {"original": original}, graph.num_vertices)
    vg.write(graph, out)
    click.echo(f"wrote {out}: {describe_graph(graph)}")
