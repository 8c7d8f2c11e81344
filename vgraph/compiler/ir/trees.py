"""Traversal and rewriting of the IR, derived from the fields of the node classes.

A rule is a plain function `Node -> Node | None`: None keeps the node. Rules are pure; a replacement without a
span takes the span of the node it replaces, at every depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, wraps
from itertools import chain
from typing import Any, TypeVar, cast

from vgraph.compiler.ir.algorithm import *
from vgraph.compiler.ir.expressions import *
from vgraph.compiler.ir.kernel import *
from vgraph.compiler.ir.legality import NEW_LOCALS
from vgraph.compiler.ir.node import *
from vgraph.compiler.ir.program import *
from vgraph.compiler.ir.statements import *
from vgraph.source import Span

N = TypeVar("N", bound=Node)
R = TypeVar("R")

Replacement = Node | tuple[Stmt, ...]
BodyRule = Callable[[Node], Replacement | None]


def per_operator(of: Callable[[Operator], R]) -> Callable[[Operator], R]:
    """Keep what a function gives; operators that are alike, but stand in different places, have their own."""
    kept = lru_cache(maxsize=256)(lambda operator, span: of(operator))
    return wraps(of)(lambda operator: kept(operator, operator.span))


# --- traversal ----------------------------------------------------------------------------------------------


@per_class
def child_fields(kind: type[Any]) -> tuple[str, ...]:
    """The names of the fields of a class that hold nodes, one or a tuple of them, in order of evaluation."""
    return tuple(f.name for f in fields_of(kind) if f.has_nodes)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`, in order."""
    values = node.__dict__
    for name in child_fields(type(node)):
        value = values[name]
        if type(value) is tuple:
            yield from value
        elif isinstance(value, Node):
            yield value


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first, in order."""
    found: list[Node] | None = node.__dict__.get("_below")
    if found is None:
        # Kept, for passes and resolvers walk the same programs and operators again and again.
        found = node.__dict__["_below"] = []
        stack = [*children(node)]
        stack.reverse()
        while stack:
            current = stack.pop()
            found.append(current)
            values, below = current.__dict__, list[Node]()
            # As `children`, which would be one frame more for each.
            for name in child_fields(type(current)):
                value = values[name]
                if type(value) is tuple:
                    below += value
                elif isinstance(value, Node):
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


def map_children(node: N, function: Callable[[Node], Replacement]) -> N:
    """`node` with `function` applied to each child; the same object if nothing changed.

    Inside a body or another tuple `function` may return a tuple, which is spliced in.
    """
    changes: dict[str, object] = {}
    values = node.__dict__
    for name in child_fields(type(node)):
        value = values[name]
        if type(value) is tuple:
            new: object = _map_tuple(value, function)
        elif isinstance(value, Node):
            new = function(value)
            assert isinstance(new, Node), f"{type(node).__name__}.{name} takes one node, not a tuple"
        else:
            continue
        if new is not value:
            changes[name] = new
    return with_fields(node, changes) if changes else node


def _map_tuple(nodes: tuple[Node, ...], function: Callable[[Node], Replacement]) -> tuple[Node, ...]:
    result: list[Node] = []
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
    assert isinstance(result, Node), "a rule turned the root into several statements"
    return cast(N, result)


def transform_body(body: Body, rule: BodyRule) -> Body:
    """Rewrite every statement of `body`, nested ones too; a tuple that the rule returns is spliced in."""
    return cast(Body, _map_tuple(body, _rewriting(rule)))


def _rewriting(rule: BodyRule) -> Callable[[Node], Replacement]:
    def rewrite(node: Node) -> Replacement:
        rebuilt = map_children(node, rewrite)
        result = rule(rebuilt)
        if result is None or result is rebuilt:
            return rebuilt
        if isinstance(result, tuple):
            return tuple(with_span(r, node.span) for r in result)
        return with_span(result, node.span)

    return rewrite


def bodies(body: Body) -> Iterator[Body]:
    """The body of a driver loop and those of its statements, parents first; parallel loops' are not."""
    yield body
    for stmt in body:
        for name in _DRIVER.get(type(stmt), ()):
            yield from bodies(stmt.__dict__[name])


def driver(body: Body) -> Iterator[Stmt]:
    """The statements of the driver loop with `body`, parents first."""
    return (stmt for each in bodies(body) for stmt in each)


def transform_driver(body: Body, rule: Callable[[Stmt], Body | None]) -> Body:
    """Rewrite the statements of the driver loop as `transform_body` does, inner ones first, and look at no others."""

    def rewrite(node: Node) -> Replacement:
        assert isinstance(node, Stmt)
        rebuilt, changes = node, {}
        for name in _DRIVER.get(type(node), ()):
            old = node.__dict__[name]
            if (new := _map_tuple(old, rewrite)) is not old:
                changes[name] = new
        if changes:
            rebuilt = with_fields(node, changes)
        result = rule(rebuilt)
        return rebuilt if result is None else tuple(with_span(r, node.span) for r in result)

    return cast(Body, _map_tuple(body, rewrite))


_DRIVER: dict[type[Stmt], tuple[str, ...]] = {
    If: ("then", "other"),
    While: ("body",),
    For: ("body",),
    Alone: ("body",),
}
"""Statements of the driver loop that hold others of it."""


def substitute(node: N, values: Mapping[str, Expr]) -> N:
    """`node` with every read of a local named in `values` replaced; what statements write is left alone."""

    def rule(n: Node) -> Node | None:
        return values.get(n.name) if isinstance(n, Var) else None

    return transform(node, rule)


def fixed_copies(operator: Operator) -> dict[str, Expr]:
    """Locals that only ever name another fixed value, with that value: `let u: vid = dst` where nothing else sets u.

    So `u` is the operator's own vertex as `dst` is; a local that is set elsewhere, too, is any vertex.
    """
    counts: Counter[str] = Counter()
    for n in walk(operator):
        match n:
            case Let(name=name) | Assign(name=name) | Accumulate(name=name) | For(name=name):
                counts[name] += 1
            case CompareAndSwap(ok=name) | Lock(ok=name) | Reduce(changed=str(name)):
                counts[name] += 1
    found: dict[str, Expr] = {}
    for n in walk(operator):
        match n:
            case Let(name=name, value=Var(name=source) as value) if counts[name] == 1:
                if counts[source] == 0 or source in found:
                    found[name] = found.get(source, value)
            case Let(name=name, value=Const() as value) if counts[name] == 1:
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


def written_locals(node: Node) -> set[str]:
    """The locals that `node` itself writes."""
    return {node.__dict__[name] for name in _written_locals(type(node))} - {None}


@per_class
def _frontier_fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields_of(kind) if f.type in ("FrontierName", "FrontierName | None"))


def frontiers_of(node: Node) -> list[str]:
    """The frontiers that `node` itself names, each as often as it does."""
    named = (node.__dict__[name] for name in _frontier_fields(type(node)))
    return [name for name in named if name is not None]


def rename(node: N, names: Mapping[str, str]) -> N:
    """`node` with locals renamed wherever they are declared, written or read."""

    def rule(n: Node) -> Node | None:
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


def fresh_names(program: Program) -> FreshNames:
    """A source of names that do not occur in `program`."""
    taken: set[str] = set()
    for node in walk(program):
        for value in node.__dict__.values():
            if type(value) is str:
                taken.add(value)
            elif type(value) is tuple:
                taken.update(v for v in value if type(v) is str)
    return FreshNames(taken)
