"""`@vg.operator`, `@vg.function`, `@vg.algorithm`: they only wrap; nothing is parsed before it runs."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cached_property
from types import CodeType
from typing import Any, ClassVar, Self

import numpy as np

from vgraph.compiler.types import BOOL, Scalar
from vgraph.errors import DeclarationError, ParameterError, SourceError, VGraphError, shown
from vgraph.graph.prepared import Prepared
from vgraph.language.names import EdgePropertyAnnotation, GraphAnnotation
from vgraph.source import SourceFile
from vgraph.tracebacks import public

_SLICES = frozenset(dis.opmap[name] for name in ("BUILD_SLICE", "BINARY_SLICE") if name in dis.opmap)
"""What Python makes of `x[a:b]`, where it is read."""


class Definition:
    """A function of the user's, its text, and the names that it sees."""

    kind: ClassVar[str]

    def __init__(self, function: Callable[..., Any]) -> None:
        if not inspect.isfunction(function):
            raise DeclarationError(f"@vg.{self.kind} goes on a function, not on {shown(function)}")
        self.function = function
        functools.update_wrapper(self, function)  # type: ignore[arg-type]
        self.name: str = function.__name__

    def __repr__(self) -> str:
        return f"<{self.kind} {self.function.__module__}.{self.function.__qualname__}>"

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        return self  # stays itself as a class attribute: the language has no methods

    @cached_property
    def source(self) -> SourceFile:
        """The function's text with its decorators, where it stands in its file. Raises SourceError without one."""
        try:
            lines, first = inspect.getsourcelines(self.function)
        except (OSError, TypeError) as error:
            raise SourceError(
                f"the source text of {self.name} is not available ({error}); define it in a file or in a notebook cell"
            ) from None
        first = max(first, 1)
        indent = len(lines[0]) - len(lines[0].lstrip())
        return SourceFile(self.function.__code__.co_filename, "".join(lines), first, indent)

    @property
    def closure(self) -> dict[str, Any]:
        """The names that the function takes from enclosing functions, with their values."""
        cells = self.function.__closure__ or ()
        names = self.function.__code__.co_freevars
        return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True) if _is_set(cell)}

    @property
    def scopes(self) -> tuple[Mapping[str, Any], ...]:
        """Where names that are no locals of the function are looked up, one after the other."""
        outer = self.function.__globals__, vars(builtins)
        return (self.closure, *outer) if self.function.__closure__ else outer

    def resolve(self, name: str) -> Any:
        """The value of a name that is no local of the function. Raises KeyError where there is none."""
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        raise KeyError(name)

    @cached_property
    def mentioned(self) -> tuple[str, ...]:
        """The names in the function's code, and in that of functions in it, that are no locals."""
        return _names(self.function.__code__)

    @cached_property
    def slices(self) -> bool:
        """Whether something is sliced, `x[a:b]`."""
        return not _SLICES.isdisjoint(self.function.__code__.co_code[::2])

    @cached_property
    def measures(self) -> dict[str, frozenset[str]]:
        """By what is called, the names in all its arguments but the first; by "" those in bounds of slices."""
        found: dict[str, set[str]] = {}
        for n in ast.walk(ast.parse(textwrap.dedent(self.source.text))):
            name, taken = "", list[ast.expr | None]()
            if isinstance(n, ast.Call):
                name = getattr(n.func, "attr", getattr(n.func, "id", ""))
                taken = [*n.args[1:], *(k.value for k in n.keywords)]
            elif isinstance(n, ast.Slice):
                taken = [n.lower, n.upper]
            inside = (p for e in taken if e is not None for p in ast.walk(e))
            found.setdefault(name, set()).update(getattr(p, "attr", getattr(p, "id", "")) for p in inside)
        return {name: frozenset(names - {""}) for name, names in found.items()}

    @property
    def prints(self) -> bool:
        """Whether `print` is Python's here."""
        return self.resolve("print") is print

    @property
    def scope(self) -> tuple[str, str]:
        """The module and the function around it: functions of one scope stand side by side."""
        return self.function.__module__, self.function.__qualname__.rpartition(".")[0]

    def visible_names(self) -> tuple[str, ...]:
        """The names of enclosing functions and the module, for suggestions."""
        return (*self.closure, *self.function.__globals__)


def _names(code: CodeType) -> tuple[str, ...]:
    inner = (name for c in code.co_consts if isinstance(c, CodeType) for name in _names(c))
    return tuple(dict.fromkeys((*code.co_names, *code.co_freevars, *inner)))


@functools.lru_cache(maxsize=1024)
def asked_of(hook: Callable[..., Any]) -> list[str]:
    """The parameters that a check or preparation asks for: all but the first, the graph."""
    return list(inspect.signature(hook).parameters)[1:]


def _is_set(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


class OperatorDef(Definition):
    """An edge operator `(src, edge, dst[, graph])` or a vertex operator `(v[, graph])`."""

    kind = "operator"

    @public
    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Refuses: operators run inside an algorithm."""
        raise VGraphError(
            f"{self.name} is an operator: it runs on many vertices or edges at once; "
            f"use graph.edge_apply({self.name}, ...) or graph.vertex_apply({self.name}, ...) inside an algorithm"
        )


class FunctionDef(Definition):
    """A helper that operators and algorithms call; compiled programs contain it inlined."""

    kind = "function"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        return self.function(*args, **kwargs)


class AlgorithmDef(Definition):
    """A whole graph program: `vg.run(name, graph, ...)` runs it, and so does `name(graph, ...)`."""

    kind = "algorithm"
    runs: ClassVar[Callable[..., Any]]
    """`vg.run`, which stands above the language and puts itself here."""

    @public
    def __call__(self, graph: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as `vg.run(self, graph, ...)`."""
        return self.runs(self, graph, *args, **kwargs)

    @cached_property
    def requirements(self) -> list[Callable[..., None]]:
        """The checks registered with `requires`."""
        return []

    def requires(self, check: Callable[..., None]) -> Callable[..., None]:
        """Register a check to be made before each run.

        It is called with the graph and those of the algorithm's parameters that it names, and raises a
        ParameterError for what the algorithm cannot be run with. It runs in Python: keep it short.
        """
        self._check_names(check)
        self.requirements.append(check)
        return check

    @cached_property
    def preparations(self) -> list[Callable[..., Any]]:
        """What was registered with `prepares`."""
        return []

    def prepares(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Register what gives the graph and arguments to run with in place of the user's, as a `vg.Prepared`.

        It is called as checks are. Results with one element per vertex come back in the order of the user's graph; an
        algorithm that renumbers takes no vertices as parameters. It runs in Python, before each run: what takes long
        belongs in `Graph.kept_with_topology`.
        """
        self._check_names(make)
        self.preparations.append(make)
        return make

    def _check_names(self, hook: Callable[..., Any]) -> None:
        """Raise DeclarationError if a function to be registered asks for what is no parameter of the algorithm."""
        for name in asked_of(hook):
            if name not in self.signature.parameters:
                raise DeclarationError(
                    f"{hook.__name__} asks for {name!r}, which is no parameter of {self.describe()}"
                )

    @cached_property
    def endings(self) -> list[Callable[..., Mapping[str, Any]]]:
        """What was registered with `finishes`."""
        return []

    def finishes(self, change: Callable[..., Mapping[str, Any]]) -> Callable[..., Mapping[str, Any]]:
        """Register what gives the results that the user sees for those that the algorithm returns.

        It is called with the results that it names, in the order of the user's graph, and the arguments that it names,
        as they were prepared, and with all other results, too, if it ends in `**found`. It gives all results by name,
        and is for such as are no property of vertices, a list of edges for instance; it runs in Python: keep it short.
        """
        self.endings.append(change)
        return change

    def finish(self, values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The results that the user sees."""
        for change in self.endings:
            wanted, known = inspect.signature(change).parameters, {**arguments, **values}
            named = [name for name, p in wanted.items() if p.kind is not p.VAR_KEYWORD]
            for name in named:
                if name not in known:
                    raise DeclarationError(
                        f"{change.__name__}, which finishes {self.name}, asks for {name!r}; "
                        f"the results are {', '.join(values)}"
                    )
            if len(named) < len(wanted):
                named += [name for name in values if name not in named]
            values = change(**{name: known[name] for name in named})
        return values

    @cached_property
    def derivations(self) -> dict[str, Callable[..., Any]]:
        """What was registered with `derives`, by name."""
        return {}

    def derives(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Register what gives a further result, of the function's name, when it is first asked for.

        It is called with the user's graph and the result, which keeps that graph; it is not among `result.names`. It
        is for what costs more than all who run the algorithm should pay.
        """
        self.derivations[make.__name__] = make
        return make

    @property
    def asked(self) -> dict[str, list[str]]:
        """The checks and preparations by their names, with the parameters that they ask for."""
        hooks = (*self.requirements, *self.preparations)
        return {hook.__name__: asked_of(hook) for hook in hooks}

    @property
    def path(self) -> str:
        """Its module and its name there."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def prepare(self, graph: Any, arguments: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
        """The graph to run on, its names for the vertices (None: the user's), and arguments that were replaced."""
        rank: Any = None
        graph, replaced = self.with_edge_properties(graph, arguments)
        for make in self.preparations:
            given = {**{n: p.default for n, p in self.signature.parameters.items()}, **arguments, **replaced}
            wanted = asked_of(make)
            made = make(graph, **{name: given[name] for name in wanted})
            if not isinstance(made, Prepared):
                raise ParameterError(
                    f"{make.__name__}, which prepares {self.name}, returned {shown(made)}: return a vg.Prepared"
                )
            graph, rank, more = made
            replaced |= more
        return graph, rank, replaced

    def with_edge_properties(self, graph: Any, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The graph with the parameters that are edge properties as its own, by their names, and what stands for them.

        Raises ParameterError for what is no edge property of the graph, or none of the annotated type.
        """
        replaced: dict[str, Any] = {}
        for name, annotation in self.annotations.items():
            if not isinstance(annotation, EdgePropertyAnnotation):
                continue
            default = self.signature.parameters[name].default
            given = arguments.get(name)
            given = default if given is None else given
            if not isinstance(given, str) and not np.ndim(given):
                replaced[name] = given  # one number for all, or None
                continue
            if not isinstance(given, str):
                graph = graph.with_edge_property(name, given)
            elif given in graph.edge_properties:
                graph = graph.with_edge_property_as(name, given)
            else:
                known = ", ".join(graph.edge_properties) or "none"
                raise ParameterError(
                    f"{name}={shown(given)}: the graph has no such edge property; it has: {known}"
                )
            found, t = graph.edge_properties[name], annotation.dtype.type
            assert isinstance(t, Scalar)
            if (
                found.ndim != 1
                or (found.dtype.kind == "f" and not t.is_float)
                or (found.dtype == bool) != (t == BOOL)
            ):
                held = f"{found.dtype}{list(found.shape[1:]) or ''}"
                raise ParameterError(
                    f"{name}={shown(given)}: edges hold {held}, and {self.name} takes numbers that "
                    f"{annotation.dtype!r} holds; convert them, as by Graph.with_edge_property"
                )
            replaced[name] = name
        return graph, replaced

    def check(self, graph: Any, arguments: Mapping[str, Any]) -> None:
        """Make all registered checks of what `arguments` has values for, and that of the graph's annotation."""
        takes = self.takes
        if takes is not None and graph.directed != takes.directed:
            kind = "directed" if takes.directed else "undirected"
            raise ParameterError(
                f"{self.name}: of {kind} graphs; build the graph with directed={takes.directed}"
            )
        for check in self.requirements:
            wanted = asked_of(check)
            if arguments.keys() >= set(wanted):
                check(graph, **{name: arguments[name] for name in wanted})

    @cached_property
    def signature(self) -> inspect.Signature:
        """The Python signature without the first parameter, the graph."""
        whole = inspect.signature(self.function)
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    @property
    def shown(self) -> list[inspect.Parameter]:
        """The parameters that users give: those whose names begin with `_` are filled by preparations."""
        return [p for name, p in self.signature.parameters.items() if not name.startswith("_")]

    @cached_property
    def annotations(self) -> dict[str, Any]:
        """The evaluated annotations of the parameters. Raises ParameterError for one that cannot be evaluated."""
        found: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            annotation = self._evaluated(parameter.annotation)
            if annotation is not inspect.Parameter.empty:
                found[name] = annotation
        return found

    @cached_property
    def takes(self) -> GraphAnnotation | None:
        """What the annotation of the graph says, if that is of the language."""
        graph = next(iter(inspect.signature(self.function).parameters.values()), None)
        try:
            found = self._evaluated(graph.annotation if graph is not None else None)
        except ParameterError as error:
            if isinstance(error.__cause__, NameError):
                return None  # a class that is there for a type checker alone
            raise
        return found if isinstance(found, GraphAnnotation) else None

    def _evaluated(self, annotation: Any) -> Any:
        """An annotation, also one that is kept as text."""
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, self.function.__globals__, self.closure)
        except Exception as error:
            raise ParameterError(f"an annotation of {self.name} cannot be evaluated: {error}") from error

    def describe(self) -> str:
        """The signature as the user would write it: `sssp(graph, source)`."""
        # Postponed annotations are strings: show them as they were written.
        whole = inspect.signature(self.function)
        seen = whole.replace(parameters=[*list(whole.parameters.values())[:1], *self.shown])
        return self.name + re.sub(r": '([^']*)'", r": \1", str(seen))


@public
def operator(function: Callable[..., Any]) -> OperatorDef:
    """Make a function of `(src, edge, dst)` or `(v)`, each with `graph` if it needs global scalars, an operator."""
    return OperatorDef(function)


@public
def function(function: Callable[..., Any]) -> FunctionDef:
    """Make a function of values a helper that operators and algorithms may call."""
    return FunctionDef(function)


@public
def algorithm(function: Callable[..., Any]) -> AlgorithmDef:
    """Make a function of `(graph, parameters...)` an algorithm for `vg.run`."""
    return AlgorithmDef(function)
