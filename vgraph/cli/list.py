"""`vgraph list`: the algorithms of the library and their parameters."""

from __future__ import annotations

from inspect import Parameter

import click


@click.command("list")
def list_algorithms() -> None:
    """List the algorithms of the library: their parameters and what they compute."""
    import vgraph as vg

    for name in vg.algorithms.__all__:
        algorithm = getattr(vg.algorithms, name)
        summary = (algorithm.__doc__ or "").strip().splitlines()
        click.echo(f"{name}({', '.join(map(_show, algorithm.signature.parameters.values()))})")
        if summary:
            click.echo(f"    {summary[0]}")


def _show(parameter: Parameter) -> str:
    """A parameter as it is given: its name, and its default if it has one."""
    if parameter.default is Parameter.empty:
        return parameter.name
    return f"{parameter.name}={parameter.default!r}"
