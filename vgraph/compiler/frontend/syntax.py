"""The syntax of the language as records: what `parser.py` makes of a text and everything else in the frontend reads.

Nodes compare by what they say, not by where they stand. They are never changed (not frozen only because making so
many frozen classes would take a third of the time of a cold compile).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from vgraph.records import dataclass
from vgraph.source import Span


@dataclass
class Node:
    """Base of all syntax; `span` is where it stands in the user's file."""

    span: Span = field(compare=False, repr=False)


class Expr(Node):
    """An expression."""


class Stmt(Node):
    """A statement."""


Body = tuple[Stmt, ...]


# --- expressions ----------------------------------------------------------------------------------------------


@dataclass
class Name(Expr):
    """`x`."""

    id: str


@dataclass
class Literal(Expr):
    """A number, a string, True, False or None."""

    value: int | float | bool | str | None


@dataclass
class Attribute(Expr):
    """`value.name`; `name_span` is the name alone."""

    value: Expr
    name: str
    name_span: Span = field(compare=False, repr=False)


@dataclass
class Index(Expr):
    """`value[index]`."""

    value: Expr
    index: Expr


@dataclass
class Slice(Expr):
    """`start:stop`, or `start:stop:step`, as an index; what is left out is None."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None

    @property
    def is_whole(self) -> bool:
        """Whether it is `:`."""
        return self.start is self.stop is self.step is None


@dataclass
class Call(Expr):
    """`function(args, keyword=value)`."""

    function: Expr
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


@dataclass
class Keyword(Node):
    """`name=value` in a call."""

    name: str
    value: Expr


@dataclass
class Unary(Expr):
    """`-x`, `+x`, `~x`, `not x`."""

    op: str
    operand: Expr


@dataclass
class Binary(Expr):
    """`left op right` for arithmetic and bits."""

    op: str
    left: Expr
    right: Expr


@dataclass
class Compare(Expr):
    """`first op operand op operand ...`."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


@dataclass
class Bool(Expr):
    """`a and b and ...` or `a or b or ...`."""

    op: str
    values: tuple[Expr, ...]


@dataclass
class Conditional(Expr):
    """`then if test else other`."""

    test: Expr
    then: Expr
    other: Expr


@dataclass
class Items(Expr):
    """`a, b` (kind tuple) or `[a, b]` (kind list)."""

    kind: str
    items: tuple[Expr, ...]


@dataclass
class Comprehension(Expr):
    """`element for target in iterable if test if test ...`, in parentheses or as an argument."""

    element: Expr
    target: Name
    iterable: Expr
    tests: tuple[Expr, ...]


# --- statements -----------------------------------------------------------------------------------------------


@dataclass
class Evaluate(Stmt):
    """An expression as a statement."""

    value: Expr


@dataclass
class Assign(Stmt):
    """`target = value`."""

    target: Expr
    value: Expr


@dataclass
class AssignTuple(Stmt):
    """`a, b = min((a, b), (c, d))`: `value` is a call of which one argument says the same as `targets`."""

    targets: tuple[Expr, ...]
    value: Call


@dataclass
class Augment(Stmt):
    """`target op= value`; `op` is the operator without `=`."""

    target: Expr
    op: str
    value: Expr


@dataclass
class Pass(Stmt):
    """`pass`."""


@dataclass
class Break(Stmt):
    """`break`."""


@dataclass
class Continue(Stmt):
    """`continue`."""


@dataclass
class Return(Stmt):
    """`return value`."""

    value: Expr | None


@dataclass
class Leave(Stmt):
    """A `return` before the end of an algorithm, where `value` has to be there already. No text has it."""

    value: Expr


@dataclass
class If(Stmt):
    """`if test: then else: other`; an elif is an If in `other`."""

    test: Expr
    then: Body
    other: Body


@dataclass
class While(Stmt):
    """`while test: body`; `other` is run after a loop that no `break` left. Lowering sees none of that."""

    test: Expr
    body: Body
    other: Body = ()


@dataclass
class For(Stmt):
    """`for target in iterable: body`, or `for counter, target in enumerate(...)`; `other` as of While. Lowering sees
    only the target."""

    target: Name
    iterable: Expr
    body: Body
    other: Body = ()
    counter: Name | None = None


@dataclass
class Parameter(Node):
    """A parameter of a function."""

    name: str


@dataclass
class Function(Node):
    """A function with its docstring left out, and what does nothing but print; `span` is its name."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Body
    prints: tuple[Span, ...] = field(default=(), compare=False, repr=False)


def bodies(statement: Stmt) -> tuple[Body, ...]:
    """The bodies inside a statement."""
    match statement:
        case If():
            return statement.then, statement.other
        case While() | For():
            return statement.body, statement.other
    return ()


def walk(node: Node) -> Iterator[Node]:
    """A node and all inside it, in the order of the text."""
    stack: list[object] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, tuple):
            stack += reversed(current)
        elif isinstance(current, Node):
            yield current
            stack += reversed(vars(current).values())
