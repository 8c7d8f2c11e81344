"""`vgraph explain`: what the compiler makes of an algorithm, and why."""

from __future__ import annotations

import click

from vgraph.cli.inputs import graph_options, load_algorithm, parse_schedule, read_graph


@click.command()
@click.argument("algorithm")
@graph_options
@click.option(
    "--schedule", "-s", multiple=True, metavar="'LABEL: OPTION=VALUE, ...'", help="How a traversal runs."
)
@click.option("--passes/--no-passes", default=True, help="Show the program after each pass.")
@click.option("--llvm", is_flag=True, help="Show the LLVM IR.")
@click.option("--asm", is_flag=True, help="Show the machine code.")
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="What to compile for (default: cpu)."
)
@click.option("--deterministic", is_flag=True, help="As it runs with --deterministic.")
def explain(
    algorithm: str,
    graph_name: str,
    file_format: str | None,
    directed: bool | None,
    schedule: tuple[str, ...],
    passes: bool,
    llvm: bool,
    asm: bool,
    device: str,
    deterministic: bool,
) -> None:
    """Show what ALGORITHM reads and writes, the schedule chosen and why, and the code after each pass.

    \b
    vgraph explain sssp --graph amsterdam
    vgraph explain my_algorithm.py:reach -g edges.txt -s 'spread: direction=pull' --no-passes --llvm
    """
    program = load_algorithm(algorithm)
    chosen = parse_schedule(schedule)
    graph, _ = read_graph(graph_name, file_format, directed)

    import vgraph as vg

    explained = vg.explain(
        program,
        graph,
        schedule=chosen,
        llvm=llvm,
        assembly=asm,
        passes=passes,
        device=device,
        deterministic=deterministic,
    )
    click.echo(explained)
