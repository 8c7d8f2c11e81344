"""What the commands are given: graphs, algorithms, parameters and schedules, from a command line's words."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from vgraph.cli.progress import reading
from vgraph.data import GRAPHS, BundledGraph, path
from vgraph.errors import ParameterError, ScheduleError, VGraphError
from vgraph.io.spool import STDIN
from vgraph.schedule import AXES, Schedule, options

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.language.decorators import AlgorithmDef

_F = TypeVar("_F", bound=Callable[..., Any])
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "none": None,
    "inf": float("inf"),
    "-inf": float("-inf"),
    "nan": float("nan"),
}
_DTYPES = ("bool_", "int32", "int64", "uint32", "uint64", "float16", "float32", "float64")


class ProgramError(VGraphError):
    """A file of the user's raised an error while Python ran it."""


# --- graphs ---------------------------------------------------------------------------------------


def format_options(command: _F) -> _F:
    """The options that help to read a graph file."""
    for option in (
        click.option(
            "--directed/--undirected", default=None, help="Say so where the file's format does not."
        ),
        click.option(
            "--format", "file_format", metavar="NAME", help="The file's format, if not seen by its name."
        ),
    ):
        command = option(command)
    return command


def graph_options(command: _F) -> _F:
    """The options that say which graph, for every command that runs on one."""
    option = click.option(
        "--graph",
        "-g",
        "graph_name",
        required=True,
        metavar="FILE",
        help=f"A graph file, - for the standard input, or a graph that comes with vgraph: {', '.join(GRAPHS)}.",
    )
    return option(format_options(command))


def read_graph(name: str, file_format: str | None, directed: bool | None) -> tuple[Graph, float]:
    """The graph in the file `name`, or the bundled graph of that name; and the seconds that reading took."""
    import vgraph as vg

    file, size = name, 0
    if own := bundled(name):
        file, directed = str(path(name)), own.directed if directed is None else directed
    elif name != STDIN and not os.path.lexists(name):
        raise click.UsageError(f"there is no file {name!r}, and no graph of that name comes with vgraph")
    if os.path.isfile(file):
        size = os.path.getsize(file)
    started = time.perf_counter()
    with reading(os.path.basename(file), size) as progress:
        graph = vg.read(file, format=file_format, directed=directed, progress=progress)
    return graph, time.perf_counter() - started


def bundled(name: str) -> BundledGraph | None:
    """The graph of that name that comes with vgraph, unless there is a file of that name."""
    return None if os.path.lexists(name) else GRAPHS.get(name)


# --- algorithms -----------------------------------------------------------------------------------


def load_algorithm(name: str) -> AlgorithmDef:
    """The algorithm of the library called `name`, or `path/to/file.py:name` of the user's own.

    A file that defines a single algorithm needs no `:name`.
    """
    import vgraph as vg

    if name.startswith("-"):
        raise click.UsageError("give the algorithm first: vgraph run ALGORITHM --graph FILE ...")
    file, colon, own = name.rpartition(":")
    if name.endswith(".py"):
        file, own = name, ""
    elif not colon:
        if name in vg.algorithms.__all__:
            return getattr(vg.algorithms, name)  # type: ignore[no-any-return]
        if Path(name).name != name:
            raise click.UsageError(f"{name!r} is no Python file: one of your own is path/to/file.py:name")
        raise click.UsageError(
            f"no algorithm is called {name!r}{_meant(name, vg.algorithms.__all__)}; the library has "
            f"{', '.join(vg.algorithms.__all__)}; one of your own is given as path/to/file.py:name"
        )
    return _choose(_import_file(Path(file)), own)


def _import_file(file: Path) -> ModuleType:
    """Run a user's file as a module, with its folder first on the import path, as Python itself does."""
    if not file.is_file():
        raise click.UsageError(f"there is no file {str(file)!r}")
    # A name of its own: a user's bfs.py or json.py must not stand in for another module.
    name = f"vgraph_program_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent.resolve()))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except VGraphError:
        raise
    except Exception as error:
        raise ProgramError(f"{file} cannot be loaded\n{_from_file(error, file)}") from error
    return module


def _from_file(error: Exception, file: Path) -> str:
    """What Python says of `error`, from the user's file on: how vgraph came there is of no interest."""
    frames = error.__traceback__
    while frames is not None and Path(frames.tb_frame.f_code.co_filename) != file.absolute():
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames, chain=False)).rstrip()


def _choose(module: ModuleType, name: str) -> AlgorithmDef:
    """The algorithm `name` of a module, or its only one."""
    from vgraph.language.decorators import AlgorithmDef

    found = {key: value for key, value in vars(module).items() if isinstance(value, AlgorithmDef)}
    if name in found:
        return found[name]
    if not name and len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise click.UsageError(f"{module.__file__} defines no algorithm (a function under @vg.algorithm)")
    problem = f"has no algorithm {name!r}{_meant(name, found)}" if name else "defines several algorithms"
    raise click.UsageError(f"{module.__file__} {problem}: choose one of {', '.join(found)} with file.py:name")


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


# --- parameters -----------------------------------------------------------------------------------


def parse_parameters(
    given: Sequence[str], unknown: Sequence[str], algorithm: AlgorithmDef, options: Sequence[str]
) -> dict[str, Any]:
    """The algorithm's parameters from `--param name=value` and from options that the command does not know.

    `unknown`: the words left over (`--damping 0.9`, `--damping=0.9`); `options`: the command's own, for the
    message when a word is neither. Raises a usage error for a word that is no parameter of the algorithm.
    """
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise click.UsageError(f"--param takes name=value, not {text!r}")
        values[name] = _parameter_value(algorithm, name, value)
    rest = list(unknown)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            raise click.UsageError(f"unexpected argument {word!r}")
        name, equals, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if name not in {p.name for p in algorithm.shown}:
            _refuse(word, algorithm, options)
        if not equals:
            if not rest:
                raise click.UsageError(f"{word} needs a value")
            value = rest.pop(0)
        values[name] = _parameter_value(algorithm, name, value)
    return values


def _parameter_value(algorithm: AlgorithmDef, name: str, text: str) -> Any:
    """The value of a parameter: an edge property is given by its name as it is."""
    from vgraph.language.names import EdgePropertyAnnotation

    of_edges = isinstance(algorithm.annotations.get(name), EdgePropertyAnnotation)
    return text if of_edges and text.isidentifier() and text.lower() not in _WORDS else parse_value(text)


def _refuse(word: str, algorithm: AlgorithmDef, options: Sequence[str]) -> None:
    own = [f"--{p.name}" for p in algorithm.shown]
    raise click.UsageError(
        f"{word} is neither an option nor a parameter of {algorithm.name}{_meant(word, [*own, *options])}; "
        f"its parameters: {', '.join(own) or 'none'}"
    )


def parse_value(text: str) -> Any:
    """A parameter's value: `3`, `0.85`, `true`, `none`, `inf`, `float32`, `[1, 2]`, or `@array.npy`."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text in _DTYPES:
        import vgraph as vg

        return getattr(vg, text)
    if text.startswith("@"):
        import numpy as np

        try:
            with open(text[1:], "rb") as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        except Exception as error:  # NumPy evaluates the header, and hands on what that raises
            raise ParameterError(f"{text[1:]} cannot be read as a .npy file: {error}") from error
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise ParameterError(
            f"{text!r} is no value: write a number, true, false, none, inf, a list as [1, 2], "
            f"a type ({', '.join(_DTYPES)}) or @file.npy"
        ) from None


_WIDEST: Final = 60
"""Characters of an option that a message shows."""

# --- schedules ------------------------------------------------------------------------------------


def parse_schedule(texts: Sequence[str]) -> Schedule | None:
    """A schedule from words such as `relax: direction=push, drive=data`, one per label; None for no words."""
    schedule = Schedule()
    for text in texts:
        label, colon, options = text.partition(":")
        if not colon or not label.strip():
            raise ScheduleError(f"a schedule is written 'label: option=value, ...', not {text!r}")
        pairs = [pair.partition("=") for pair in options.split(",") if pair.strip()]
        given = {key.strip(): _option(key.strip(), value.strip()) for key, _, value in pairs}
        schedule = schedule.at(label.strip(), **given)
    return schedule if texts else None


def _option(name: str, text: str) -> object:
    """The value of a schedule option, written as a schedule shows it: `push`, `delta_stepping(64)`, `true`, `4`."""
    known_axes = options()
    if name not in known_axes:
        raise ScheduleError(
            f"unknown schedule option {name!r}{_meant(name, known_axes)}; there are {', '.join(known_axes)}"
        )
    if name not in AXES:
        return known_axes[name].read(text)
    try:
        return AXES[name].read(text.lower())
    except (KeyError, ValueError):
        words = AXES[name].words
        known = words.choices
        meant = f"one of {', '.join(known)}" if known else words.form or words.meant
        written = text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
        raise ScheduleError(f"{name}={written or '?'}{_meant(text, known)}: {name} is {meant}") from None
