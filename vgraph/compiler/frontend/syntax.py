"""The syntax of the language as records: what `parser.py` makes of a text and everything else in the frontend reads.

Nodes compare by what they say, not by where they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from vgraph.source import Span


@dataclass(frozen=True)
class Node:
    """Base of all syntax; `span` is where it stands in the user's file."""

    span: Span = field(compare=False, repr=False)


class Expr(Node):
    """An expression."""


class Stmt(Node):
    """A statement."""


Body = tuple[Stmt, ...]


# --- expressions ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name(Expr):
    """`x`."""

    id: str


@dataclass(frozen=True)
class Literal(Expr):
    """A number, a string, True, False or None."""

    value: int | float | bool | str | None


@dataclass(frozen=True)
class Attribute(Expr):
    """`value.name`; `name_span` is the name alone."""

    value: Expr
    name: str
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True)
class Index(Expr):
    """`value[index]`."""

    value: Expr
    index: Expr


@dataclass(frozen=True)
class Call(Expr):
    """`function(args, keyword=value)`."""

    function: Expr
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


@dataclass(frozen=True)
class Keyword(Node):
    """`name=value` in a call."""

    name: str
    value: Expr


@dataclass(frozen=True)
class Unary(Expr):
    """`-x`, `+x`, `~x`, `not x`."""

    op: str
    operand: Expr


@dataclass(frozen=True)
class Binary(Expr):
    """`left op right` for arithmetic and bits."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Compare(Expr):
    """`first op operand op operand ...`."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True)
class Bool(Expr):
    """`a and b and ...` or `a or b or ...`."""

    op: str
    values: tuple[Expr, ...]


@dataclass(frozen=True)
class Conditional(Expr):
    """`then if test else other`."""

    test: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True)
class Items(Expr):
    """`a, b` (kind tuple) or `[a, b]` (kind list)."""

    kind: str
    items: tuple[Expr, ...]


# --- statements -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evaluate(Stmt):
    """An expression as a statement."""

    value: Expr


@dataclass(frozen=True)
class Assign(Stmt):
    """`target = value`."""

    target: Expr
    value: Expr


@dataclass(frozen=True)
class Augment(Stmt):
    """`target op= value`; `op` is the operator without `=`."""

    target: Expr
    op: str
    value: Expr


@dataclass(frozen=True)
class Pass(Stmt):
    """`pass`."""


@dataclass(frozen=True)
class Break(Stmt):
    """`break`."""


@dataclass(frozen=True)
class Continue(Stmt):
    """`continue`."""


@dataclass(frozen=True)
class Return(Stmt):
    """`return value`."""

    value: Expr | None


@dataclass(frozen=True)
class If(Stmt):
    """`if test: then else: other`; an elif is an If in `other`."""

    test: Expr
    then: Body
    other: Body


@dataclass(frozen=True)
class While(Stmt):
    """`while test: body`."""

    test: Expr
    body: Body


@dataclass(frozen=True)
class For(Stmt):
    """`for target in iterable: body`."""

    target: Name
    iterable: Expr
    body: Body


@dataclass(frozen=True)
class Parameter(Node):
    """A parameter of a function."""

    name: str


@dataclass(frozen=True)
class Function(Node):
    """A function with its docstring left out; `span` is its name."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Body


def bodies(statement: Stmt) -> tuple[Body, ...]:
    """The bodies inside a statement."""
    match statement:
        case If():
            return statement.then, statement.other
        case While() | For():
            return (statement.body,)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """A node and all inside it, in the order of the text."""
    yield node
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, Node):
            yield from walk(value)
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, tuple):
                    yield from (inner for part in item if isinstance(part, Node) for inner in walk(part))
                elif isinstance(item, Node):
                    yield from walk(item)
