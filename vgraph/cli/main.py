"""The `vgraph` command: finds the subcommand, shows a user's mistake as a message, not a traceback."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from vgraph.errors import InternalError, VGraphError

COMMANDS = {
    "run": "vgraph.cli.run:run",
    "info": "vgraph.cli.info:info",
    "convert": "vgraph.cli.convert:convert",
    "explain": "vgraph.cli.explain:explain",
    "tune": "vgraph.cli.tune:tune",
    "partition": "vgraph.cli.partition:partition",
    "list": "vgraph.cli.list:list_algorithms",
    "devices": "vgraph.cli.devices:list_devices",
    "demo": "vgraph.cli.demo:demo",
}


class UserFault(click.ClickException):
    """A mistake in what the user gave: the message goes to stderr, the exit code is 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the message, which may have several lines (the user's line and a caret)."""
        click.echo(f"error: {self.message}", file=file, err=True)


def _shown_as_text(other: Callable[..., None]) -> Callable[..., None]:
    """Shows a warning of vgraph's as its text, without a line of vgraph's code; what is not vgraph's by `other`."""

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if category.__module__.partition(".")[0] == "vgraph":
            click.echo(f"warning: {message}", err=True)
        else:
            other(message, category, *where, **more)

    return show


class Commands(click.Group):
    """A group that imports a subcommand only when it is needed, and turns VGraphError into a message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The subcommands, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand called `cmd_name`, or None."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; with --debug an error keeps its traceback."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _shown_as_text(warnings.showwarning)
                return super().invoke(ctx)
        except (VGraphError, OSError) as error:
            if ctx.params["debug"] or isinstance(error, (InternalError, BrokenPipeError)):
                raise
            raise UserFault("\n".join((str(error), *getattr(error, "__notes__", ())))) from error


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from vgraph import __version__

        click.echo(f"vgraph {__version__}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Graph programs, compiled: run an algorithm of the library, or your own, on a graph file."""
