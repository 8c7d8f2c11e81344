"""Traversal and rewriting of the IR, derived from the fields of the node classes; passes and their manager.

A rule is a plain function `Node -> Node | None`: None keeps the node. Rules are pure; a replacement without a
span takes the span of the node it replaces, at every depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache, wraps
from itertools import chain
from typing import Any, ClassVar, TypeVar, cast

from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, Abilities
from vgraph.compiler.facts import Facts
from vgraph.compiler.ir.legality import NEW_LOCALS
from vgraph.compiler.ir.node import fields_of, per_class
from vgraph.errors import InternalError, VGraphError
from vgraph.records import dataclass
from vgraph.schedule import Schedule
from vgraph.source import Span

N = TypeVar("N", bound=ir.Node)
R = TypeVar("R")

Replacement = ir.Node | tuple[ir.Stmt, ...]
BodyRule = Callable[[ir.Node], Replacement | None]


def per_operator(of: Callable[[ir.Operator], R]) -> Callable[[ir.Operator], R]:
    """Keep what a function gives; operators that are alike, but stand in different places, have their own."""
    kept = lru_cache(maxsize=256)(lambda operator, span: of(operator))
    return wraps(of)(lambda operator: kept(operator, operator.span))


# --- traversal ----------------------------------------------------------------------------------------------


@per_class
def child_fields(kind: type[Any]) -> tuple[str, ...]:
    """The names of the fields of a class that hold nodes, one or a tuple of them, in order of evaluation."""
    return tuple(f.name for f in fields_of(kind) if f.has_nodes)


def children(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes directly below `node`, in order."""
    values = node.__dict__
    for name in child_fields(type(node)):
        value = values[name]
        if type(value) is tuple:
            yield from value
        elif isinstance(value, ir.Node):
            yield value


def walk(node: ir.Node) -> Iterator[ir.Node]:
    """`node` and everything below it, parents first, in order."""
    found: list[ir.Node] | None = node.__dict__.get("_below")
    if found is None:
        # Kept, for passes and resolvers walk the same programs and operators again and again.
        found = node.__dict__["_below"] = []
        stack = [*children(node)]
        stack.reverse()
        while stack:
            current = stack.pop()
            found.append(current)
            values, below = current.__dict__, list[ir.Node]()
            # As `children`, which would be one frame more for each.
            for name in child_fields(type(current)):
                value = values[name]
                if type(value) is tuple:
                    below += value
                elif isinstance(value, ir.Node):
                    below.append(value)
            below.reverse()
            stack += below
    return chain((node,), found)


def with_fields(node: N, changes: Mapping[str, object]) -> N:
    """A copy of `node` with some fields changed; the span stays. (`dataclasses.replace`, but fast.)"""
    copy = object.__new__(type(node))
    copy.__dict__.update(node.__dict__)
    copy.__dict__.update(changes)
    copy.__dict__.pop("_hash", None)
    copy.__dict__.pop("_below", None)
    return copy


def map_children(node: N, function: Callable[[ir.Node], Replacement]) -> N:
    """`node` with `function` applied to each child; the same object if nothing changed.

    Inside a body or another tuple `function` may return a tuple, which is spliced in.
    """
    changes: dict[str, object] = {}
    values = node.__dict__
    for name in child_fields(type(node)):
        value = values[name]
        if type(value) is tuple:
            new: object = _map_tuple(value, function)
        elif isinstance(value, ir.Node):
            new = function(value)
            assert isinstance(new, ir.Node), f"{type(node).__name__}.{name} takes one node, not a tuple"
        else:
            continue
        if new is not value:
            changes[name] = new
    return with_fields(node, changes) if changes else node


def _map_tuple(nodes: tuple[ir.Node, ...], function: Callable[[ir.Node], Replacement]) -> tuple[ir.Node, ...]:
    result: list[ir.Node] = []
    changed = False
    for old in nodes:
        new = function(old)
        if isinstance(new, tuple):
            result += new
            changed = True
        else:
            result.append(new)
            changed = changed or new is not old
    return tuple(result) if changed else nodes


# --- rewriting ----------------------------------------------------------------------------------------------


def with_span(node: N, span: Span | None) -> N:
    """`node` with `span` wherever it, or a node below it, has none; nodes that have a span are left alone."""
    if span is None or node.span is not None:
        return node
    filled = map_children(node, lambda child: with_span(child, span))
    return with_fields(filled, {"span": span})


def transform(node: N, rule: BodyRule) -> N:
    """Rewrite bottom-up: children first, then `rule` on the node with its new children."""
    result = _rewriting(rule)(node)
    assert isinstance(result, ir.Node), "a rule turned the root into several statements"
    return cast(N, result)


def transform_body(body: ir.Body, rule: BodyRule) -> ir.Body:
    """Rewrite every statement of `body`, nested ones too; a tuple that the rule returns is spliced in."""
    return cast(ir.Body, _map_tuple(body, _rewriting(rule)))


def _rewriting(rule: BodyRule) -> Callable[[ir.Node], Replacement]:
    def rewrite(node: ir.Node) -> Replacement:
        rebuilt = map_children(node, rewrite)
        result = rule(rebuilt)
        if result is None or result is rebuilt:
            return rebuilt
        if isinstance(result, tuple):
            return tuple(with_span(r, node.span) for r in result)
        return with_span(result, node.span)

    return rewrite


def bodies(body: ir.Body) -> Iterator[ir.Body]:
    """The body of a driver loop and those of its statements, parents first; parallel loops' are not."""
    yield body
    for stmt in body:
        for name in _DRIVER.get(type(stmt), ()):
            yield from bodies(stmt.__dict__[name])


def driver(body: ir.Body) -> Iterator[ir.Stmt]:
    """The statements of the driver loop with `body`, parents first."""
    return (stmt for each in bodies(body) for stmt in each)


def transform_driver(body: ir.Body, rule: Callable[[ir.Stmt], ir.Body | None]) -> ir.Body:
    """Rewrite the statements of the driver loop as `transform_body` does, inner ones first, and look at no others."""

    def rewrite(node: ir.Node) -> Replacement:
        assert isinstance(node, ir.Stmt)
        rebuilt, changes = node, {}
        for name in _DRIVER.get(type(node), ()):
            old = node.__dict__[name]
            if (new := _map_tuple(old, rewrite)) is not old:
                changes[name] = new
        if changes:
            rebuilt = with_fields(node, changes)
        result = rule(rebuilt)
        return rebuilt if result is None else tuple(with_span(r, node.span) for r in result)

    return cast(ir.Body, _map_tuple(body, rewrite))


_DRIVER: dict[type[ir.Stmt], tuple[str, ...]] = {
    ir.If: ("then", "other"),
    ir.While: ("body",),
    ir.For: ("body",),
    ir.Alone: ("body",),
}
"""Statements of the driver loop that hold others of it."""


def substitute(node: N, values: Mapping[str, ir.Expr]) -> N:
    """`node` with every read of a local named in `values` replaced; what statements write is left alone."""

    def rule(n: ir.Node) -> ir.Node | None:
        return values.get(n.name) if isinstance(n, ir.Var) else None

    return transform(node, rule)


def fixed_copies(operator: ir.Operator) -> dict[str, ir.Expr]:
    """Locals that only ever name another fixed value, with that value: `let u: vid = dst` where nothing else sets u.

    So `u` is the operator's own vertex as `dst` is; a local that is set elsewhere, too, is any vertex.
    """
    counts: Counter[str] = Counter()
    for n in walk(operator):
        match n:
            case ir.Let(name=name) | ir.Assign(name=name) | ir.Accumulate(name=name) | ir.For(name=name):
                counts[name] += 1
            case ir.CompareAndSwap(ok=name) | ir.Lock(ok=name) | ir.Reduce(changed=str(name)):
                counts[name] += 1
    found: dict[str, ir.Expr] = {}
    for n in walk(operator):
        match n:
            case ir.Let(name=name, value=ir.Var(name=source) as value) if counts[name] == 1:
                if counts[source] == 0 or source in found:
                    found[name] = found.get(source, value)
            case ir.Let(name=name, value=ir.Const() as value) if counts[name] == 1:
                found[name] = value
    return found


# --- names --------------------------------------------------------------------------------------------------


@per_class
def local_names(kind: type[Any]) -> tuple[str, ...]:
    """The fields that name locals which a node of the class declares, writes or reads."""
    named = {*NEW_LOCALS, *_WRITTEN, "ReadLocal"}
    return tuple(f.name for f in fields_of(kind) if f.type in named)


@per_class
def _written_locals(kind: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields_of(kind) if f.type in _WRITTEN)


_WRITTEN = ("Local", "BoolLocal")


def written_locals(node: ir.Node) -> set[str]:
    """The locals that `node` itself writes."""
    return {node.__dict__[name] for name in _written_locals(type(node))} - {None}


@per_class
def _frontier_fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields_of(kind) if f.type in ("FrontierName", "FrontierName | None"))


def frontiers_of(node: ir.Node) -> list[str]:
    """The frontiers that `node` itself names, each as often as it does."""
    named = (node.__dict__[name] for name in _frontier_fields(type(node)))
    return [name for name in named if name is not None]


def rename(node: N, names: Mapping[str, str]) -> N:
    """`node` with locals renamed wherever they are declared, written or read."""

    def rule(n: ir.Node) -> ir.Node | None:
        changes: dict[str, object] = {}
        for name in local_names(type(n)):
            old = n.__dict__[name]
            new = tuple(names.get(a, a) for a in old) if isinstance(old, tuple) else names.get(old, old)
            if new != old:
                changes[name] = new
        return with_fields(n, changes) if changes else None

    return transform(node, rule)


class FreshNames:
    """Gives names that nothing in a program has: `fresh("dist")` is `dist`, then `dist.1`, `dist.2`, ..."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._next: dict[str, int] = {}

    def __call__(self, base: str) -> str:
        """A name that is new, made from `base`, and taken from now on."""
        name, count = base, self._next.get(base, 1)
        while name in self._taken:
            name = f"{base}.{count}"
            count += 1
        self._next[base] = count
        self._taken.add(name)
        return name


def fresh_names(program: ir.Program) -> FreshNames:
    """A source of names that do not occur in `program`."""
    taken: set[str] = set()
    for node in walk(program):
        for value in node.__dict__.values():
            if type(value) is str:
                taken.add(value)
            elif type(value) is tuple:
                taken.update(v for v in value if type(v) is str)
    return FreshNames(taken)


# --- passes -------------------------------------------------------------------------------------------------


@dataclass
class Context:
    """What a pass may know besides the program.

    `schedule` is what the user asked for, `threads` how many workers will run it (0: any number), `facts`
    what is known of the graph and the machine, `abilities` what the device can do. `deterministic`: the result may not
    depend on the order in which threads come. Passes may leave `notes` for `explain`.
    """

    schedule: Schedule = field(default_factory=Schedule)
    threads: int = 0
    facts: Facts = field(default_factory=Facts)
    notes: list[str] = field(default_factory=list)
    abilities: Abilities = CPU
    deterministic: bool = False
    divides: str = ""
    """Whether members of a set divide loops: they "must", or "may" where there are such; empty: they do not."""
    mixed: bool = False
    """Whether members of a set are devices of different kinds, of which a function may have another last bit."""

    @property
    def distributed(self) -> bool:
        """Whether every member of a set of devices runs the program, on its own part of the graph."""
        return self.abilities.distributed

    def option(self, label: str, name: str, default: Any = None) -> Any:
        """What the schedule asks of option `name`, which belongs to a pass of the user's, at `label`."""
        asked = self.schedule.labels.get(label)
        return default if asked is None else dict(asked.extra).get(name, default)


@dataclass(frozen=True)
class Pass:
    """One step of the compiler: a pure function from valid programs at level `takes` to such at `gives`."""

    name: str
    run: Callable[[ir.Program, Context], ir.Program]
    takes: ir.Level
    gives: ir.Level
    distrusted: ClassVar[bool] = False
    """Its results are verified even where those of others are not."""

    def broke(self, before: ir.Program, after: ir.Program, error: VGraphError) -> VGraphError:
        """The error to raise where the pass turned `before` into `after`, which is not valid."""
        return InternalError(f"pass {self.name} broke the program: {error}")


@dataclass
class PassManager:
    """Runs passes one after the other and holds each to its contract."""

    context: Context = field(default_factory=Context)

    def run(
        self,
        program: ir.Program,
        passes: Sequence[Pass],
        *,
        verify: bool = True,
        between: bool = True,
        on_pass: Callable[[Pass, ir.Program], None] | None = None,
    ) -> ir.Program:
        """The program after all `passes`; `on_pass` sees the result of each.

        With `verify` the program is checked at the start, at the end, and with `between` after every pass that changed
        it; what passes of the user's give is always. Raises InternalError, or PassError for a pass of the user's, with
        the name of the pass that broke it.
        """
        first = program
        if verify:
            fault = _fault(program, None)
            if fault is not None:
                raise InternalError(f"the program is not valid before the first pass: {fault}") from fault
        for step in passes:
            if program.level is not step.takes:
                level = program.level.value
                raise InternalError(f"pass {step.name} takes {step.takes.value} level, not {level}")
            before, program = program, step.run(program, self.context)
            if ((verify and between) or step.distrusted) and program is not before:
                fault = _fault(program, step.gives)
                if fault is not None:
                    raise step.broke(before, program, fault) from fault
            elif program.level is not step.gives:
                level = program.level.value
                raise InternalError(f"pass {step.name} gave {level} level, not {step.gives.value}")
            if on_pass is not None:
                on_pass(step, program)
        if verify and not between and (fault := _fault(program, None)) is not None:
            self.run(first, passes)  # says which pass it was
            raise fault
        return program


def _fault(program: ir.Program, level: ir.Level | None) -> VGraphError | None:
    """What the verifier says of `program`, if it says anything."""
    from vgraph.compiler.ir.verify import VerifyError, verify

    try:
        verify(program, level)
    except VerifyError as error:
        return error
    except Exception as error:  # what stands there is no IR at all
        return InternalError(f"the verifier cannot read it: {type(error).__name__}: {error}")
    return None
