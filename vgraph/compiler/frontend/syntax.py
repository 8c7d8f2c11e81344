"""The syntax of the language as records: what `parser.py` makes of a text and everything else in the frontend reads.

Nodes compare by what they say, not by where they stand. They are never changed (not frozen only because making so
many frozen classes would take a third of the time of a cold compile).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import ClassVar

from vgraph.records import Record
from vgraph.source import Span


class Node(Record):
    """Base of all syntax; `span` is where it stands in the user's file."""

    compared: ClassVar[bool] = True
    span: Span = field(compare=False, repr=False)


class Expr(Node):
    """An expression."""


class Stmt(Node):
    """A statement."""


Body = tuple[Stmt, ...]


# --- expressions ----------------------------------------------------------------------------------------------


class Name(Expr):
    """`x`."""

    id: str


class Literal(Expr):
    """A number, a string, True, False or None."""

    value: int | float | bool | str | None


class Attribute(Expr):
    """`value.name`; `name_span` is the name alone."""

    value: Expr
    name: str
    name_span: Span = field(compare=False, repr=False)


class Index(Expr):
    """`value[index]`."""

    value: Expr
    index: Expr


class Slice(Expr):
    """`start:stop`, or `start:stop:step`, as an index; what is left out is None."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None

    @property
    def is_whole(self) -> bool:
        """Whether it is `:`."""
        return self.start is self.stop is self.step is None


class Call(Expr):
    """`function(args, keyword=value)`."""

    function: Expr
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


class Keyword(Node):
    """`name=value` in a call."""

    name: str
    value: Expr


class Unary(Expr):
    """`-x`, `+x`, `~x`, `not x`."""

    op: str
    operand: Expr


class Binary(Expr):
    """`left op right` for arithmetic and bits."""

    op: str
    left: Expr
    right: Expr


class Compare(Expr):
    """`first op operand op operand ...`."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


class Bool(Expr):
    """`a and b and ...` or `a or b or ...`."""

    op: str
    values: tuple[Expr, ...]


class Conditional(Expr):
    """`then if test else other`."""

    test: Expr
    then: Expr
    other: Expr


class Items(Expr):
    """`a, b` (kind tuple) or `[a, b]` (kind list)."""

    kind: str
    items: tuple[Expr, ...]


class Comprehension(Expr):
    """`element for target in iterable if test if test ...`, in parentheses or as an argument."""

    element: Expr
    target: Name
    iterable: Expr
    tests: tuple[Expr, ...]


# --- statements -----------------------------------------------------------------------------------------------


class Evaluate(Stmt):
    """An expression as a statement."""

    value: Expr


class Assign(Stmt):
    """`target = value`."""

    target: Expr
    value: Expr


class AssignTuple(Stmt):
    """`a, b = min((a, b), (c, d))`: `value` is a call of which one argument says the same as `targets`."""

    targets: tuple[Expr, ...]
    value: Call


class Augment(Stmt):
    """`target op= value`; `op` is the operator without `=`."""

    target: Expr
    op: str
    value: Expr


class Pass(Stmt):
    """`pass`."""


class Break(Stmt):
    """`break`."""


class Continue(Stmt):
    """`continue`."""


class Return(Stmt):
    """`return value`."""

    value: Expr | None


class Leave(Stmt):
    """A `return` before the end of an algorithm, where `value` has to be there already. No text has it."""

    value: Expr


class If(Stmt):
    """`if test: then else: other`; an elif is an If in `other`."""

    test: Expr
    then: Body
    other: Body


class While(Stmt):
    """`while test: body`; `other` is run after a loop that no `break` left. Lowering sees none of that."""

    test: Expr
    body: Body
    other: Body = ()


class For(Stmt):
    """`for target in iterable: body`, or `for counter, target in enumerate(...)`; `other` as of While. Lowering sees
    only the target."""

    target: Name
    iterable: Expr
    body: Body
    other: Body = ()
    counter: Name | None = None


class Parameter(Node):
    """A parameter of a function."""

    name: str


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
