"""`vgraph tune`: search for the fastest schedule of an algorithm on a graph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from vgraph.cli.inputs import graph_options, load_algorithm, parse_parameters, read_graph
from vgraph.cli.report import check_folder, describe_graph
from vgraph.config import scope
from vgraph.schedule import text_of


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("algorithm")
@graph_options
@click.option("--param", "-p", multiple=True, metavar="NAME=VALUE", help="A parameter of the algorithm.")
@click.option(
    "--budget", "-b", default="10s", metavar="TIME", help="Time to spend: 10s, 2min (default: 10s)."
)
@click.option("--threads", "-t", type=click.IntRange(1), help="Threads to use (default: one per core).")
@click.option("--seed", type=int, default=0, help="For the part of the search that is random.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the schedules that were tried.")
@click.option("--fresh", is_flag=True, help="Neither use nor keep what is measured.")
@click.pass_context
def tune(ctx: click.Context, /, algorithm: str, **given: Any) -> None:
    """Measure the legal schedules of ALGORITHM on a graph, and show the fastest.

    ALGORITHM and its parameters are given as for `vgraph run`.

    \b
    vgraph tune sssp --graph amsterdam --source 56678 --budget 20s
    vgraph tune my_algorithm.py:reach -g edges.txt --plot tuning.png
    """
    program = load_algorithm(algorithm)
    options = [name for parameter in ctx.command.params for name in parameter.opts if name.startswith("--")]
    parameters = parse_parameters(given["param"], ctx.args, program, options)
    if given["plot"] is not None:
        check_folder(given["plot"])
    graph, _ = read_graph(given["graph_name"], given["file_format"], given["directed"])

    import vgraph as vg

    with scope(no_cache=True) if given["fresh"] else scope():
        tuning = vg.autotune(
            program,
            graph,
            given["budget"],
            threads=given["threads"],
            seed=given["seed"],
            progress=sys.stderr.isatty(),
            **parameters,
        )
    click.echo(f"{program.name} on {Path(given['graph_name']).name}: {describe_graph(graph)}")
    _show(tuning)
    if tuning.schedule.labels:
        words = [_words(label, options) for label, options in tuning.schedule.labels.items()]
        click.echo(f"use it with: {' '.join(words)}")
    if given["plot"] is not None:
        tuning.plot(given["plot"])
        click.echo(f"wrote {given['plot']}", err=True)


def _show(tuning: Any) -> None:
    """The table, drawn by `rich` where it is installed and the output is a terminal."""
    if sys.stdout.isatty():
        try:
            import rich
        except ImportError:
            pass
        else:
            rich.print(tuning)
            return
    click.echo(str(tuning))


def _words(label: str, options: Any) -> str:
    """The options of a label as `vgraph run` takes them."""
    return f"--schedule '{label}: {text_of(options.given())}'"
