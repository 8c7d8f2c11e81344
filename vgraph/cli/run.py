"""`vgraph run`: run an algorithm of the library, or one of the user's own, on a graph file."""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgraph.cli.inputs import (
    bundled,
    graph_options,
    load_algorithm,
    parse_parameters,
    parse_schedule,
    read_graph,
)
from vgraph.cli.report import (
    as_json,
    check_folder,
    check_output,
    describe_graph,
    describe_result,
    describe_trace,
    outputs,
    write_result,
)
from vgraph.errors import ParameterError

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.result import Result


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("algorithm")
@graph_options
@click.option("--param", "-p", multiple=True, metavar="NAME=VALUE", help="A parameter of the algorithm.")
@click.option(
    "--schedule", "-s", multiple=True, metavar="'LABEL: OPTION=VALUE, ...'", help="How a traversal runs."
)
@click.option("--threads", "-t", type=click.IntRange(1), help="CPU threads to use (default: one per core).")
@click.option(
    "--device",
    metavar="[cpu|cuda|cuda:N|python]",
    help="Where to run (default: the CPU, or a GPU if there is one and the graph is large).",
)
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Write results: .npy, .npz, .csv or .txt.")
@click.option("--field", multiple=True, metavar="NAME", help="Write and draw only this result (repeatable).")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw the first result as a map, where there are coordinates.",
)
@click.option("--flip-y", is_flag=True, help="Draw y growing downwards.")
@click.option("--json", is_flag=True, help="Print the summary as JSON.")
@click.option("--deterministic", is_flag=True, help="The same bits at any number of threads; takes longer.")
@click.option("--max-rounds", type=int, help="More rounds than this end the run with an error.")
@click.option("--seed", type=int, help="All random numbers depend on it (default: 0).")
@click.option("--checked", is_flag=True, help="Look for faults while it runs: slow, for small graphs.")
@click.option("--verify", is_flag=True, help="Check the results against what defines them.")
@click.option("--trace", is_flag=True, help="Print every round: its frontier, arcs, direction and time.")
@click.pass_context
def run(ctx: click.Context, /, algorithm: str, **given: Any) -> None:
    """Run ALGORITHM on a graph.

    ALGORITHM is one of the library (see `vgraph list`) or your own, as path/to/file.py:name. Its parameters
    are options too: --source 0, --damping 0.9.

    \b
    vgraph run sssp --graph amsterdam --source 0 --plot map.png
    vgraph run bfs -g roads.gr.xz --source 0 -s 'visit: direction=push' -o level.npy --field level
    vgraph run my_algorithm.py:reach -g edges.txt --undirected --param seeds='[1, 2]'
    """
    program = load_algorithm(algorithm)
    options = [name for parameter in ctx.command.params for name in parameter.opts if name.startswith("--")]
    parameters = parse_parameters(given["param"], ctx.args, program, options)
    for name in ("max_rounds", "seed"):  # an algorithm may have one of its own
        parameters.setdefault(name, given[name])
    schedule = parse_schedule(given["schedule"])
    if given["out"] is not None:
        check_output(given["out"])
    if given["plot"] is not None:
        check_folder(given["plot"])
    graph, read_seconds = read_graph(given["graph_name"], given["file_format"], given["directed"])

    import vgraph as vg

    if given["plot"] is not None:
        from vgraph import plot

        plot.check(graph, given["plot"])
    result = vg.run(
        program,
        graph,
        device=given["device"],
        schedule=schedule,
        threads=given["threads"],
        progress=sys.stderr.isatty(),
        deterministic=given["deterministic"],
        checked=given["checked"],
        **parameters,
    )
    if given["verify"]:
        vg.verify(result)
        click.echo(f"{program.name}: the results are right", err=True)
    values = _chosen(result, given["field"])
    if given["json"]:
        report = as_json(program.name, graph, result, read_seconds, given["trace"])
        click.echo(json_text.dumps(report, indent=2))
    else:
        click.echo(f"{program.name} on {Path(given['graph_name']).name}: {describe_graph(graph)}")
        click.echo("\n".join(describe_result(result, read_seconds)))
        if given["trace"]:
            click.echo("\n".join(describe_trace(result)))
    others = result.of_edges | result.of_frontiers
    if given["out"] is not None:
        write_result(given["out"], values, graph.num_vertices, others)
        click.echo(f"wrote {given['out']}", err=True)
    if given["plot"] is not None:
        of_vertices = {name: value for name, value in values.items() if name not in others}
        _draw(graph, of_vertices, parameters, program.name, given)
        click.echo(f"wrote {given['plot']}", err=True)


def _chosen(result: Result, names: tuple[str, ...]) -> dict[str, Any]:
    """The results to write and to draw: those named by --field, or all."""
    values = outputs(result)
    unknown = [name for name in names if name not in values]
    if unknown:
        raise ParameterError(f"there is no result {unknown[0]!r}; the algorithm returns {', '.join(values)}")
    return {name: values[name] for name in names} if names else values


def _draw(
    graph: Graph, values: dict[str, Any], parameters: dict[str, Any], title: str, given: dict[str, Any]
) -> None:
    """Draw the first result that has a number for each vertex."""
    import numpy as np

    from vgraph import plot

    name = next((key for key, value in values.items() if np.shape(value) == (graph.num_vertices,)), None)
    if name is None:
        raise ParameterError(
            f"there is nothing to draw: none of {', '.join(values)} has a number for each vertex"
        )
    own = bundled(given["graph_name"])
    source = parameters.get("source")
    plot.vertices(
        graph,
        values[name],
        given["plot"],
        y_down=given["flip_y"] or (own is not None and own.y_down),
        missing=-1,
        mark=source if isinstance(source, int) else None,
        title=f"{title} on {Path(given['graph_name']).name}",
        label=name,
        attribution=own.attribution if own else "",
    )
