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
        shown = (_show(p, algorithm.annotations.get(p.name)) for p in algorithm.shown)
        click.echo(f"{name}({', '.join(shown)})")
        if summary:
            click.echo(f"    {summary[0]}")


def _show(parameter: Parameter, annotation: object) -> str:
    """A parameter as it is given: its name, its default if it has one, and its bounds."""
    from vgraph.language.names import BoundsAnnotation

    bounds = f" ({annotation.words()})" if isinstance(annotation, BoundsAnnotation) else ""
    if parameter.default is Parameter.empty:
        return f"{parameter.name}{bounds}"
    return f"{parameter.name}={parameter.default!r}{bounds}"
